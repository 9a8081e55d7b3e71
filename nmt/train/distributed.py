"""Several processes as one: torchrun in, sums out. A World of size 1 needs no torchrun, and nobody asks which it is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn

from nmt.model.device import resolve_device


@dataclass(frozen=True)
class World:
    """This process among all."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def sum_gradients(self, model: nn.Module) -> None:
        """Replace every gradient by its sum over all ranks, in one exchange."""
        if self.size == 1:
            return
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        flat = torch.cat([g.flatten() for g in gradients])
        distributed.all_reduce(flat)
        for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def sum(self, value: float) -> float:
        """The sum of a number over all ranks."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return float(total)

    def agree(self, flag: bool) -> bool:
        """Whether any rank says yes."""
        return self.sum(float(flag)) > 0

    def share(self, tensors: list[Tensor]) -> None:
        """Give every rank rank 0's values, in place."""
        if self.size > 1:
            for tensor in tensors:
                distributed.broadcast(tensor, src=0)

    def wait(self) -> None:
        """Go on when all ranks are here."""
        if self.size > 1:
            distributed.barrier()


@contextmanager
def world(device_name: str) -> Iterator[World]:
    """The processes that torchrun started (its environment variables say so), or this one alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(0, 1, resolve_device(device_name))
        return
    device = resolve_device(device_name)
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    backend = "nccl" if device.type == "cuda" else "gloo"
    distributed.init_process_group(backend, timeout=timedelta(days=1))
    try:
        yield World(distributed.get_rank(), distributed.get_world_size(), device)
    finally:
        distributed.destroy_process_group()

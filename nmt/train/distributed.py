"""Several processes as one: torchrun in, sums out. A World of size 1 needs no torchrun, and nobody asks which it is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn

from nmt.errors import UserError
from nmt.model.device import resolve_device

_ANSWER_WITHIN = timedelta(
    seconds=45
)  # where all ranks do the same; while rank 0 works alone, the others wait longer
_ALONE = timedelta(days=1)


@dataclass(frozen=True)
class World:
    """This process among all."""

    rank: int
    size: int
    device: torch.device
    group: "distributed.ProcessGroup | None" = (
        None  # the same processes, for exchanges in which no one waits for long
    )

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
        with _all_alive():
            distributed.all_reduce(flat, group=self.group)
        for gradient, part in zip(
            gradients, flat.split([g.numel() for g in gradients]), strict=True
        ):
            gradient.copy_(part.view_as(gradient))

    def sum(self, value: float) -> float:
        """The sum of a number over all ranks."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        with _all_alive():
            distributed.all_reduce(total, group=self.group)
        return float(total)

    def agree(self, flag: bool) -> bool:
        """Whether any rank says yes."""
        return self.sum(float(flag)) > 0

    def share(self, tensors: list[Tensor]) -> None:
        """Give every rank rank 0's values, in place."""
        if self.size > 1:
            with _all_alive():
                for tensor in tensors:
                    distributed.broadcast(tensor, src=0)

    def wait(self) -> None:
        """Go on when all ranks are here; rank 0, which may have worked alone, is waited for however long it takes."""
        if self.size > 1:
            with _all_alive():
                distributed.broadcast(torch.zeros((), device=self.device), src=0)
                distributed.barrier(self.group)


@contextmanager
def _all_alive() -> Iterator[None]:
    """Say what it means when an exchange fails. Raises UserError."""
    try:
        yield
    except RuntimeError as error:
        told = f"another process of this training has ended or does not answer ({str(error).splitlines()[0]})"
        mend = "its own message says why; the same command resumes from the last checkpoint"
        raise UserError(f"{told}; {mend}") from None


@contextmanager
def world(device_name: str) -> Iterator[World]:
    """The processes that torchrun started (its environment variables say so), or this one alone."""
    size, device, backend = (
        int(os.environ.get("WORLD_SIZE", "1")),
        resolve_device(device_name),
        "gloo",
    )
    if size == 1:
        yield World(0, 1, device)
        return
    if device.type == "cuda":
        device, backend = torch.device("cuda", int(os.environ["LOCAL_RANK"])), "nccl"
        torch.cuda.set_device(device)
    from torch.distributed.distributed_c10d import PrefixStore  # not every build of torch has them
    from torch.distributed.rendezvous import rendezvous

    with _all_alive():
        store, rank, _ = next(rendezvous("env://", timeout=_ALONE))
        # On one machine, processes that torchrun starts again use the same store; in it they would find where the ones
        # before them listened. Machines count for themselves, and get new stores.
        attempt = (
            os.environ["TORCHELASTIC_RESTART_COUNT"]
            if os.environ.get("GROUP_WORLD_SIZE") == "1"
            else ""
        )
        store = PrefixStore(attempt, store)
        distributed.init_process_group(
            backend, store=store, rank=rank, world_size=size, timeout=_ALONE
        )
    try:
        group = distributed.new_group(timeout=_ANSWER_WITHIN)
        yield World(rank, size, device, group)
    finally:
        distributed.destroy_process_group()

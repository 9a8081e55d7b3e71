"""Several processes, started by torchrun, train as one.

A World of size 1 needs no torchrun, and its callers need no special case for it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn

from nmt.errors import UserError
from nmt.model.device import resolve_device

# Where all ranks do the same work, each answers soon; while rank 0 works alone, the others wait.
_ANSWER_WITHIN = timedelta(seconds=45)
_WAIT_FOR_RANK_0 = timedelta(days=1)


@dataclass(frozen=True)
class World:
    """This process among all.

    `group` holds the same processes, for exchanges in which nobody waits long.
    """

    rank: int
    size: int
    device: torch.device
    group: "distributed.ProcessGroup | None" = None

    @property
    def leads(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def sum_gradients(self, model: nn.Module, loss: Tensor) -> Tensor:
        """Replace every gradient by its sum over all ranks; give the sum of the loss. One exchange."""
        if self.size == 1:
            return loss
        summed = [p.grad for p in model.parameters() if p.grad is not None]
        summed.append(loss)
        flat = torch.cat([tensor.flatten() for tensor in summed])
        with _naming_the_lost_process():
            distributed.all_reduce(flat, group=self.group)
        parts = flat.split([tensor.numel() for tensor in summed])
        for tensor, part in zip(summed, parts, strict=True):
            tensor.copy_(part.view_as(tensor))
        return loss

    def sum(self, value: float) -> float:
        """The sum of a number over all ranks."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        with _naming_the_lost_process():
            distributed.all_reduce(total, group=self.group)
        return float(total)

    def agree(self, flag: bool) -> bool:
        """Whether any rank says yes."""
        return self.sum(float(flag)) > 0

    def share(self, tensors: list[Tensor]) -> None:
        """Give every rank the values of rank 0, in place."""
        if self.size == 1:
            return
        with _naming_the_lost_process():
            for tensor in tensors:
                distributed.broadcast(tensor, src=0)

    def wait(self) -> None:
        """Return when all ranks are here. Rank 0, which may work alone, can take its time."""
        if self.size == 1:
            return
        with _naming_the_lost_process():
            distributed.broadcast(torch.zeros((), device=self.device), src=0)
            distributed.barrier(self.group)


@contextmanager
def world(device_name: str) -> Iterator[World]:
    """The processes that torchrun started (its environment variables say so), or this one alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    device = resolve_device(device_name)
    if size == 1:
        yield World(0, 1, device)
        return
    backend = "gloo"
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        backend = "nccl"
        torch.cuda.set_device(device)
    rank = _join(size, backend)
    try:
        group = distributed.new_group(timeout=_ANSWER_WITHIN)
        yield World(rank, size, device, group)
    finally:
        distributed.destroy_process_group()


def _join(size: int, backend: str) -> int:
    """Meet the other processes; returns this one's rank."""
    # not every build of torch has these
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    with _naming_the_lost_process():
        store, rank, _ = next(rendezvous("env://", timeout=_WAIT_FOR_RANK_0))
        distributed.init_process_group(
            backend,
            store=PrefixStore(_attempt(), store),
            rank=rank,
            world_size=size,
            timeout=_WAIT_FOR_RANK_0,
        )
    return int(rank)


def _attempt() -> str:
    """A name for this attempt of torchrun.

    On one machine the processes that torchrun restarts get the same store again, and would find in
    it where the processes before them listened. Several machines count their restarts separately,
    but get new stores.
    """
    if os.environ.get("GROUP_WORLD_SIZE") == "1":
        return os.environ["TORCHELASTIC_RESTART_COUNT"]
    return ""


@contextmanager
def _naming_the_lost_process() -> Iterator[None]:
    """Say what it means when an exchange fails. Raises UserError."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        message = f"another process of this training has ended or does not answer ({reason})"
        fix = "its own message says why; the same command resumes from the last checkpoint"
        raise UserError(f"{message}; {fix}") from None

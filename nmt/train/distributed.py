"""Several processes, started by torchrun, train as one.

A World of size 1 needs no torchrun, and its callers need no special case for it.

Gradients and weights travel between GPUs by NCCL, all else by gloo between CPUs. An exchange by NCCL makes only the
GPU wait, never the program: it can neither keep the others waiting for rank 0 nor tell that one of them has gone. So
whatever is waited for, and whatever has to notice a lost process, is an exchange by gloo.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn

from nmt.errors import ConfigError, UserError
from nmt.machine.device import open_device, resolve_device
from nmt.machine.oom import is_out_of_memory, within_memory

# Where all ranks do the same work, each answers soon; while rank 0 works alone, the others wait.
_ANSWER_WITHIN = timedelta(seconds=45)
_WAIT_FOR_RANK_0 = timedelta(days=1)
# NCCL ends a process after this time. It is longer than gloo's, whose message says what to do.
_GPUS_ANSWER_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True)
class World:
    """This process among all.

    Both groups hold all processes. `group` is gloo's, for exchanges in which nobody waits long; `tensors` carries
    what is on the device, and is NCCL's on GPUs.
    """

    rank: int
    size: int
    device: torch.device
    group: "distributed.ProcessGroup | None" = None
    tensors: "distributed.ProcessGroup | None" = None

    @property
    def leads(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def sum_gradients(self, model: nn.Module, loss: Tensor) -> Tensor:
        """Replace every gradient by its sum over all ranks; give the sum of the loss. One exchange.

        The program does not wait for a GPU.
        """
        if self.size == 1:
            return loss
        summed = [p.grad for p in model.parameters() if p.grad is not None]
        summed.append(loss)
        with within_memory(
            "a copy of the gradient, to sum over all processes,", "take a smaller model"
        ):
            flat = torch.cat([tensor.flatten() for tensor in summed])
        with _naming_the_lost_process():
            self._meet()
            distributed.all_reduce(flat, group=self.tensors)
        parts = flat.split([tensor.numel() for tensor in summed])
        for tensor, part in zip(summed, parts, strict=True):
            tensor.copy_(part.view_as(tensor))
        return loss

    def sum(self, value: float) -> float:
        """The sum of a number over all ranks."""
        if self.size == 1:
            return value
        with _naming_the_lost_process():
            total = torch.tensor(value, dtype=torch.float64)
            distributed.all_reduce(total, group=self.group)
            return float(total)

    def decided(self, text: str) -> str:
        """What rank 0 gives here. It can take its time."""
        if self.size == 1:
            return text
        content = torch.tensor(list(text.encode()), dtype=torch.uint8)
        size = torch.tensor(len(content))
        with _naming_the_lost_process():
            distributed.broadcast(size, src=0)  # by gloo, in the group that waits long
            if not self.leads:
                content = torch.empty(int(size), dtype=torch.uint8)
            distributed.broadcast(content, src=0)
        return bytes(content.tolist()).decode()

    def agree(self, flag: bool) -> bool:
        """Whether any rank says yes."""
        return self.sum(float(flag)) > 0

    def share(self, tensors: list[Tensor]) -> None:
        """Give every rank the values of rank 0, in place."""
        if self.size == 1:
            return
        with _naming_the_lost_process():
            self._meet()
            for tensor in tensors:
                distributed.broadcast(tensor, src=0, group=self.tensors)

    def wait(self) -> None:
        """Return when all ranks are here. Rank 0, which may work alone, can take its time."""
        if self.size == 1:
            return
        with _naming_the_lost_process():
            distributed.broadcast(torch.zeros(()), src=0)  # by gloo, in the group that waits long
            distributed.barrier(self.group)

    def _meet(self) -> None:
        """Before an exchange by NCCL, which would wait for a lost process: notice that one is lost."""
        if self.tensors is not self.group:
            distributed.barrier(self.group)


@contextmanager
def world(device_name: str) -> Iterator[World]:
    """The processes that torchrun started (its environment variables say so), or this one alone.

    Raises ConfigError if they do not fit the devices.
    """
    size = _number("WORLD_SIZE") if "WORLD_SIZE" in os.environ else 1
    if size == 1:
        yield World(0, 1, open_device(device_name))
        return
    device = _device_among_others(device_name)
    rank = _join(size)
    group = distributed.new_group(backend="gloo", timeout=_ANSWER_WITHIN)
    tensors = group
    if device.type == "cuda":
        tensors = distributed.new_group(backend="nccl", timeout=_GPUS_ANSWER_WITHIN)
    try:
        yield World(rank, size, device, group, tensors)
    except BaseException:
        if tensors is not group:
            tensors.abort()  # to end NCCL in good order takes all processes, and one may be lost
        raise
    finally:
        distributed.destroy_process_group()


def _device_among_others(name: str) -> torch.device:
    """The device of this process of several: a GPU of its own, or the CPU. Raises ConfigError."""
    if name.startswith("cuda:"):
        fix = "use train.device=cuda, and CUDA_VISIBLE_DEVICES to choose among GPUs"
        raise ConfigError(f"device={name}: each of several processes takes a GPU of its own; {fix}")
    device = resolve_device(name)
    if device.type == "mps":
        raise ConfigError("device=mps: several processes need CPUs or CUDA GPUs; use device=cpu")
    if device.type != "cuda":
        return device
    local_rank = _number("LOCAL_RANK")
    gpus = torch.cuda.device_count()
    if local_rank >= gpus:
        fix = f"start at most {gpus} on this machine (torchrun --nproc-per-node {gpus})"
        raise ConfigError(f"LOCAL_RANK={local_rank}: a process has no GPU, there are {gpus}; {fix}")
    return open_device(f"cuda:{local_rank}")


def _number(variable: str) -> int:
    """One of the environment variables that torchrun sets. Raises ConfigError."""
    value = os.environ.get(variable, "")
    if not value.isdecimal():
        message = f"the environment variable {variable} is {value!r}, not a number"
        raise ConfigError(f"{message}; start several processes with torchrun")
    return int(value)


def _join(size: int) -> int:
    """Meet the other processes; returns this one's rank."""
    # not every build of torch has these
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    rank = _number("RANK")
    with _naming_the_lost_process():
        try:
            store, _, _ = next(rendezvous("env://", timeout=_WAIT_FOR_RANK_0))
        except ValueError as error:
            raise ConfigError(f"{error}; start several processes with torchrun") from None
        distributed.init_process_group(
            "gloo",
            store=PrefixStore(_attempt(), store),
            rank=rank,
            world_size=size,
            timeout=_WAIT_FOR_RANK_0,
        )
    return rank


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
        if is_out_of_memory(error):
            raise
        reason = str(error).splitlines()[0]
        message = f"another process of this training has ended or does not answer ({reason})"
        fix = "its own message says why; the same command resumes from the last checkpoint"
        raise UserError(f"{message}; {fix}") from None

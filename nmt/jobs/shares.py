"""How the CPUs and GPUs of a cluster are shared out among workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nmt.errors import ConfigError, counted


class HasCores(Protocol):
    """A machine."""

    @property
    def cpus(self) -> int:
        """The CPUs that may be used."""

    @property
    def gpus(self) -> int:
        """The GPUs that may be used."""


@dataclass(frozen=True)
class Share:
    """What each of some workers gets."""

    workers: int
    cpus: int
    gpus: int


def share_out(nodes: Sequence[HasCores], workers: int | None, with_gpus: bool) -> Share:
    """A GPU for each worker if there are any and they are wanted, else CPUs; by default one.

    Raises ConfigError for more workers than there are GPUs or CPUs.
    """
    gpus = sum(node.gpus for node in nodes)
    cpus = sum(node.cpus for node in nodes)
    if with_gpus and gpus:
        return Share(_at_most(gpus, "GPU", workers), cpus=1, gpus=1)
    count = _at_most(cpus, "CPU", workers)
    return Share(count, _cpus_each(nodes, count), gpus=0)


def _at_most(most: int, kind: str, workers: int | None) -> int:
    if most == 0:
        raise ConfigError(f"--ray: the cluster has no {kind}; start a node with some")
    if workers is not None and workers > most:
        fix = f"give {most} or fewer"
        raise ConfigError(f"--workers {workers}: the cluster has {counted(most, kind)}; {fix}")
    return workers or most


def _cpus_each(nodes: Sequence[HasCores], workers: int) -> int:
    """The most CPUs that so many workers can have each: a worker is on one node."""
    each = max(node.cpus for node in nodes)
    while sum(node.cpus // each for node in nodes) < workers:
        each -= 1
    return each

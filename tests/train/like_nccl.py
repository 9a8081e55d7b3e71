"""A process of several whose tensors travel as by NCCL: an exchange of theirs never makes the program wait.

    python like_nccl.py rank-0-takes-its-time | rank-1-dies

Says `went on` where nothing failed. gloo stands in for NCCL, and nobody waits for its exchanges.
"""

import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch import distributed, nn

from nmt.errors import UserError
from nmt.train import distributed as ours

new_group = distributed.new_group
never_waited_for = []


def new_group_of_gloo(backend: str, timeout: timedelta) -> distributed.ProcessGroup:
    group = new_group(backend="gloo", timeout=timeout)
    if backend == "nccl":
        never_waited_for.append(group)
    return group


def without_waiting(exchange: Callable[..., Any]) -> Callable[..., Any]:
    def begin(*tensors: Any, group: Any = None, **options: Any) -> Any:
        return exchange(*tensors, group=group, async_op=group in never_waited_for, **options)

    return begin


def takes_its_time(world: ours.World) -> None:
    if world.leads:
        time.sleep(3)  # validating, say
    world.wait()
    assert world.sum(1.0) == 2.0


def dies(world: ours.World) -> None:
    assert world.sum(1.0) == 2.0
    if not world.leads:
        os._exit(9)
    model = nn.Linear(2, 2)
    model(torch.ones(2)).sum().backward()
    world.sum_gradients(model, torch.ones(()))


def main() -> None:
    ours._ANSWER_WITHIN = timedelta(seconds=2)
    ours._device_among_others = lambda _: torch.device("cuda", 0)
    distributed.new_group = new_group_of_gloo
    distributed.all_reduce = without_waiting(distributed.all_reduce)
    distributed.broadcast = without_waiting(distributed.broadcast)
    try:
        with ours.world("cuda") as world:
            {"rank-0-takes-its-time": takes_its_time, "rank-1-dies": dies}[sys.argv[1]](world)
        sys.stdout.write("went on\n")
    except UserError as error:
        sys.stdout.write(f"{error}\n")


if __name__ == "__main__":
    main()

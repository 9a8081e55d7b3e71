"""Who gets how many CPUs and GPUs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import ConfigError
from nmt.jobs.ray_session import Node
from nmt.jobs.shares import Share, share_out


def nodes(*sizes: tuple[int, int]) -> list[Node]:
    return [Node(str(i), f"node {i}", cpus, gpus) for i, (cpus, gpus) in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "workers", "share"),
    [
        ([(4, 0), (2, 0)], None, Share(6, 1, 0)),
        ([(4, 0), (2, 0)], 3, Share(3, 2, 0)),
        ([(4, 0), (2, 0)], 2, Share(2, 2, 0)),  # 3 each would not fit the second node
        ([(4, 0), (2, 0)], 1, Share(1, 4, 0)),
        ([(4, 2), (2, 1)], None, Share(3, 1, 1)),
        ([(4, 2), (2, 1)], 2, Share(2, 1, 1)),
        ([(0, 0), (8, 0)], 2, Share(2, 4, 0)),  # a head that does nothing else
    ],
)
def test_a_gpu_each_else_as_many_cpus_as_fit(
    sizes: list[tuple[int, int]], workers: int | None, share: Share
) -> None:
    assert share_out(nodes(*sizes), workers, with_gpus=True) == share


def test_gpus_are_left_alone_where_they_are_not_wanted() -> None:
    assert share_out(nodes((4, 2)), None, with_gpus=False) == Share(4, 1, 0)


@pytest.mark.parametrize(
    ("sizes", "workers", "message"),
    [
        ([(2, 0)], 3, "--workers 3: the cluster has 2 CPUs; give 2 or fewer"),
        ([(8, 1)], 3, "--workers 3: the cluster has 1 GPU; give 1 or fewer"),
        ([(0, 0)], None, "the cluster has no CPU"),
    ],
)
def test_more_workers_than_there_is_room_for_are_refused(
    sizes: list[tuple[int, int]], workers: int | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        share_out(nodes(*sizes), workers, with_gpus=True)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(1, 45))
def test_all_workers_have_room(cpus: list[int], workers: int) -> None:
    if workers > sum(cpus):
        return
    share = share_out(nodes(*((each, 0) for each in cpus)), workers, with_gpus=True)
    assert share.workers == workers
    assert sum(each // share.cpus for each in cpus) >= workers
    assert sum(each // (share.cpus + 1) for each in cpus) < workers

from threading import Barrier, Thread, current_thread

import pytest
import torch

from nmt.machine.threads import thread_pool


def test_workers_share_the_threads_and_the_process_keeps_its_own() -> None:
    before = torch.get_num_threads()
    with thread_pool(2) as pool:
        assert torch.get_num_threads() == before
        assert pool.submit(torch.get_num_threads).result() == max(1, before // 2)


def test_an_interrupt_while_workers_begin_leaves_none_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wait = Barrier.wait

    def interrupted(barrier: Barrier, timeout: float | None = None) -> int:
        if current_thread().name == "main":
            raise KeyboardInterrupt
        return wait(barrier, timeout)

    monkeypatch.setattr(Barrier, "wait", interrupted)
    ended = []

    def begin() -> None:
        with pytest.raises(KeyboardInterrupt), thread_pool(3):
            pass
        ended.append(True)

    thread = Thread(target=begin, name="main", daemon=True)
    thread.start()
    thread.join(20)
    assert ended

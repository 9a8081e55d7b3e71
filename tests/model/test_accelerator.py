"""The tests of on_accelerator.py, in a process of their own: it says why."""

from pathlib import Path
from subprocess import PIPE

import pytest
from loaded import Loaded

TESTS = Path(__file__).with_name("on_accelerator.py")


def test_updates_and_steps_of_search_stay_on_their_device_and_wait_for_nothing() -> None:
    options = ["-q", "-p", "no:cacheprovider", "--tb=short", TESTS]
    process = Loaded(options, stdout=PIPE, text=True, main=pytest.console_main)
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said

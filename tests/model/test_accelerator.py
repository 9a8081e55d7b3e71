"""The tests of on_accelerator.py, in a process of their own: it says why."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).with_name("on_accelerator.py")


def test_updates_and_steps_of_search_stay_on_their_device_and_wait_for_nothing() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--tb=short",
        str(TESTS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

"""`nmt` as a process of its own, without the seconds that loading torch takes: a fork of one that has loaded it."""

import atexit
import multiprocessing
import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.reduction import DupFd
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, CompletedProcess
from tempfile import TemporaryDirectory
from threading import Timer
from typing import IO, Any

CLOSED = -4  # in the place of a stream, as DEVNULL is: there is none, as after `>&-`
Stream = int | IO[Any] | None
STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "nmt.cli",
        "nmt.corpus.stages",
        "nmt.evaluation.evaluate",
        "nmt.report.run.facts_text",
        "nmt.train.loop",
        "nmt.translate.formats",
        "nmt.translate.opening",
        "nmt.engines.load",
        "sacrebleu",
        "safetensors.torch",
        "torch._dynamo",  # the first update of every training loads it
    ]
)


def nmt() -> None:
    """The command line."""
    from nmt.__main__ import main

    main()


@dataclass(frozen=True)
class Script:
    """A program in a file, as `python FILE`."""

    path: Path

    def __call__(self) -> None:
        """Run it."""
        sys.path.insert(0, str(self.path.parent))
        runpy.run_path(str(self.path), run_name="__main__")


@atexit.register
def _end_what_failed_tests_left() -> None:
    """Otherwise multiprocessing would wait for it."""
    for process in multiprocessing.active_children():
        process.kill()


class Loaded:
    """`nmt` at work, with the names of `subprocess.Popen([*NMT, *arguments], ...)`.

    A stream is what Popen takes (a file, its number, PIPE, DEVNULL, None for that of the tests, STDOUT as stderr), or
    CLOSED. `largest_file` is the most bytes that a file of it may have, as if the disk were full there. `main` is
    another program, which finds its arguments in sys.argv: a function, or a Script.
    """

    def __init__(
        self,
        arguments: Sequence[object],
        stdin: Stream = DEVNULL,
        stdout: Stream = None,
        stderr: Stream = None,
        text: bool = False,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        largest_file: int | None = None,
        main: Callable[[], object] = nmt,
    ) -> None:
        self.args = list(map(str, arguments))
        self._opened: list[int] = []  # by us, for the process
        ends = [self._ends(number, s) for number, s in enumerate((stdin, stdout, stderr))]
        numbers = [its for its, _ in ends]
        if stderr == STDOUT:
            numbers[2] = numbers[1]
        how = (cwd or Path(), dict(env or os.environ), largest_file)
        asked = (main, self.args, _Passed(numbers), *how)
        self._process = _FORKS.Process(target=_run, args=asked)
        self._process.start()
        for number in self._opened:
            os.close(number)
        kind = "" if text else "b"
        self.stdin, self.stdout, self.stderr = (
            None if ours is None else os.fdopen(ours, mode + kind)
            for (_, ours), mode in zip(ends, ("w", "r", "r"), strict=True)
        )
        assert self._process.pid is not None
        self.pid = self._process.pid

    def _ends(self, number: int, asked: Stream) -> tuple[int | None, int | None]:
        """The two ends of a standard stream: the process's, and ours of a pipe."""
        if asked in (CLOSED, STDOUT):
            return None, None
        if asked == PIPE:
            read, write = os.pipe()
            its, ours = (read, write) if number == 0 else (write, read)
            self._opened.append(its)
            return its, ours
        if asked == DEVNULL:
            self._opened.append(os.open(os.devnull, os.O_RDWR))
            return self._opened[-1], None
        if asked is None:
            return number, None
        return asked if isinstance(asked, int) else asked.fileno(), None

    @property
    def returncode(self) -> int | None:
        """The exit code, or the signal that ended it, negative; None while it runs."""
        return self._process.exitcode

    @property
    def sentinel(self) -> int:
        """What `multiprocessing.connection.wait` waits for: its end."""
        return self._process.sentinel

    def poll(self) -> int | None:
        """As `returncode`."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises TimeoutExpired if that does not come."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def communicate(self, timeout: float = 60) -> tuple[Any, Any]:
        """Close its stdin, read what little it says to the end, and wait; it is killed if that takes longer."""
        patience = Timer(timeout, self.kill)
        patience.start()
        if self.stdin is not None:
            with suppress(BrokenPipeError):
                self.stdin.close()
        said = [None if stream is None else stream.read() for stream in (self.stdout, self.stderr)]
        self.wait()
        patience.cancel()
        self.close()
        return said[0], said[1]

    def close(self) -> None:
        """Close our ends of its pipes."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()


class _Passed:
    """Numbers of files, which another process gets as its own numbers of the same files."""

    def __init__(self, numbers: list[int | None]) -> None:
        self.numbers = numbers

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, tuple(None if n is None else DupFd(n) for n in self.numbers)


def _received(*passed: Any) -> list[int | None]:
    return [None if one is None else one.detach() for one in passed]


def _run(
    main: Callable[[], object],
    arguments: Sequence[str],
    numbers: list[int | None],
    cwd: Path,
    environment: dict[str, str],
    largest_file: int | None,
) -> None:
    """Become the command."""
    for place, ((name, mode), number) in enumerate(zip(STREAMS, numbers, strict=True)):
        if number is None:
            os.close(place)
            setattr(sys, name, None)
            continue
        os.dup2(number, place)
        os.close(number)
        errors, buffering = ("backslashreplace", 1) if name == "stderr" else ("strict", -1)
        stream = open(place, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    sys.argv = ["nmt", *arguments]
    main()


def run_loaded(
    arguments: Sequence[str], data: bytes, cwd: Path | None, environment: dict[str, str]
) -> CompletedProcess[bytes]:
    """As `subprocess.run([*NMT, *arguments], input=data, capture_output=True)`, with files for pipes."""
    with TemporaryDirectory() as folder:
        names = [Path(folder, name) for name, _ in STREAMS]
        names[0].write_bytes(data)
        with names[0].open("rb") as stdin, names[1].open("wb") as out, names[2].open("wb") as err:
            process = Loaded(arguments, stdin, out, err, cwd=cwd, env=environment)
        code = process.wait()
        return CompletedProcess(process.args, code, names[1].read_bytes(), names[2].read_bytes())

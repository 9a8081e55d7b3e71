"""Run `nmt` as a process of its own, without the seconds that loading torch takes: a fork of one that has loaded it."""

import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

_STREAMS = ("stdin", "stdout", "stderr")
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["nmt.cli", "nmt.train.trainer", "nmt.translate.load", "sacrebleu"])


def run_loaded(
    arguments: Sequence[str], data: bytes, cwd: Path | None, environment: dict[str, str]
) -> CompletedProcess[bytes]:
    """As `subprocess.run([*NMT, *arguments], input=data, capture_output=True)`, with files for pipes."""
    with TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in _STREAMS]
        files[0].write_bytes(data)
        process = _FORKS.Process(target=_run, args=(arguments, files, cwd or Path(), environment))
        process.start()
        process.join()
        out, err = (file.read_bytes() if file.exists() else b"" for file in files[1:])
    assert process.exitcode is not None
    return CompletedProcess(list(arguments), process.exitcode, out, err)


def _run(
    arguments: Sequence[str], files: list[Path], cwd: Path, environment: dict[str, str]
) -> None:
    """Become the command."""
    for number, (name, file, mode) in enumerate(zip(_STREAMS, files, "rww", strict=True)):
        with file.open(mode) as opened:
            os.dup2(opened.fileno(), number)
        errors = "backslashreplace" if name == "stderr" else "strict"
        stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["nmt", *arguments]
    from nmt.__main__ import main

    main()

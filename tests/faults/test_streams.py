"""What `nmt translate` does with whatever comes through stdin, and whatever becomes of the one who reads.

An answer to each typed line, a reader of a file's translations that goes away, SIGINT while waiting:
tests/commands/test_translate.py.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from subprocess import PIPE
from tempfile import TemporaryDirectory

import pytest
from conftest import run_nmt
from loaded import Loaded, nmt

from nmt.config.load import load_config
from nmt.corpus.reading.lines import decode_lines
from nmt.errors import ConfigError, DataError, UserError
from nmt.jobs.job import Job, Watch, on_this_machine
from nmt.jobs.output import single_output
from nmt.jobs.shards import Done, Shard
from nmt.run.folder import RunDir
from nmt.translate.opening import load_translator
from nmt.translate.windows import WINDOW, windows

LOAD = Path(__file__).parents[2] / "scripts" / "load.py"
GREEDY = ["--beam-size", 1, "--quiet"]


def measured(model: RunDir, stdin: Path, *arguments: object) -> tuple[int, bytes, bytes, int]:
    """Exit code, stdout, stderr and the most megabytes held, of a translation of a file."""
    command = ["translate", "-m", model.path, *GREEDY, *arguments]
    with TemporaryDirectory() as folder, stdin.open("rb") as file:
        peak = Path(folder, "peak")
        variables = os.environ | {"PEAK": str(peak)}
        process = Loaded(
            command, stdin=file, stdout=PIPE, stderr=PIPE, env=variables, main=telling_its_peak
        )
        out, err = process.communicate()
        return process.wait(), out, err, int(peak.read_text())


def telling_its_peak() -> None:
    """`nmt`, which leaves in a file how many megabytes it held at most."""
    try:
        nmt()
    finally:
        status = Path("/proc/self/status").read_text()
        kilobytes = int(status.partition("VmHWM:")[2].split()[0])
        Path(os.environ["PEAK"]).write_text(str(kilobytes // 1024))


# --- what comes in ---


def test_what_cannot_be_seen_changes_nothing(trained: RunDir) -> None:
    plain = "three four five."
    invisible = [
        "\0three four five.",
        "three \0four five.\0",
        "\x1b\x07three\x7f four\x01 five.",
        "\u202ethree\u202c four \u2066five\u2069.",
        "\u200ethree four\u200f five.\u061c"[:-1],
        "three four\x85five.\r",
        "three\u2028four\u2029five.",
        "three\vfour\ffive.",
        "\ufeffthree\u00ad four fi\u200bve.",
    ]
    stdin = "\n".join([plain, *invisible]) + "\n"
    answers = (
        run_nmt("translate", "-m", trained.path, *GREEDY, stdin=stdin).stdout.decode().splitlines()
    )
    assert answers == ["三，四，五。"] * (1 + len(invisible))


def test_bytes_of_anything_are_as_many_lines_as_they_have_where_invalid_ones_are_replaced(
    trained: RunDir,
) -> None:
    data = b"one\xff.\r\n\n" + Random(1).randbytes(4000)
    options = ["--max-length", 3, "--invalid", "replace", "--format", "jsonl"]
    done = run_nmt("translate", "-m", trained.path, *GREEDY, *options, stdin=data)
    assert done.returncode == 0
    said = done.stderr.decode()  # of spans that a text of three tokens has no room for
    assert all(
        line.startswith("nmt: warning: line ") and line.isprintable() for line in said.splitlines()
    )
    sources = [json.loads(line)["source"] for line in done.stdout.splitlines()]
    assert sources[:2] == ["one\ufffd.", ""]
    assert len(sources) == data.count(b"\n") + (not data.endswith(b"\n"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_utf16_is_refused_with_a_hint(encoding: str, errors: str) -> None:
    raw = "Hello.\nWhere is the café?\n".encode(encoding).splitlines(keepends=True)
    name = {"utf-16": "UTF-16", "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE"}[encoding]
    fix = f"it looks like {name}: convert it with iconv -f {name} -t UTF-8"
    with pytest.raises(DataError, match=f"stdin:1: .* {fix}"):
        list(decode_lines(raw, Path("stdin"), errors))


def test_lines_of_a_megabyte_are_translated(trained: RunDir, tmp_path: Path) -> None:
    heap = (
        "\u0315\u0300" * 250_000
    )  # to put combining marks in their order takes the square of their number
    text = tmp_path / "long"
    text.write_text("x" * 10**6 + "\n" + "one" + heap + ".\ntwo.\n", encoding="utf-8")
    code, out, err, megabytes = measured(trained, text, "--max-length", 1)
    assert (code, err) == (0, b"")
    assert out.count(b"\n") == 3
    assert megabytes < 1000


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["one two, ", "1.", "e\u0301", "I. ", "\u200b", "中"])
def test_lines_of_a_megabyte_of_anything_are_translated(
    trained: RunDir, tmp_path: Path, piece: str
) -> None:
    text = tmp_path / "long"
    text.write_text((piece * 10**6)[: 10**6] + "\ntwo.\n", encoding="utf-8")
    code, out, err, megabytes = measured(trained, text, "--max-length", 1)
    assert (code, err) == (0, b"")
    assert out.count(b"\n") == 2
    assert megabytes < 1500


def test_a_line_without_end_is_refused_before_it_fills_the_memory(trained: RunDir) -> None:
    code, out, err, megabytes = measured(trained, Path("/dev/zero"))
    assert (code, out) == (3, b"")
    assert (
        err.decode()
        == "nmt: stdin:1: a line of more than 4,194,304 bytes; is this text, line by line?\n"
    )
    assert megabytes < 900  # what it is a fork of counts as well: some 400


# --- much of it ---


def load(model: RunDir, lines: int) -> tuple[int, int]:
    """Megabytes that `nmt translate` holds after 10,000 lines through a pipe, nearly all blank, and after all."""
    command = [
        sys.executable,
        LOAD,
        "--model",
        model.path,
        "--blank",
        "--lines",
        lines,
        "search.method=greedy",
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert f"{lines:,} of {lines:,} lines answered" in done.stdout
    early, late = done.stdout.split("resident memory ")[1].split(" after 10,000 lines, ")
    return int(early.split()[0]), int(late.split()[0])


@pytest.mark.slow
def test_many_lines_take_no_more_memory_than_some(trained: RunDir) -> None:
    early, late = load(trained, 40_000)
    assert late < early + 6


@pytest.mark.slow
def test_ten_million_lines_take_no_more_memory_than_some(trained: RunDir) -> None:
    early, late = load(trained, 10_000_000)
    assert late < early + 20


def test_the_end_of_a_pipe_that_goes_away_ends_it_quietly_with_141(trained: RunDir) -> None:
    command = ["translate", "-m", trained.path, *GREEDY]
    with subprocess.Popen(["yes", "one."], stdout=PIPE) as endless:
        process = Loaded(command, stdin=endless.stdout, stdout=PIPE, stderr=PIPE)
        assert endless.stdout is not None
        assert process.stdout is not None
        answer = process.stdout.readline()
        process.stdout.close()
        endless.stdout.close()
        try:
            code = process.wait(60)
        finally:
            endless.kill()
            process.kill()
    assert (answer.decode(), code) == ("一。\n", 141)
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.close()


# --- into a file ---


def words(count: int) -> str:
    """Lines of which each window has some long ones."""
    return "".join(f"{' '.join(['one', 'two', 'three'][: n % 4])}\n" for n in range(count))


def to_file(run: RunDir, output: Path) -> list[str]:
    """The arguments that translate stdin greedily into a file."""
    return ["translate", "-m", str(run.path), "--beam-size", "1", "-q", "--output", str(output)]


def shards_in(part: Path) -> list[Path]:
    """The results of shards that are kept in a folder for what is not finished."""
    return sorted(part.glob("*.part/0*"))


def test_a_killed_translation_goes_on_where_it_stopped(trained: RunDir, tmp_path: Path) -> None:
    source, output, part = tmp_path / "in.en", tmp_path / "out.zh", tmp_path / "out.zh.part"
    source.write_text(words(4100))
    command = to_file(trained, output)
    translator = load_translator(
        load_config(trained.config, ["search.method=greedy", "search.beam_size=1"]), trained
    )
    with source.open() as file:
        process = Loaded(command, stdin=file)
    while not shards_in(part):
        time.sleep(0.005)
    process.kill()
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in shards_in(part)}
    assert 1 <= len(kept) < 3, "too fast to be killed in the middle; more lines, please"
    assert not output.exists()
    with source.open() as file:
        assert Loaded([*command, "--resume"], stdin=file).wait() == 0
    straight = [
        t.text
        for window in windows(words(4100).split("\n")[:-1])
        for t in translator.translate(window)
    ]
    assert output.read_text(encoding="utf-8").split("\n")[:-1] == straight
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.en", "out.zh"]


def shouting(shard: Shard) -> Done:
    return Done("".join(f"{line}!\n" for line in shard.lines).encode())


def go_on(
    output: Path,
    lines: Iterable[str],
    made_with: str = "this model",
    resume: bool = True,
    overwrite: bool = False,
) -> int:
    """Translate what is left; gives the number of lines that this took."""
    taken = []
    watch = Watch(taken.append, *[lambda *_: None] * 6)
    with single_output(output, None, made_with, resume, overwrite) as (kept, file):
        job = Job([file], kept, made_with, lambda _: iter(lines), watch)
        job.run(on_this_machine(shouting))
    return sum(taken)


def interrupted(lines: list[str]) -> Iterator[str]:
    yield from lines
    raise KeyboardInterrupt


LINES = [f"line {number}" for number in range(2 * WINDOW + 100)]


def half_done(output: Path) -> None:
    """The first two windows of the lines translated, then an interrupt."""
    with suppress(KeyboardInterrupt):
        go_on(output, interrupted(LINES[: 2 * WINDOW]), resume=False)


def test_a_half_done_translation_is_gone_on_with(tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    half_done(output)
    told = r"out\.zh\.part: already holds 4,000 translated lines; continue with --resume, or start again with --over"
    with pytest.raises(ConfigError, match=told):
        go_on(output, LINES, resume=False)
    assert go_on(output, LINES) == 100
    assert output.read_text(encoding="utf-8") == "".join(f"{line}!\n" for line in LINES)
    assert [path.name for path in tmp_path.iterdir()] == ["out.zh"]


def test_what_another_model_has_made_is_not_mixed_in(tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    half_done(output)
    with pytest.raises(ConfigError, match="made with another model, search, format"):
        go_on(output, LINES, made_with="another")
    assert not output.exists()
    assert go_on(output, LINES) == 100, "a refusal loses nothing"


def test_of_another_input_only_equal_windows_are_taken(tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    half_done(output)
    other = ["zwei", *LINES[1:]]
    assert go_on(output, other) == WINDOW + 100
    assert output.read_text(encoding="utf-8") == "".join(f"{line}!\n" for line in other)


def test_a_half_done_translation_can_be_begun_anew(tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    half_done(output)
    assert go_on(output, ["x"], "another", resume=False, overwrite=True) == 1
    assert output.read_text() == "x!\n"


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    with (
        single_output(output, None, "m", resume=False, overwrite=False),
        pytest.raises(UserError, match=r"out\.zh\.part: another process is working"),
        single_output(output, None, "m", resume=True, overwrite=False),
    ):
        pass


def test_a_full_disk_keeps_what_was_done(trained: RunDir, tmp_path: Path) -> None:
    source, output = tmp_path / "in.en", tmp_path / "out.zh"
    source.write_text("one.\n" * 2000 + "one two three.\n" * 500)
    command = [*to_file(trained, output), "--resume"]
    room = 16_000  # bytes: the first window takes 14,000, the second 9,500
    with source.open() as file:
        full = Loaded(command, stdin=file, stderr=PIPE, text=True, largest_file=room)
    _, said = full.communicate()
    told = (
        r"nmt: \S+/out\.zh\.part/\S+: cannot be written \(File too large\); "
        r"free some space, then continue with --resume\n"
    )
    assert full.returncode == 1
    assert re.fullmatch(told, said)
    assert len(shards_in(tmp_path / "out.zh.part")) == 2
    assert not output.exists()

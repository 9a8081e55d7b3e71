"""nmt translate as a user types it: processes of their own, real pipes."""

import gzip
import json
import os
import signal
import termios
import time
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE
from threading import Timer
from typing import Any

import pytest
from conftest import run_nmt
from loaded import CLOSED, Loaded
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.commands.shell.streams import input_lines, lines_ahead
from nmt.config.load import load_config
from nmt.run.folder import RunDir
from nmt.translate.opening import load_translator

SENTENCES = ["one two.", "", "three four five.", "  ", "nine.", "seven one."]


def test_translation_by_pipe_equals_the_library(trained: RunDir, tmp_path: Path) -> None:
    lines = [*SENTENCES, *trained.text("test", "en").read_text().splitlines()]
    done = run_nmt("translate", "--model", trained.path, "--quiet", stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    translator = load_translator(load_config(trained.config), trained)
    assert done.stdout.decode().split("\n")[:-1] == [t.text for t in translator.translate(lines)]
    from_file = tmp_path / "in.txt"
    from_file.write_text("\n".join(lines))  # no line end at the end
    with from_file.open("rb") as file:
        again = Loaded(["translate", "-m", trained.path], stdin=file, stdout=PIPE, stderr=DEVNULL)
    assert again.communicate()[0] == done.stdout
    assert again.returncode == 0


def test_lines_end_at_line_feeds_only(trained: RunDir) -> None:
    done = run_nmt("translate", "--model", trained.path, stdin=b"a\n\n  \nb\xe2\x80\xa8c\n")
    assert done.stdout.count(b"\n") == 4
    assert done.stdout.split(b"\n")[1:3] == [b"", b""]


def test_a_typed_line_is_answered_at_once_and_in_order(trained: RunDir) -> None:
    process = Loaded(["translate", "--model", trained.path], stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    lines = ["three.", "", "one two."]
    answers = load_translator(load_config(trained.config), trained).translate(lines)
    for line, answer in zip(lines, [answer.text for answer in answers], strict=True):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert (
            process.stdout.readline().decode() == answer + "\n"
        )  # would hang if it waited for more
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    process.stdout.close()


def test_a_reader_that_goes_away_ends_it_quietly(trained: RunDir, tmp_path: Path) -> None:
    source = tmp_path / "many.txt"
    source.write_text("one two.\n" * 5000)
    command = ["translate", "-q", "-m", trained.path, "search.method=greedy"]
    with source.open() as file:
        process = Loaded(command, stdin=file, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().decode() == "一，二。\n"
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 128 + signal.SIGPIPE
    process.close()


def n_best_of(run: RunDir, text: str, count: int, *more: object) -> list[dict[str, Any]]:
    """What is written of each line in JSON, with so many translations."""
    options = ["--format", "jsonl", "--n-best", count, *more]
    done = run_nmt("translate", "-m", run.path, *options, stdin=text)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_json_lines_and_scores_give_the_n_best(trained: RunDir) -> None:
    # It would make 一。 of 一。。, and one translation of two.
    no_typography = ["--typography", "off"]
    first, blank = n_best_of(trained, "one.\n\n", 2, "--beam-size", 3, *no_typography)
    assert first["translation"] == first["n_best"][0]["text"] == "一。"
    assert first["source"] == "one."
    scores = [candidate["score"] for candidate in first["n_best"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 2
    assert blank == {"line": 2, "source": "", "translation": "", "n_best": [], "faults": None}
    table = run_nmt(
        "translate", "-m", trained.path, "--format", "scores", stdin="one.\n\n"
    ).stdout.decode()
    number, score, log_prob, text = table.split("\n")[0].split("\t")
    assert (number, text) == ("1", "一。")
    assert float(log_prob) <= 0
    assert float(score) <= 0
    assert table.split("\n")[1] == "2\t\t\t"


def test_a_seed_draws_the_same_samples_for_a_sentence_whatever_else_is_translated(
    trained: RunDir,
) -> None:
    def samples(text: str, seed: int) -> list[dict[str, object]]:
        settings = ["search.method=sample", f"search.seed={seed}", "search.temperature=3"]
        return [record["n_best"] for record in n_best_of(trained, text, 4, *settings)]

    alone = samples("one two.\n", seed=5)
    assert [samples("three.\none two.\nfour five six.\n", seed=5)[1]] == alone
    assert samples("one two.\n", seed=6) != alone
    log_probs = [sample["log_prob"] for sample in alone[0]]
    assert len(log_probs) > 1
    assert log_probs == sorted(log_probs, reverse=True)


def test_undecodable_input_is_named_by_line_and_byte_after_what_came_before(
    trained: RunDir,
) -> None:
    done = run_nmt("translate", "-q", "-m", trained.path, stdin=b"one.\ntwo.\nthr\xffee.\n")
    assert done.returncode == 3
    assert done.stdout.decode() == "一。\n二。\n"
    assert done.stderr.decode().startswith("nmt: stdin:3: not UTF-8 at byte 13")


def test_an_interrupt_while_waiting_for_a_line_ends_it_quietly(trained: RunDir) -> None:
    command = ["translate", "--quiet", "--model", trained.path]
    process = Loaded(command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"three.\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.communicate()[1] == b""


# --- files in and out ---

# A run that is there without a training.
RUN = Path(__file__).parents[1] / "compatibility" / "0.1.0" / "run"
GREEDY = ["translate", "-m", str(RUN), "--beam-size", "1", "-q"]


def invoke(*arguments: object) -> Result:
    """Run the command in this process: torch is loaded already."""
    return CliRunner().invoke(app, [*GREEDY, *map(str, arguments)])


def test_a_file_named_by_input_is_translated_as_stdin_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "one two.\n\nthree.\n"
    plain, zipped = tmp_path / "in.en", tmp_path / "in.en.gz"
    plain.write_text(text)
    zipped.write_bytes(gzip.compress(text.encode()))
    expected = run_nmt(*GREEDY, stdin=text).stdout
    assert expected.count(b"\n") == 3
    assert invoke("--input", plain).stdout_bytes == expected
    assert invoke(plain, "search.n_best=1").stdout_bytes == expected
    assert invoke("--input", zipped, "-o", "-").stdout_bytes == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.en", "in.en.gz"]


def test_invalid_bytes_of_a_file_are_an_error_or_replaced(tmp_path: Path) -> None:
    source = tmp_path / "in.en"
    source.write_bytes(b"one.\ntw\xffo.\n")
    refused = invoke("-i", source)
    assert refused.exit_code == 3
    assert f"nmt: {source}:2: not UTF-8" in refused.stderr
    replaced = invoke("-i", source, "--invalid", "replace", "--format", "jsonl")
    sources = [json.loads(line)["source"] for line in replaced.stdout.splitlines()]
    assert sources == ["one.", "tw\ufffdo."]


def test_a_named_pipe_is_answered_line_by_line(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = Loaded([*GREEDY, "--input", pipe], stdout=PIPE)
    assert process.stdout is not None
    with pipe.open("w") as writer:
        for _ in range(2):
            writer.write("three.\n")
            writer.flush()
            assert process.stdout.readline().endswith(b"\n")  # would hang if it waited for more
    assert process.wait(timeout=30) == 0
    process.stdout.close()


def test_a_named_pipe_is_not_opened_to_count_its_lines(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert lines_ahead(pipe) is None  # would wait for a writer


def test_a_pause_of_stdin_is_not_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)  # as another program may leave it
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        os.write(writing, b"one.\n")
        lines = input_lines(None)
        assert next(lines) == "one."
        later = Timer(0.1, os.write, (writing, b"two.\n"))
        later.start()
        assert next(lines) == "two."
        later.join()
        os.close(writing)
        assert list(lines) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_of_output_says_how_to_go_on(number: signal.Signals, tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    command = [*GREEDY, "--output", str(output)]
    process = Loaded(command, stdin=PIPE, stderr=PIPE)
    assert process.stdin is not None
    process.stdin.write(b"one.\n" * 2000)
    process.stdin.flush()  # the next line does not come
    while not list(tmp_path.glob("out.zh.part/*.part/0*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    held = f"{output}.part holds 2,000 translated lines"
    told = f"nmt: {number.name}: {held}; continue with the same command and --resume\n"
    assert said.decode() == told
    assert not output.exists()


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    source, output = tmp_path / "in.en", tmp_path / "out.zh"
    source.write_text("one.\ntwo.\n")
    command = [*GREEDY[:-1], "-i", str(source), "-o", str(output)]
    assert "2/2" in on_terminal(command)
    evaluating = ["evaluate", *GREEDY[1:-1], "--src", str(source), "--ref", str(output)]
    assert "2/2" in on_terminal(evaluating)


def on_terminal(command: list[str]) -> str:
    """What a command writes to stderr where that is a terminal."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = Loaded(command, stderr=theirs, stdout=DEVNULL)
    os.close(theirs)
    written = b""
    with suppress(OSError):  # the end of a terminal is an error
        while chunk := os.read(ours, 4096):
            written += chunk
    os.close(ours)
    assert process.wait() == 0, written
    return written.decode()


# --- what must not be replaced, and results that nobody receives ---


@pytest.mark.parametrize("way", ["--input", "stdin"])
def test_what_is_read_is_not_overwritten(trained: RunDir, tmp_path: Path, way: str) -> None:
    text = tmp_path / "in.txt"
    text.write_text("one.\n")
    command = ["translate", "-m", trained.path, "-q", "-o", text, "--overwrite"]
    command += ["-i", text] if way == "--input" else []
    with text.open() as stdin:
        process = Loaded(command, stdin=stdin, stderr=PIPE, text=True)
    _, told = process.communicate()
    assert told == f"nmt: {text}: is the input; name another file\n"
    assert process.returncode == 2
    assert text.read_text() == "one.\n"


def test_a_link_is_not_replaced_by_a_file(trained: RunDir, tmp_path: Path) -> None:
    link = tmp_path / "link.zh"
    link.symlink_to("out.zh")
    (tmp_path / "out.zh").write_text("kept\n")
    ask = ("translate", "-m", trained.path, "-q", "-o", link, "--overwrite")
    done = run_nmt(*ask, stdin="one.\n")
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"nmt: {link}: is a link to out.zh, and would be")
    assert link.is_symlink()
    assert (tmp_path / "out.zh").read_text() == "kept\n"


def test_results_for_a_closed_stdout_are_an_error(trained: RunDir) -> None:
    command = ["translate", "-q", "-m", trained.path]
    process = Loaded(command, stdin=PIPE, stdout=CLOSED, stderr=PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write("one.\n")
    _, told = process.communicate()
    assert told == "nmt: stdout: is closed; send the results somewhere\n"
    assert process.returncode == 1


def test_alignments_point_into_the_source_and_the_translation(trained: RunDir) -> None:
    text = "one two  seven.\n\nSee http://a.org/b or four!\n"
    common = ("translate", "-m", trained.path, "--format", "jsonl", "-q")
    done = run_nmt(*common, "--alignments", stdin=text)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    plain = [json.loads(line) for line in run_nmt(*common, stdin=text).stdout.splitlines()]
    alignments = [record.pop("alignment") for record in records]
    assert records == plain
    assert alignments[1] is None
    for record, alignment in zip(records[::2], alignments[::2], strict=True):
        source, translation = record["source"], record["translation"]
        assert alignment["source"][0][0] == 0
        assert alignment["source"][-1][1] == len(source)
        assert alignment["translation"][-1][1] == len(translation)
        said = {}
        for pair in alignment["pairs"].split():
            i, j = map(int, pair.split("-"))
            here, there = alignment["source"][i], alignment["translation"][j]
            said[translation[slice(*there)]] = source[slice(*here)]
        if "http" in source:
            assert said["http://a.org/b"] == "http://a.org/b"
        else:
            assert (said["一"], said["七"]) == ("one", "seven")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--alignments needs --format jsonl"),
        (["--format", "scores"], "--alignments needs --format jsonl"),
        (["--format", "jsonl", "--engine", "ctranslate2"], "--alignments needs --engine torch"),
        (
            ["--format", "jsonl", "--input", "README.md", "--output-dir", "new"],
            "--alignments does not go with --output-dir",
        ),
    ],
)
def test_alignments_are_refused_where_they_cannot_be(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["translate", "-m", str(RUN), "--alignments", *arguments])
    assert done.exit_code == 2
    assert message in done.stderr

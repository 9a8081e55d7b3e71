"""nmt translate as a user types it: real processes, real pipes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from conftest import NMT, run_nmt

from nmt.config.load import load_config
from nmt.run_dir import RunDir
from nmt.translate.load import load_translator

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
        again = subprocess.run(
            [*NMT, "translate", "-m", trained.path], stdin=file, capture_output=True, check=True
        )
    assert again.stdout == done.stdout


def test_lines_end_at_line_feeds_only(trained: RunDir) -> None:
    done = run_nmt("translate", "--model", trained.path, stdin=b"a\n\n  \nb\xe2\x80\xa8c\n")
    assert done.stdout.count(b"\n") == 4
    assert done.stdout.split(b"\n")[1:3] == [b"", b""]


def test_a_typed_line_is_answered_at_once_and_in_order(trained: RunDir) -> None:
    process = subprocess.Popen(
        [*NMT, "translate", "--model", str(trained.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
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
    command = f"{sys.executable} -m nmt translate -q -m {trained.path} search.method=greedy < {source} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert done.stdout.decode() == "一，二。\n"
    assert done.stderr == b""


def test_json_lines_and_scores_give_the_n_best(trained: RunDir) -> None:
    done = run_nmt(
        "translate",
        "-m",
        trained.path,
        "--format",
        "jsonl",
        "--n-best",
        2,
        "--beam-size",
        3,
        stdin="one.\n\n",
    )
    first, blank = map(json.loads, done.stdout.decode().splitlines())
    assert first["translation"] == first["n_best"][0]["text"] == "一。"
    assert first["source"] == "one."
    scores = [candidate["score"] for candidate in first["n_best"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 2
    assert blank == {"line": 2, "source": "", "translation": "", "n_best": [], "faults": []}
    table = run_nmt(
        "translate", "-m", trained.path, "--format", "scores", stdin="one.\n\n"
    ).stdout.decode()
    number, score, log_prob, text = table.split("\n")[0].split("\t")
    assert (number, text) == ("1", "一。")
    assert float(log_prob) <= 0
    assert float(score) <= 0
    assert table.split("\n")[1] == "2\t\t\t"


def test_undecodable_input_is_named_by_line_and_byte_after_what_came_before(
    trained: RunDir,
) -> None:
    done = run_nmt("translate", "-q", "-m", trained.path, stdin=b"one.\ntwo.\nthr\xffee.\n")
    assert done.returncode == 3
    assert done.stdout.decode() == "一。\n二。\n"
    assert done.stderr.decode().startswith("nmt: stdin:3: not UTF-8 at byte 13")


def test_an_interrupt_while_waiting_for_a_line_ends_it_quietly(trained: RunDir) -> None:
    process = subprocess.Popen(
        [*NMT, "translate", "--quiet", "--model", str(trained.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"three.\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.communicate()[1] == b""

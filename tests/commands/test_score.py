"""nmt score, as a user types it."""

import json
import math
from pathlib import Path

import pytest
from conftest import run_nmt
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.run.folder import RunDir

PAIRS = [("one two three.", "一，二，三。"), ("nine.", "八。"), ("four four.", "四，四。")]


def score(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["score", *map(str, arguments)])


def write(folder: Path, pairs: list[tuple[str, str]]) -> list[object]:
    """The options that name these pairs as two files."""
    for place, name in ((0, "s.en"), (1, "t.zh")):
        (folder / name).write_text("".join(f"{pair[place]}\n" for pair in pairs), "utf-8")
    return ["--src", folder / "s.en", "--tgt", folder / "t.zh"]


def tsv(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"{src}\t{tgt}\n" for src, tgt in pairs)


def numbers(done: Result) -> list[float]:
    assert done.exit_code == 0, done.stderr
    return [float(line) for line in done.stdout.splitlines()]


def test_translations_get_the_scores_that_translate_prints_of_them(
    trained: RunDir, tmp_path: Path
) -> None:
    source = trained.text("test", "en")
    search = ["--n-best", 2, "search.length_penalty=0", "--format", "scores", "-i", source]
    translated = CliRunner().invoke(app, ["translate", "-m", str(trained.path), *map(str, search)])
    sources = source.read_text("utf-8").splitlines()
    pairs = []
    printed = []
    for row in translated.stdout.splitlines():
        number, value, _log_prob, text = row.split("\t")
        pairs.append((sources[int(number) - 1], text))
        printed.append(float(value))
    assert len(pairs) > 30
    found = numbers(score("-m", trained.path, *write(tmp_path, pairs)))
    assert found == pytest.approx(printed, abs=2e-4)


def test_better_translations_have_higher_numbers(trained: RunDir, tmp_path: Path) -> None:
    right, wrong, also_right = numbers(score("-m", trained.path, *write(tmp_path, PAIRS)))
    assert wrong < -3 < min(right, also_right)


def test_two_files_columns_and_stdin_are_the_same_pairs(trained: RunDir, tmp_path: Path) -> None:
    files = write(tmp_path, PAIRS)
    (tmp_path / "pairs.tsv").write_text(tsv(PAIRS), "utf-8")
    expected = numbers(score("-m", trained.path, *files))
    assert numbers(score("-m", trained.path, "--input", tmp_path / "pairs.tsv")) == expected
    piped = run_nmt("score", "-m", trained.path, "-q", stdin=tsv(PAIRS))
    assert [float(line) for line in piped.stdout.split()] == expected
    assert piped.stderr == b""
    targets = "".join(f"{tgt}\n" for _, tgt in PAIRS)
    half = run_nmt("score", "-m", trained.path, *files[:2], "--tgt", "-", stdin=targets)
    assert half.stdout == piped.stdout


def test_json_has_the_number_of_each_token(trained: RunDir, tmp_path: Path) -> None:
    files = write(tmp_path, PAIRS)
    sums = numbers(score("-m", trained.path, *files))
    means = numbers(score("-m", trained.path, *files, "--per-token"))
    done = score("-m", trained.path, *files, "--format", "jsonl")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["line"] for record in records] == [1, 2, 3]
    assert [token["token"] for token in records[0]["tokens"]] == [*"一，二，三。", "<eos>"]
    for record, total, mean in zip(records, sums, means, strict=True):
        log_probs = [token["log_prob"] for token in record["tokens"]]
        assert sum(log_probs) == pytest.approx(record["log_prob"])
        assert record["log_prob"] == pytest.approx(total, abs=1e-4)
        assert record["log_prob"] / len(log_probs) == pytest.approx(mean, abs=1e-4)


def test_as_many_lines_come_out_as_go_in_whatever_they_hold(
    trained: RunDir, tmp_path: Path
) -> None:
    pairs = [("one.", "一。"), ("", "一。"), ("one " * 50, "一。"), ("two.", ""), ("two.", "二。")]
    lines = [*tsv(pairs).splitlines(), ""]
    (tmp_path / "pairs.tsv").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    common = ["-m", trained.path, "-i", tmp_path / "pairs.tsv"]
    done = score(*common)
    assert [math.isnan(number) for number in numbers(done)] == [False, *[True] * 3, False, True]
    assert "3 pairs with an empty side, first line 2: nan" in done.stderr
    assert "1 pair longer than the model's max_length, first line 3: nan" in done.stderr
    as_json = score(*common, "--format", "jsonl")
    why = [json.loads(line).get("why") for line in as_json.stdout.splitlines()]
    assert why == [None, "empty", "too long", "empty", None, "empty"]


def test_an_output_appears_whole(trained: RunDir, tmp_path: Path) -> None:
    files = write(tmp_path, PAIRS)
    output = tmp_path / "scores"
    printed = score("-m", trained.path, *files)
    assert score("-m", trained.path, *files, "-o", output).stdout == ""
    assert output.read_text() == printed.stdout
    again = score("-m", trained.path, *files, "-o", output)
    assert again.exit_code == 2
    assert score("-m", trained.path, *files, "-o", output, "--overwrite").exit_code == 0
    (tmp_path / "t.zh").write_text("一。\n", "utf-8")
    short = score("-m", trained.path, *files, "-o", tmp_path / "other")
    assert short.exit_code == 3
    assert "ends at line 1" in short.stderr
    assert not (tmp_path / "other").exists()


def test_the_pairs_before_a_mistake_are_scored(trained: RunDir, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("one.\t一。\nno columns\n", "utf-8")
    done = score("-m", trained.path, "-i", tmp_path / "pairs.tsv")
    assert done.exit_code == 3
    assert len(done.stdout.splitlines()) == 1
    assert "pairs.tsv:2: one column, but source<TAB>target is needed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--src", "s.en"], 2, "--src and --tgt go together"),
        (["--src", "s.en", "--tgt", "t.zh", "--input", "a.tsv"], 2, "either --src and --tgt, or"),
        (["--src", "-", "--tgt", "-"], 2, "only one file can be -"),
        (["--src", "s.en", "--tgt", "missing"], 3, "missing: no such file"),
        (["--precision", "int8"], 2, "'--precision': 'int8' is not one of"),
        (["--batch-tokens", "0"], 2, "--batch-tokens"),
        (["--format", "scores"], 2, "--format"),
        (["--device", "tpu"], 2, "--device tpu"),
        (["--ref", "t.zh"], 2, "(Possible options: --tgt)"),
        (["--output", "s.en", "--src", "s.en", "--tgt", "t.zh"], 2, "is the input"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    code: int,
    message: str,
    trained: RunDir,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PAIRS)
    done = score("-m", trained.path, *arguments)
    assert done.exit_code == code, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1

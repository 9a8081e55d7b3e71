"""nmt evaluate with several references and systems, labels, and scores that others made, as a user types it."""

import json
import os
from pathlib import Path

import pytest
from test_evaluate import RUN, invoke

REFERENCES = [f"我有{n}本书，他有{n + 1}本书。" for n in range(30)]
GOOD = [line.replace("他", "她") for line in REFERENCES]
BAD = [line[:5] for line in REFERENCES]


def write(folder: Path, name: str, lines: list[str]) -> Path:
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder / name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few good files and several bad ones, in which the command runs."""
    files = {
        "ref.zh": REFERENCES,
        "ref2.zh": GOOD,
        "good.zh": GOOD,
        "bad.zh": BAD,
        "a=b.zh": GOOD,
        "short.zh": GOOD[:29],
        "empty.zh": [],
        "labels": ["news", "law", "law"] * 10,
        "labels29": ["news"] * 29,
        "gap": ["news"] * 29 + [""],
        "comet.tsv": ["0.5"] * 15 + ["0.75"] * 15,
        "both.tsv": ["bad\tgood"] + ["0.5\t0.7"] * 29 + ["0.6\t0.8"],
        "short.tsv": ["good", *["0.5"] * 29],
        "words.tsv": ["0.5"] * 29 + ["high"],
        "nan.tsv": ["nan"] * 30,
        "mine": ["mine"],
    }
    for name, lines in files.items():
        write(tmp_path, name, lines)
    (tmp_path / "bell\a.zh").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    return tmp_path


ONE = "--ref ref.zh --hyp good.zh"
TWO = "--ref ref.zh --hyp good=good.zh --hyp bad=bad.zh"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            "--ref ref.zh --hyp good.zh --hyp short.zh",
            3,
            "short.zh has 29 lines, ref.zh 30; line n of one",
        ),
        (
            "--ref ref.zh --ref short.zh --hyp good.zh",
            3,
            "short.zh has 29 lines, ref.zh 30; line n of one",
        ),
        (
            "--ref ref.zh --hyp good.zh --hyp empty.zh",
            3,
            "empty.zh: has no lines; name a file with text",
        ),
        ("--ref ref.zh --hyp good.zh --hyp no.zh", 3, "no.zh: no such file; name an existing one"),
        ("--ref ref.zh --ref ref.zh --hyp good.zh", 2, "--ref ref.zh is given twice; give each"),
        (
            "--ref ref.zh --hyp good.zh --hyp ./good.zh",
            2,
            "--hyp: good.zh and good.zh are both called 'good.zh'; name them as NAME=FILE",
        ),
        (
            "--ref ref.zh --hyp x=good.zh --hyp x=bad.zh",
            2,
            "--hyp: good.zh and bad.zh are both called 'x'; name them as NAME=FILE",
        ),
        ("--ref ref.zh --hyp x=", 2, "--hyp 'x=': write NAME=FILE, such as ours=out.zh"),
        ("--ref ref.zh --hyp =good.zh", 2, "--hyp '=good.zh': write NAME=FILE"),
        ("--ref ref.zh --hyp bell\a.zh", 2, "its name has tabs or control characters; give it"),
        (
            "--ref ref.zh " + " ".join(f"--hyp s{n}=good.zh" for n in range(11)),
            2,
            "11 systems; at most 10 are compared at a time",
        ),
        ("--hyp good.zh --hyp bad.zh", 2, "--hyp needs --ref FILE, the reference translations"),
        ("--ref ref.zh --hyp - --hyp x=-", 2, "only one file can be - (stdin); name the others"),
        (f"{TWO} --baseline bad.zh", 2, "--baseline goes with one --hyp; give it as one more"),
        (f"{TWO} --output out.zh", 2, "--hyp is scored as it is: leave out --output"),
        (f"{ONE} --significance bootstrap", 2, "--significance compares; give --baseline FILE, or"),
        (f"{TWO} --significance guess", 2, "'guess' is not one of 'bootstrap', 'randomisation'"),
        (f"{ONE} evaluate.metrics=[chrf+]", 2, "must be bleu, bleu_width, bleu_flores101, "),
        (f"{ONE} --fail-under chrf+=1", 2, "unknown metric 'chrf+'; did you mean 'chrf"),
        (f"{ONE} --fail-under comet=0.5", 2, "unknown metric 'comet'"),
        (f"{ONE} --by labels29", 3, "labels29 has 29 labels for 30 lines of text; give one a line"),
        (f"{ONE} --by gap", 3, "gap:30: has no label; give each line one, such as news"),
        (f"{ONE} --by no", 3, "no: no such file"),
        (f"{ONE} --by empty.zh", 3, "empty.zh: has no lines; give one label per line"),
        (f"{ONE} --segment-scores words.tsv", 3, "words.tsv:30: 'high' is not a number; give one"),
        (f"{ONE} --segment-scores x=nan.tsv", 3, "nan.tsv:1: 'nan' is not finite; give each line"),
        (
            f"{ONE} --segment-scores x=empty.zh",
            3,
            "empty.zh: has no lines; give one score per line",
        ),
        (
            f"{ONE} --segment-scores x=short.tsv",
            3,
            "short.tsv has 29 scores below the line of names for 30 lines of text; give one a line",
        ),
        (f"{ONE} --segment-scores x=labels29", 3, "labels29:2: 'news' is not a number"),
        (f"{TWO} --segment-scores comet.tsv", 3, "comet.tsv: 1 column of scores for 2 systems; "),
        (f"{ONE} --hyp bad=bad.zh --segment-scores both.tsv", 3, "no column is called 'good.zh', "),
        (
            f"{ONE} --segment-scores bleu=comet.tsv",
            2,
            "bleu is the name of a metric in nmt; give these",
        ),
        (
            f"{ONE} --segment-scores comet.tsv --segment-scores comet=both.tsv",
            2,
            "comet.tsv and both.tsv are both called 'comet'; name them as NAME=FILE",
        ),
        (f"{ONE} --lower-is-better comet", 2, "no --segment-scores comet=FILE is given"),
        (f"{ONE} --sentences -", 2, "--sentences needs a file; name one, such as sentences.tsv"),
        (
            f"{ONE} --sentences mine",
            2,
            "mine: exists already; name another file, or --overwrite it",
        ),
        (f"{ONE} --sentences ref.zh --overwrite", 2, "ref.zh: is the input; name another file"),
        (f"{ONE} --sentences no/s.tsv", 2, "no/s.tsv: there is no folder no; make it with"),
        (f"{ONE} --overwrite", 2, "--overwrite needs --output FILE or --sentences FILE"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_fix(
    words: str, code: int, message: str, here: Path
) -> None:
    before = {path: path.read_bytes() for path in here.iterdir()}
    done = invoke("evaluate", *words.split(" "))
    assert (done.exit_code, done.stdout) == (code, "")
    [line] = done.stderr.splitlines()
    assert message in line
    assert {path: path.read_bytes() for path in here.iterdir()} == before


def test_two_systems_are_compared_by_name(here: Path) -> None:
    options = "--by labels --segment-scores comet=both.tsv --sentences s.tsv --history h --json"
    done = invoke("evaluate", *f"{TWO} {options}".split(" "))
    assert (done.exit_code, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert (record["reference"], record["lines"]) == ("ref.zh", 30)
    assert record["systems"]["good"]["hypothesis"] == "good.zh"
    assert record["systems"]["good"]["segment_scores"]["comet"]["value"] == pytest.approx(
        0.7 + 0.1 / 30
    )
    assert record["systems"]["bad"]["groups"]["law"]["lines"] == 20
    [pair] = record["significance"]["metrics"]["chrf"]["pairs"]
    assert (pair["first"], pair["second"]) == ("good", "bad")
    assert pair["p_value"] == pytest.approx(1 / 10_001)
    rows = Path("s.tsv").read_text().splitlines()
    assert rows[0].split("\t") == ["line", "system", "label", "bleu", "bleu_width", "chrf", "comet"]
    assert len(rows) == 61
    [line] = Path("h").read_text().splitlines()
    assert json.loads(line)["systems"] == record["systems"]


def test_the_output_of_one_system_and_reference_has_what_it_had(here: Path) -> None:
    done = invoke("evaluate", *f"{ONE} --baseline bad.zh --json".split(" "))
    record = json.loads(done.stdout)
    keys = [
        "nmt",
        "hypothesis",
        "reference",
        "lines",
        "warnings",
        "comparisons",
        "checks",
        "scores",
    ]
    assert [key for key in record if key in keys] == keys
    assert not record.keys() & {"systems", "significance", "groups", "segment_scores"}
    assert list(record["scores"]["bleu"]) == ["value", "low", "high", "signature"]
    assert (record["hypothesis"], record["reference"]) == ("good.zh", "ref.zh")


def test_one_system_has_groups_and_scores_that_others_made(here: Path) -> None:
    options = "--ref ref2.zh --by labels --segment-scores comet.tsv --fail-under comet=0.6"
    done = invoke("evaluate", *f"{ONE} {options}".split(" "))
    assert done.exit_code == 0
    assert done.stderr.startswith("nmt: warning: each translation is equal to its reference")
    assert "nrefs:2|" in done.stdout
    assert "comet      0.6250 [0.5" in done.stdout
    assert f"  line 1       0.5000  {GOOD[0]}\n" in done.stdout
    assert "\nlaw    20     100.00 [100.00, 100.00]" in done.stdout
    failed = invoke("evaluate", *f"{ONE} {options}5 -q --lower-is-better comet".split(" "))
    assert failed.exit_code == 0
    failed = invoke("evaluate", *f"{ONE} {options}5 -q".split(" "))
    assert failed.exit_code == 4
    assert failed.stderr.splitlines()[-1] == "nmt: comet 0.6250 is under 0.65"


def test_a_bar_holds_for_every_system(here: Path) -> None:
    done = invoke("evaluate", *f"{TWO} --fail-under chrf++=50 -q".split(" "))
    assert done.exit_code == 4
    assert done.stderr.startswith("nmt: bad: chrf++ ")


def test_randomisation_serves_a_baseline_too(here: Path) -> None:
    words = f"{ONE} --baseline bad.zh --significance randomisation --json"
    comparisons = json.loads(invoke("evaluate", *words.split(" ")).stdout)["comparisons"]
    assert comparisons["bleu"]["p_value"] == pytest.approx(1 / 10001)
    assert "|ar:10000|" in comparisons["bleu"]["signature"]


def test_a_file_whose_name_holds_an_equals_sign_is_a_file(here: Path) -> None:
    done = invoke("evaluate", "--ref", "ref.zh", "--hyp", "a=b.zh", "--json")
    assert json.loads(done.stdout)["hypothesis"] == "a=b.zh"


def test_a_home_folder_is_found_behind_a_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.fspath(here))
    done = invoke("evaluate", "--ref", "~/ref.zh", "--hyp", "x=~/good.zh", "--hyp", "~/bad.zh")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:2] == ["1", "x"]


def test_sentences_replace_a_file_only_if_they_may(here: Path) -> None:
    done = invoke("evaluate", *f"{ONE} --sentences mine --overwrite -q".split(" "))
    assert (done.exit_code, done.output) == (0, "")
    assert Path("mine").read_text().startswith("line\tsystem\tbleu")


def test_a_model_is_scored_against_several_references_with_labels(tmp_path: Path) -> None:
    sources = (RUN / "data" / "test.en").read_text(encoding="utf-8").splitlines() * 4
    lines = (RUN / "data" / "test.zh").read_text(encoding="utf-8").splitlines() * 4
    src, ref = write(tmp_path, "src.en", sources), write(tmp_path, "ref.zh", lines)
    other = write(tmp_path, "other.zh", [line[::-1] for line in lines])
    labels = write(tmp_path, "labels", [f"half {number % 2}" for number in range(len(lines))])
    done = invoke(
        "evaluate",
        *["-m", RUN, "--beam-size", 1, "--src", src, "--ref", ref, "--ref", other],
        *["--by", labels, "--json"],
        *["--sentences", tmp_path / "s.tsv", "--output", tmp_path / "out.zh"],
    )
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["reference"] == [str(ref), str(other)]
    assert list(record["groups"]) == ["half 0", "half 1"]
    assert "nrefs:2|" in record["scores"]["bleu"]["signature"]
    rows = (tmp_path / "s.tsv").read_text().splitlines()
    assert rows[1].split("\t")[:3] == ["1", "run", "half 0"]
    assert len(rows) == len(lines) + 1

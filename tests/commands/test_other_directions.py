"""A run that translates Chinese into English is not held to what was written for the other direction."""

import json
from pathlib import Path

import pytest
from made_runs import made_run
from test_evaluate import invoke

from nmt.checks.faults import ANY_DIRECTION, CHECKS, ENGLISH_TO_CHINESE
from nmt.run.folder import RunDir

INTO_ENGLISH = ("src.language=zh", "tgt.language=en", "src.tokenizer=char")
SOURCES = ["我有三只猫和两条狗。", "他2019年来的。"] * 10
TRANSLATIONS = ["I have 3 cats and two dogs.", "He came in twenty-nineteen."] * 10


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return made_run(corpus, tmp_path_factory.mktemp("runs") / "zh-en", *INTO_ENGLISH)


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    found: list[object] = []
    texts = {"--src": SOURCES, "--ref": TRANSLATIONS, "--hyp": TRANSLATIONS}
    for option, lines in texts.items():
        path = tmp_path / option.strip("-")
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        found += [option, path]
    return found


def test_evaluate_looks_for_the_faults_of_the_runs_direction(run: RunDir) -> None:
    done = invoke("evaluate", "-m", run.path, "--json")
    assert done.exit_code == 0, done.stderr
    assert list(json.loads(done.stdout)["checks"]) == list(ANY_DIRECTION)


def test_a_configuration_says_the_direction_of_files(run: RunDir, files: list[object]) -> None:
    common = ["evaluate", *files, "--json"]
    from_run = json.loads(invoke(*common, "--config", run.config).stdout)["checks"]
    assert list(from_run) == list(ANY_DIRECTION)
    assert not any(rates["translation"] for rates in from_run.values())
    without = json.loads(invoke(*common).stdout)["checks"]
    assert set(without) > set(CHECKS[ENGLISH_TO_CHINESE])
    assert without["number invented"]["translation"] == 50


def test_a_report_looks_for_the_faults_of_the_runs_direction(
    run: RunDir, files: list[object], tmp_path: Path
) -> None:
    common = ["report", *files, "-q", "--attention", 0, "-m", run.path]
    done = invoke(*common, "--json")
    assert done.exit_code == 0, done.stderr
    faults = json.loads(done.stdout)["quality"]["faults"]
    assert [each["kind"] for each in faults] == list(ANY_DIRECTION)
    page = invoke(*common, "--output", tmp_path / "page.html")
    assert page.exit_code == 0, page.stderr


def test_translate_reports_the_faults_of_the_runs_direction(run: RunDir, tmp_path: Path) -> None:
    (tmp_path / "in.zh").write_text("一，二，3。\n", encoding="utf-8")
    done = invoke(
        "translate",
        "-m",
        run.path,
        "--verify",
        "flag",
        "-i",
        tmp_path / "in.zh",
        "--format",
        "jsonl",
    )
    assert done.exit_code == 0, done.stderr
    assert {fault["kind"] for fault in json.loads(done.stdout)["faults"]} <= set(ANY_DIRECTION)

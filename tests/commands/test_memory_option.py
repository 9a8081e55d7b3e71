"""--memory as a user types it: what it changes, what is refused, and what reports say of it."""

import json
from pathlib import Path

import pytest
import torch
from command_line import invoke

from nmt.commands.translation.files import Job, model_of
from nmt.config.schema import Config, SearchConfig
from nmt.engines.base import EngineRequest
from nmt.machine.device import resolve_precision
from nmt.run.folder import RunDir

LINES = ["one two.", "three four five.", "", "nine seven one."]
KNOWN = {"one two.": "九九。", "three four five.": "八八八。", "nine seven one.": "一一一。"}
SURE = ["search.memory_weight=0.99", "search.memory_temperature=1e-4"]


@pytest.fixture
def english(tmp_path: Path) -> Path:
    file = tmp_path / "in.en"
    file.write_text("".join(f"{line}\n" for line in LINES))
    return file


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Pairs that no training has brought: the numbers are wrong."""
    file = tmp_path / "mine.tsv"
    text = "".join(f"{src}\t{tgt}\n" for src, tgt in KNOWN.items())
    file.write_text(text + "\t\n", encoding="utf-8")
    return file


def test_lines_of_the_memory_are_translated_as_there(
    trained: RunDir, english: Path, memory: Path
) -> None:
    common = ["translate", "-m", trained.path, "--precision", "fp32", "-i", english]
    done = invoke(*common, "--memory", memory, *SURE)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [KNOWN.get(line, "") for line in LINES]
    assert f"nmt: memory {memory}, 3 pairs (1 left out: empty or too long)\n" in done.stderr
    assert invoke(*common).stdout != done.stdout
    quiet = invoke(*common, "--quiet", f"search.memory={memory}", *SURE)
    assert (quiet.stdout, quiet.stderr) == (done.stdout, "")


def test_pairs_that_are_too_long_are_left_out(
    trained: RunDir, english: Path, tmp_path: Path
) -> None:
    file = tmp_path / "long.tsv"
    long = [("one two " * 20, "一"), ("one", "一二" * 20), ("one " * 10**6, "一"), ("one.", "一。")]
    file.write_text("".join(f"{src}\t{tgt}\n" for src, tgt in long), encoding="utf-8")
    done = invoke("translate", "-m", trained.path, "-i", english, "--memory", file)
    assert done.exit_code == 0, done.stderr
    assert f"nmt: memory {file}, 1 pair (3 left out: empty or too long)\n" in done.stderr


def test_any_name_of_a_file_is_a_path(trained: RunDir, english: Path, tmp_path: Path) -> None:
    for name in ("mine #1: a.tsv", "[a].tsv", "null.tsv", "7.tsv"):
        file = tmp_path / name
        file.write_text("one.\t一。\n", encoding="utf-8")
        done = invoke("translate", "-m", trained.path, "-i", english, "--memory", file)
        assert done.exit_code == 0, done.stderr
        assert f"nmt: memory {file}, 1 pair\n" in done.stderr


def test_a_run_can_be_a_memory(trained: RunDir, english: Path) -> None:
    done = invoke("translate", "-m", trained.path, "-i", english, "--memory", trained.path)
    assert done.exit_code == 0, done.stderr
    assert f"nmt: memory {trained.path}, " in done.stderr
    assert len(done.stdout.splitlines()) == len(LINES)


@pytest.mark.parametrize("command", ["translate", "evaluate"])
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.tsv", None, "absent.tsv: "),
        ("a.txt", "one\t一\n", "a.txt: not a translation memory; give a .tsv or .jsonl file"),
        ("a.tsv", "one\n", "a.tsv:1: one column, but source<TAB>target is needed"),
        ("empty.tsv", "", "empty.tsv: no sentence pair that the model can read"),
        ("blank.tsv", "\t一\none\t\n", "blank.tsv: no sentence pair that the model can read"),
        ("a.jsonl", "one\n", "a.jsonl:1: not JSON"),
    ],
)
def test_what_is_no_memory_is_refused(
    trained: RunDir, tmp_path: Path, command: str, name: str, content: str | None, message: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content, encoding="utf-8")
    done = invoke(command, "-m", trained.path, "--memory", file)
    assert done.exit_code == 3, done.output
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["search.memory=other.tsv"], "set the same thing; give one of them"),
        (
            ["search.memory_weight=1"],
            "search.memory_weight=1: must be a number above 0 and at most 0.99",
        ),
    ],
)
def test_settings_that_a_memory_cannot_have_are_refused(
    trained: RunDir, memory: Path, option: list[str], message: str
) -> None:
    done = invoke("translate", "-m", trained.path, "--memory", memory, *option)
    assert done.exit_code == 2
    assert message in done.stderr


def test_settings_of_a_memory_need_one(trained: RunDir) -> None:
    done = invoke("translate", "-m", trained.path, "search.memory_pairs=10")
    assert done.exit_code == 2
    message = "search.memory_pairs=10 has no effect without a translation memory; add search.memory (--memory FILE)"
    assert message in done.stderr


def test_a_memory_without_an_engine_takes_torch(
    trained: RunDir, english: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMT_ENGINE", "auto")
    done = invoke("translate", "-m", trained.path, "-i", english, "--memory", memory)
    assert done.exit_code == 0, done.stderr
    precision = resolve_precision("auto", torch.device("cpu"))  # bf16 where the CPU has AMX
    assert f"{precision} on cpu" in done.stderr


def test_an_evaluation_tells_of_test_lines_in_the_memory(trained: RunDir, tmp_path: Path) -> None:
    src = trained.text("test", "en")
    ref = trained.text("test", "zh")
    common = ["evaluate", "-m", trained.path, "--beam-size", 1, "--json"]
    alone = json.loads(invoke(*common).stdout)
    assert alone["lines_in_memory"] == 0
    pairs = zip(
        src.read_text(encoding="utf-8").splitlines(),
        ref.read_text(encoding="utf-8").splitlines(),
        strict=True,
    )
    known = tmp_path / "known.tsv"
    known.write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
    done = json.loads(invoke(*common, "--memory", known).stdout)
    assert done["search"]["memory"] == str(known)
    assert done["lines_in_memory"] > 5  # the short ones are not counted
    [doubt] = [warning for warning in done["warnings"] if "search.memory" in warning]
    assert doubt.startswith(f"{done['lines_in_memory']} of 20 test lines are in search.memory")

    unknown = json.loads(invoke(*common, "--memory", trained.path).stdout)
    # With its own pairs beside it, the model may be right in every line: it is on some CPUs.
    further = [each for each in unknown["warnings"] if "is equal to its reference" not in each]
    assert (unknown["lines_in_memory"], further) == (0, alone["warnings"])


def test_workers_on_ray_find_the_memory_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Config(search=SearchConfig(memory="mine.tsv", beam_size=3))
    job = Job(
        settings,
        RunDir(Path("a")),
        EngineRequest("torch", "cpu", "auto"),
        "text",
        False,
        "error",
        True,
    )
    search = model_of(job).settings.search
    assert (search.memory, search.beam_size) == (str(tmp_path / "mine.tsv"), 3)


def test_scores_with_a_memory_are_not_the_models_own(trained: RunDir, tmp_path: Path) -> None:
    history = tmp_path / "scores.jsonl"
    common = ["evaluate", "-m", trained.path, "--history", history, "--quiet"]
    assert invoke(*common, "--memory", trained.path).exit_code == 0
    asked = ["info", trained.path, "--history", history, "--json"]
    assert {score["of"] for score in json.loads(invoke(*asked).stdout)["scores"]} == {"dev"}
    assert invoke(*common).exit_code == 0
    assert len({score["of"] for score in json.loads(invoke(*asked).stdout)["scores"]}) == 2


def test_translations_in_a_file_have_no_memory(tmp_path: Path, memory: Path) -> None:
    file = tmp_path / "a.zh"
    file.write_text("一。\n")
    done = invoke("evaluate", "--hyp", file, "--ref", file, "--memory", memory)
    assert done.exit_code == 2
    assert "--hyp is scored as it is: leave out search.memory=" in done.stderr

"""That the benchmark works; what it measures is not for a test."""

import json
from pathlib import Path
from subprocess import PIPE

import pytest
from loaded import Loaded, Script

SCRIPT = Path(__file__).parent.parent / "scripts" / "benchmark.py"


def benchmark(*arguments: object) -> tuple[int | None, str, str]:
    """Exit code, stdout and stderr."""
    process = Loaded(arguments, stdout=PIPE, stderr=PIPE, text=True, main=Script(SCRIPT))
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("part", "figures"),
    [
        (
            "train",
            ["train S: plain torch.nn.Transformer, fp32", "train S: nmt, fp32", "train S: padding"],
        ),
        # The other parts start processes: what these take is what they measure.
        pytest.param(
            "translate",
            [
                "greedy: nmt, torch fp32",
                "beam: nmt, torch fp32",
                "translate: first sentence, torch",
            ],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "prepare",
            ["prepare: 100 pairs", "build-vocab: 400 pairs", "a store of 1,000 pairs: opened in"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_each_part_measures_what_it_says(part: str, figures: list[str], tmp_path: Path) -> None:
    to_file = ["--json", tmp_path / "figures.json"]
    code, printed, told = benchmark(part, "--tiny", "--rounds", 1, *to_file)
    assert code == 0, told
    record = json.loads((tmp_path / "figures.json").read_text())
    measured = {figure["what"]: figure["value"] for figure in record["figures"]}
    for name in figures:
        assert any(what.startswith(name) for what in measured), (name, measured)
    assert all(value >= 0 for what, value in measured.items() if "memory" not in what)
    assert record["machine"]["torch"]
    assert all(what in printed for what in measured)


def test_a_model_without_sentences_of_its_own_needs_some() -> None:
    code, printed, told = benchmark("translate", "--model", "pretrained")
    assert (code, printed) == (1, "")
    assert told.startswith("benchmark: ")
    assert told.endswith("no such file; --data names a folder with test.en\n")


def test_a_part_that_is_not_there_is_named_with_those_that_are() -> None:
    told = "benchmark: no part 'decode'; choose from train, translate, prepare, all\n"
    assert benchmark("decode") == (1, "", told)

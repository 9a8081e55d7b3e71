"""That the benchmark works; what it measures is not for a test."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "benchmark.py"


def benchmark(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(
    ("part", "figures"),
    [
        (
            "train",
            ["train S: plain torch.nn.Transformer, fp32", "train S: nmt, fp32", "train S: padding"],
        ),
        (
            "translate",
            [
                "greedy: nmt, torch fp32",
                "beam: nmt, torch fp32",
                "translate: first sentence, torch",
            ],
        ),
        (
            "prepare",
            ["prepare: 100 pairs", "build-vocab: 400 pairs", "a store of 1,000 pairs: opened in"],
        ),
    ],
)
def test_each_part_measures_what_it_says(part: str, figures: list[str], tmp_path: Path) -> None:
    done = benchmark(part, "--tiny", "--rounds", 1, "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "figures.json").read_text())
    measured = {figure["what"]: figure["value"] for figure in record["figures"]}
    for name in figures:
        assert any(what.startswith(name) for what in measured), (name, measured)
    assert all(value >= 0 for what, value in measured.items() if "memory" not in what)
    assert record["machine"]["torch"]
    assert all(what in done.stdout for what in measured)


def test_a_part_that_is_not_there_is_named_with_those_that_are() -> None:
    done = benchmark("decode")
    assert done.returncode == 1
    assert (
        done.stderr == "benchmark: no part 'decode'; choose from train, translate, prepare, all\n"
    )

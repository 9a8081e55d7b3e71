"""That scripts/gpu.py works, on a CPU; what it measures is not for a test."""

import json
from pathlib import Path
from subprocess import PIPE

import pytest
from loaded import Loaded, Script

SCRIPT = Path(__file__).parent.parent / "scripts" / "gpu.py"


def figures_of(part: str, folder: Path) -> dict[str, object]:
    file = folder / "figures.json"
    options = ["--part", part, "--device", "cpu", "--tiny", "--json", file]
    process = Loaded(options, stdout=PIPE, stderr=PIPE, text=True, main=Script(SCRIPT))
    printed, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    record = json.loads(file.read_text(encoding="utf-8"))
    assert record["machine"]["torch"]
    assert printed.startswith(f"{part}: ")
    found: dict[str, object] = record[part]
    assert "error" not in found, found["error"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("train-box", ["nmt, packed", "nmt, padded", "plain loop, bf16"]),
        ("translate-box", ["nmt, greedy", "nmt, beam"]),
        ("commands", ["train", "translate --memory", "evaluate", "score"]),
    ],
)
def test_each_part_measures_what_it_says(part: str, expected: list[str], tmp_path: Path) -> None:
    found = figures_of(part, tmp_path)
    for name in expected:
        figures = found[name]
        assert isinstance(figures, dict)
        assert figures.get("exit", 0) == 0, figures
        assert all(value >= 0 for value in figures.values() if isinstance(value, float))


def test_a_part_that_does_not_exist_is_named() -> None:
    process = Loaded(["--part", "fly"], stdout=PIPE, stderr=PIPE, text=True, main=Script(SCRIPT))
    printed, told = process.communicate(timeout=60)
    assert (process.returncode, printed) == (1, "")
    assert told.startswith("gpu: no part fly; choose from train-box, ")

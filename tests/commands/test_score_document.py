"""The pipelines of docs/guide/scoring.md, as they stand there."""

import re
import shutil
from pathlib import Path
from random import Random

import pytest
from conftest import counting_pairs, tiny_config, train
from shell import run_shell

from nmt.run.folder import RunDir

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "guide" / "scoring.md"
needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "awk", "paste", "sort", "cut", "grep"))),
    reason="no bash, awk, paste, sort, cut or grep",
)


def pipeline(output: str) -> str:
    """The block of the document that writes this file."""
    blocks = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    [block] = [block for block in blocks if f"> {output}" in block]
    return str(block)


@pytest.fixture
def noisy(tmp_path: Path) -> list[tuple[str, str]]:
    """Writes noisy.tsv: 400 pairs of which half have another one's translation; gives the right ones."""
    pairs = counting_pairs(400, seed=99)
    right, wrong = pairs[:200], pairs[200:]
    sources = [src for src, _ in wrong]
    targets = [tgt for _, tgt in wrong]
    mixed = [*right, *zip(sources, targets[1:] + targets[:1], strict=True), ("", "")]
    Random(1).shuffle(mixed)
    lines = "".join(f"{src}\t{tgt}\n" for src, tgt in mixed)
    (tmp_path / "noisy.tsv").write_text(lines, "utf-8")
    return right


def run(block: str, folder: Path, programs: Path, **environment: str) -> None:
    """Run a block of shell commands. No pipefail: head may end before sort has written all."""
    done = run_shell(block, folder, programs, **environment)
    assert done.returncode == 0, done.stderr


def right_ones(path: Path, right: list[tuple[str, str]]) -> int:
    kept = [tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines()]
    assert len(kept) == 200
    return len(set(kept) & set(right))


@needs_tools
def test_the_likeliest_pairs_of_a_noisy_corpus_are_the_right_ones(
    trained: RunDir, noisy: list[tuple[str, str]], tmp_path: Path, programs: Path
) -> None:
    run(pipeline("likely.tsv"), tmp_path, programs, NMT_MODEL=str(trained.path))
    assert right_ones(tmp_path / "likely.tsv", noisy) >= 180


@needs_tools
@pytest.mark.slow
def test_the_pairs_on_which_two_directions_agree_are_the_right_ones(
    trained: RunDir, corpus: Path, noisy: list[tuple[str, str]], tmp_path: Path, programs: Path
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "en-zh").symlink_to(trained.path)
    sides = ("src.language=zh", "tgt.language=en", "src.tokenizer=char", "tgt.tokenizer=whitespace")
    course = ("train.updates=400", "train.validate_every=200", "train.save_every=200")
    train(tiny_config(corpus, tmp_path / "runs" / "zh-en", *sides, *course))
    run(pipeline("agreed.tsv"), tmp_path, programs)
    assert right_ones(tmp_path / "agreed.tsv", noisy) >= 180

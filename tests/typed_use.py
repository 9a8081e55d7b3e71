"""Every name of the Python API, used as its types promise: `scripts/check.sh` lets mypy read it."""

from collections.abc import Iterator
from pathlib import Path

import nmt


def translations() -> Iterator[nmt.Translation]:
    """One line, a list, a stream."""
    translator: nmt.Translator = nmt.load(
        Path("runs/mine"),
        engine="torch",
        device="cpu",
        precision="fp32",
        ensemble=["runs/other"],
        memory="pairs.tsv",
        search={"beam_size": 1},
    )
    checkpoints: tuple[Path, ...] = translator.checkpoints
    name: str = translator.engine
    yield translator.translate(f"{name} {checkpoints}")
    yield from translator.translate(["one", "two"])
    with Path("input.txt").open(encoding="utf-8") as lines:
        yield from translator.stream(lines)


def parts(translation: nmt.Translation) -> tuple[str, float | None, list[str]]:
    """What a translation has."""
    candidates: tuple[nmt.Candidate, ...] = translation.candidates
    faults: tuple[nmt.Fault, ...] = translation.faults
    kinds = [fault.kind for fault in faults]
    return translation.text, translation.score, [*kinds, *(each.text for each in candidates)]


def bleu() -> float:
    """A score."""
    try:
        score: nmt.Score = nmt.evaluate(["你好。"], [["你好！"], ["您好。"]], ["bleu"])["bleu"]
    except nmt.errors.UserError as error:
        raise SystemExit(error.exit_code) from error
    return max(score.low, score.value)


def application(translator: nmt.Translator) -> object:
    """A server for other programs."""
    return nmt.serve(translator, keys=["secret"], hosts=["mine.example"], origins=["*"])

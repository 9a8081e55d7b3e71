"""Sentences of a test set as systems translate them; those in which systems differ most come first."""

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.evaluation.fault_rates import LineFaults
from nmt.evaluation.measurement import Measurement
from nmt.evaluation.test_set import TestSet


@dataclass(frozen=True)
class Output:
    """What a system made of a sentence: `chrf` by sacrebleu, of this sentence alone."""

    text: str
    chrf: float
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Sentence:
    """A line of a test set, as systems translate it."""

    number: int
    source: str | None
    references: tuple[str, ...]
    reference_faults: tuple[tuple[str, ...], ...]
    outputs: tuple[Output, ...]
    difference: float  # of the best and the worst chrF; with one system, what it lacks to 100


def sentences_of(
    test_set: TestSet, chrf: Measurement, faults: Sequence[LineFaults]
) -> list[Sentence]:
    """All sentences, those with the largest difference first, and of equal ones the earlier first."""
    scores = chrf.sentences().T.tolist()  # [N][S]
    systems = list(zip(*test_set.systems.values(), strict=True))
    references = list(zip(*test_set.references, strict=True))
    sentences = []
    for line, (found, of_line) in enumerate(zip(faults, scores, strict=True)):
        outputs = tuple(
            Output(text, score, kinds)
            for text, score, kinds in zip(systems[line], of_line, found.systems, strict=True)
        )
        best, worst = max(of_line), min(of_line)
        sentences.append(
            Sentence(
                number=line + 1,
                source=None if test_set.sources is None else test_set.sources[line],
                references=references[line],
                reference_faults=tuple(found.references),
                outputs=outputs,
                difference=100 - best if len(outputs) == 1 else best - worst,
            )
        )
    return sorted(sentences, key=lambda sentence: (-sentence.difference, sentence.number))

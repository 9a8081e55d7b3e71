"""What `nmt evaluate` says of test sentences that others may know: the model, from its training, or the public."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt.errors import counted

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.run_dir import RunDir


def public_name(sources: Sequence[str] | None, references: Sequence[str]) -> str | None:
    """The name of the public test set that these lines are, if any is known."""
    from nmt.corpus.contamination import recognised

    return recognised([*(sources or []), *references])


def lines_trained_on(
    config: "Config", runs: "Sequence[RunDir]", sources: Sequence[str], references: Sequence[str]
) -> list[int] | None:
    """The numbers of the test lines that stand in the train of any of the runs.

    None if none of those that have their keys was trained on any, and some run has no keys.
    """
    from nmt.corpus.pairs import SentencePair
    from nmt.corpus.train_keys import lines_in_train
    from nmt.text.normalize import normalize

    pairs = []
    for source, reference in zip(sources, references, strict=True):
        src = normalize(source, config.src.language)
        pairs.append(SentencePair(src, normalize(reference, config.tgt.language)))
    of_runs = [lines_in_train(run.train_keys, pairs) for run in runs]
    found = {line for lines in of_runs for line in lines or []}
    return None if None in of_runs and not found else sorted(found)


def doubt_about(trained_on: Sequence[int], lines: int) -> str:
    """A warning of test lines that stand in train."""
    share = f"{len(trained_on):,} of {counted(lines, 'test line')}"
    stand = "stands" if len(trained_on) == 1 else "stand"
    effect = "scores on them say little about other text"
    fix = "score lines that the model has not seen"
    return f"{share} {stand} in the text that the model was trained on, first line {trained_on[0]}; {effect}; {fix}"

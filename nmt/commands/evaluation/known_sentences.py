"""What `nmt evaluate` says of test sentences that others may know: the model, from its training, or the public."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import counted

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.corpus.reading.pairs import SentencePair
    from nmt.run.folder import RunDir


def public_name(sources: Sequence[str] | None, references: Sequence[str]) -> str | None:
    """The name of the public test set that these lines are, if any is known."""
    from nmt.corpus.identity.contamination import recognised

    return recognised([*(sources or []), *references])


def lines_trained_on(
    config: "Config", runs: "Sequence[RunDir]", sources: Sequence[str], references: Sequence[str]
) -> list[int] | None:
    """The numbers of the test lines that are in the train of any of the runs.

    None if none of those that have their keys was trained on any, and some run has no keys.
    """
    from nmt.corpus.identity.train_keys import lines_in_train

    pairs = list(_normalised(config, zip(sources, references, strict=True)))
    of_runs = [lines_in_train(run.train_keys, pairs) for run in runs]
    found = {line for lines in of_runs for line in lines or []}
    return None if None in of_runs and not found else sorted(found)


def lines_remembered(
    config: "Config", sources: Sequence[str], references: Sequence[str]
) -> list[int]:
    """The numbers of the test lines that are in the translation memory. Raises DataError as those who read it."""
    from nmt.corpus.identity.dedupe import side_key
    from nmt.corpus.identity.train_keys import lines_known
    from nmt.neighbours.memory_pairs import memory_pairs

    if config.search.memory is None:
        return []
    languages = (config.src.language, config.tgt.language)
    memory = _normalised(config, memory_pairs(Path(config.search.memory), languages))
    known = {side_key(side) for pair in memory for side in pair}
    test = _normalised(config, zip(sources, references, strict=True))
    return lines_known(list(test), known)


def _normalised(config: "Config", pairs: Iterable[tuple[str, str]]) -> "Iterator[SentencePair]":
    from nmt.corpus.reading.pairs import SentencePair
    from nmt.text.normalize import normalize

    for src, tgt in pairs:
        yield SentencePair(normalize(src, config.src.language), normalize(tgt, config.tgt.language))


def doubts_about(
    trained_on: Sequence[int] | None, remembered: Sequence[int], lines: int
) -> tuple[str, ...]:
    """A warning of test lines that are in train, and one of those in the translation memory."""
    where = ((trained_on, "the text that the model was trained on"), (remembered, "search.memory"))
    return tuple(_doubt_about(known, lines, text) for known, text in where if known)


def _doubt_about(known: Sequence[int], lines: int, where: str) -> str:
    share = f"{len(known):,} of {counted(lines, 'test line')}"
    are = "is" if len(known) == 1 else "are"
    effect = "their scores say little about other text"
    fix = "test with lines that the model has not seen"
    return f"{share} {are} in {where}, the first is line {known[0]}; {effect}; {fix}"

"""Scores of a checkpoint: those that training measured on dev, and those that `nmt evaluate --history` noted."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nmt.config.schema import SearchConfig
from nmt.errors import DataError, ModelError, Say, counted
from nmt.report.run.run_files import Record, number, records, section, whole
from nmt.run.checkpoint import weights_hash
from nmt.run.folder import RunDir

# Settings of the search that its name holds, or that change no translation.
_TOLD_OTHERWISE = {"method", "beam_size", "n_best", "batch_tokens"}


@dataclass(frozen=True)
class ScoreFacts:
    """A score: on dev as training measured it (greedy, no interval), or as `nmt evaluate` noted it."""

    metric: str
    value: float
    low: float | None
    high: float | None
    signature: str
    of: str  # "dev", or the names of the references' files
    search: str = "greedy"  # how the translations were searched for
    lines_in_train: int = 0  # test lines that the model was trained on

    def test_set(self) -> str:
        """What was scored, and what a reader has to know of it."""
        notes = [self.search] if self.search != "greedy" or self.of != "dev" else []
        if self.lines_in_train:
            notes.append(f"{counted(self.lines_in_train, 'line')} of it in train")
        return f"{self.of} ({', '.join(notes)})" if notes else self.of


def evaluated(run: RunDir, folder: Path, history: Path, warn: Say) -> list[ScoreFacts]:
    """The newest scores of a checkpoint, for each test set and search.

    `warn` gets a line about those that are not objects. Raises DataError for a file that has no evaluation at all.
    """
    newest: dict[tuple[str, ...], dict[str, ScoreFacts]] = {}
    is_history = False
    weights = None
    with suppress(ModelError):  # told where the checkpoint itself is
        weights = weights_hash(folder)
    for record in records(history, warn):
        scores = section(record, "scores")
        is_history = is_history or bool(scores) or "systems" in record
        if _is_of(record, run, folder, weights):
            kind = (*_references(record), _search(record))
            newest.setdefault(kind, {}).update({each.metric: each for each in _scores(record)})
    if not is_history and history.stat().st_size:
        raise DataError(f"{history}: has no scores; name a file that nmt evaluate --history wrote")
    return [score for scores in newest.values() for score in scores.values()]


def _is_of(record: Record, run: RunDir, folder: Path, weights: str | None) -> bool:
    """Whether an evaluation is of this checkpoint alone, and not of one of this name that was deleted since.

    Alone: neither in an ensemble nor with a translation memory.
    """
    is_there = Path(str(record.get("model"))).resolve() == run.path.resolve()
    has_its_name = record.get("checkpoint") == folder.name
    is_alone = not record.get("ensemble") and not section(record, "search").get("memory")
    return is_there and has_its_name and is_alone and record.get("weights") == weights


def _scores(record: Record) -> Iterator[ScoreFacts]:
    """The scores of an evaluation that have a value."""
    scores = section(record, "scores")
    for metric in scores:
        score = section(scores, metric)
        value = number(score.get("value"))
        if value is not None:
            yield ScoreFacts(
                metric=metric,
                value=value,
                low=number(score.get("low")),
                high=number(score.get("high")),
                signature=str(score.get("signature", "")),
                of=_short(_references(record)),
                search=_search(record),
                lines_in_train=whole(record.get("lines_in_train")) or 0,
            )


def _references(record: Record) -> tuple[str, ...]:
    """The references' files of an evaluation, as they were given."""
    given = record.get("reference")
    return tuple(map(str, given if isinstance(given, list) else [given]))


def _search(record: Record) -> str:
    """How an evaluation searched: "greedy", "sample" or "beam 5", and what is set otherwise than by default."""
    search = section(record, "search")
    method, beams = search.get("method", "unknown search"), search.get("beam_size")
    name = str(method)
    if method == "beam":
        name = "greedy" if beams == 1 else f"beam {beams}"
    usual = SearchConfig().model_dump(mode="json", exclude=_TOLD_OTHERWISE)
    others = [f"{key} {search[key]}" for key in usual if search.get(key, usual[key]) != usual[key]]
    return ", ".join([name, *others])


def _short(references: tuple[str, ...]) -> str:
    """What a test set is called: its files, each with its folder, without which many have the same name."""
    return ", ".join("/".join(Path(reference).parts[-2:]) for reference in references)

"""A test set: translations by one or several systems, with their references and sources.

Shapes: S systems, R references, N lines.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nmt.checks.faults import Direction
from nmt.errors import ConfigError
from nmt.evaluation.metrics import Lines, References

MOST_SYSTEMS = 10  # 45 pairs

Line = tuple[str | None, Sequence[str], Sequence[str]]  # source, references [R], systems [S]


@dataclass(frozen=True)
class TestSet:
    """Systems by name [S][N], references [R][N], and the sources where they are known [N]."""

    __test__ = False  # pytest, this is no test
    systems: Mapping[str, Lines]
    references: References
    sources: Lines | None
    direction: Direction
    doubts: Sequence[str] = ()  # what makes the scores doubtful beside the text itself

    def __len__(self) -> int:
        return len(self.references[0])

    def lines(self) -> Iterator[Line]:
        """What belongs to each line."""
        sources = [None] * len(self) if self.sources is None else self.sources
        references = zip(*self.references, strict=True)
        systems = zip(*self.systems.values(), strict=True)
        return zip(sources, references, systems, strict=True)


def refuse_too_many(systems: Mapping[str, object]) -> None:
    """Raise ConfigError for more systems than a table can hold."""
    if len(systems) > MOST_SYSTEMS:
        raise ConfigError(f"{len(systems)} systems; at most {MOST_SYSTEMS} are compared at a time")


def named(systems: Mapping[str, object], name: str, message: str) -> str:
    """A message about a system, with its name where there are several."""
    return message if len(systems) == 1 else f"{name}: {message}"

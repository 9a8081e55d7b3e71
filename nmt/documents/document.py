"""A document: its text, the units in it that are translated, and the edits that put translations in their places.

Nothing is written anew: every byte outside of an edit stays as it was.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nmt.documents.text import Text


class Edit(NamedTuple):
    """What replaces the text between two places of a document."""

    start: int
    end: int
    text: str


Write = Callable[[Sequence[str]], Sequence[Edit]]  # of the texts of a unit, filled


@dataclass(frozen=True)
class Unit:
    """Texts that are translated or left together: a paragraph, a message with its branches.

    `name` is its key, or what else tells it from others of the document; `start` is where it stands.
    """

    name: str
    start: int
    texts: tuple[Text, ...]
    write: Write
    existing: str = ""  # a translation that was there before
    context: str = ""
    problem: str = ""  # why it cannot be translated


def replacing(start: int, end: int) -> Write:
    """What writes the only text of a unit over its source."""
    return lambda texts: [Edit(start, end, texts[0])]


@dataclass(frozen=True)
class Document:
    """The text of a file, or of one within an archive, and what is translated in it.

    `about` are edits that say which language the document is in: they are made once anything is translated.
    """

    text: str
    units: list[Unit]
    about: Sequence[Edit] = field(default_factory=tuple)

    def line_of(self, unit: Unit) -> int:
        """The number of the line in which a unit begins."""
        return bisect_right(self._line_starts, unit.start)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]


def line_end(text: str) -> str:
    """How the lines of a text end, as far as its beginning tells."""
    return "\r\n" if "\r\n" in text[:10000] else "\n"


def with_edits(text: str, edits: Iterable[Edit]) -> str:
    """A text with its edits, which do not overlap."""
    written: list[str] = []
    end = 0
    for edit in sorted(edits):
        if edit.start < end:
            raise ValueError(f"edits overlap at {edit.start}")
        written += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*written, text[end:]])

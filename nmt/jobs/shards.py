"""A text cut into shards, each of which is translated by itself.

A shard is a window of lines, as `nmt translate < FILE` takes them. With as many threads the batches are the same, and
on the same kind of CPU so are the bytes; another kind may differ in the last bits of a score, and rarely in a word. Its
name holds a hash of the lines, model, search, format, version and threads. So a result under that name is a right
one, whoever made it and whenever.
"""

import gzip
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nmt.errors import UserError
from nmt.run.version import version
from nmt.translate.formats import written
from nmt.translate.windows import windows

if TYPE_CHECKING:
    from nmt.translate.translator import Translator

Numbered = tuple[int, str]  # the number of a line, and what is wrong with it

ATTEMPTS = 3
_LEVEL = 6  # of gzip


@dataclass(frozen=True)
class Shard:
    """Lines of a text, one after another."""

    text: str  # where they come from: the name of a file, or stdin
    first: int  # the number of its first line; a text's first is 1
    lines: list[str]
    name: str  # equal for equal results
    is_packed: bool  # whether its result is compressed

    def __str__(self) -> str:
        last = self.first + len(self.lines) - 1
        return f"{self.text}: lines {self.first:,} to {last:,}"


class Rendered(NamedTuple):
    """What is written for some lines, how many these are, and their faults."""

    lines: int
    text: str
    faults: list[Numbered]


@dataclass(frozen=True)
class Done:
    """What is written for a shard, and the faults of its lines."""

    content: bytes
    faults: Sequence[Numbered] = ()


@dataclass(frozen=True)
class Failed:
    """Why a shard could not be translated."""

    reason: str
    is_final: bool = False  # another try would fail alike


Outcome = Done | Failed
Work = Callable[[Shard], Done]


def shards_of(
    lines: Iterable[str], text: str, made_with: str, is_packed: bool = False
) -> Iterator[Shard]:
    """Cut the lines of a text into shards; `made_with` is that of a `ShardTranslator`.

    What `lines` raises is raised after the shards before it.
    """
    first = 1
    for window in windows(lines):
        yield Shard(text, first, window, _name(first, window, made_with), is_packed)
        first += len(window)


def _name(first: int, lines: list[str], made_with: str) -> str:
    start = f"{first:012d}-{len(lines)}"
    digest = hashlib.sha256(f"{made_with}\n{start}\n".encode())
    digest.update("\n".join(lines).encode())
    return f"{start}-{digest.hexdigest()[:32]}"


def lines_in(name: str) -> int:
    """How many lines a shard of this name has."""
    return int(name.split("-")[1])


class ShardTranslator:
    """Shards to what is written for them."""

    def __init__(self, translator: "Translator", output_format: str, alignments: bool) -> None:
        """`alignments`: which words belong together is written too; the engine has to be torch's."""
        self._translator = translator
        self._output_format = output_format
        self._alignments = alignments

    @property
    def helpers(self) -> int:
        """How many processes may do this beside each other."""
        return self._translator.engine.helpers

    def made_with(self) -> str:
        """What decides what is written for given lines, in one line."""
        translator = self._translator
        threads = f"{translator.threads} threads"
        form = f"{self._output_format}, aligned" if self._alignments else self._output_format
        return f"{translator.fingerprint()} {threads} {form} nmt {version()}"

    def __call__(self, shard: Shard) -> Done:
        """Translate the lines of a shard."""
        rendered = self.rendered((shard.lines, shard.first))
        return Done(packed(rendered.text.encode(), shard.is_packed), rendered.faults)

    def rendered(self, window: tuple[list[str], int]) -> Rendered:
        """What is written for lines that are numbered from the given number on."""
        lines, first = window
        translations = self._translator.translate(lines)
        faults = []
        for number, translation in enumerate(translations, first):
            faults += [(number, str(fault)) for fault in translation.faults]
        alignments = self._translator.alignments(translations) if self._alignments else None
        text = written(self._output_format, translations, first, alignments)
        return Rendered(len(lines), text, faults)


def attempted(work: Work, shard: Shard) -> tuple[Shard, Outcome]:
    """A shard with its result, or why it failed: with a UserError at once, with anything else each time."""
    outcome: Outcome = Failed("it was not tried")
    for _ in range(ATTEMPTS):
        try:
            return shard, work(shard)
        except Exception as error:
            outcome = failure(error)
            if outcome.is_final:
                break
    return shard, outcome


def failure(error: Exception) -> Failed:
    """What an error is for a shard, in one line; what is no UserError has its type before it."""
    first = next(iter(str(error).strip().splitlines()), "")
    kind = type(error).__name__
    if isinstance(error, UserError):
        return Failed(first or kind, is_final=True)
    return Failed(f"{kind}: {first}" if first else kind)


def packed(content: bytes, is_packed: bool) -> bytes:
    """The content, compressed or not. Compressed pieces, one after another, are a compressed whole."""
    return gzip.compress(content, _LEVEL, mtime=0) if is_packed else content

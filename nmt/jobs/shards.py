"""A file of text cut into shards, each of which is translated by itself.

A shard is a window of lines, as `nmt translate < FILE` takes them. With as many threads the batches are the same, and
on the same kind of CPU so are the bytes; another kind may differ in the last bits of a score, and rarely in a word. Its
name holds a hash of the lines, model, search, format, version and threads. So a result under that name is a right
one, whoever made it and whenever.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.corpus.reading.lines import blocks_of, decode_lines
from nmt.errors import UserError
from nmt.jobs.version import version
from nmt.translate.formats import written
from nmt.translate.windows import windows

if TYPE_CHECKING:
    from nmt.translate.translator import Translator

_LEVEL = 6  # of gzip
_GZIP = 31  # as zlib calls it
_START = 2**18  # bytes by which a file's number of lines is judged


@dataclass(frozen=True)
class Shard:
    """Lines of a file, one after another."""

    file: Path
    first: int  # the number of its first line; a file's first is 1
    lines: list[str]
    name: str  # equal for equal results

    def __str__(self) -> str:
        last = self.first + len(self.lines) - 1
        return f"{self.file}: lines {self.first:,} to {last:,}"


@dataclass(frozen=True)
class Done:
    """What is written for a shard, compressed for a .gz, and what there is to warn of."""

    content: bytes
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """Why a shard could not be translated."""

    reason: str
    is_final: bool = False  # another try would fail alike


Outcome = Done | Failed


def shards_of(file: Path, made_with: str, invalid: str = "error") -> Iterator[Shard]:
    """Cut a file, plain or .gz, into shards.

    `made_with` is that of a `ShardTranslator`. Bytes that are not UTF-8 are an "error", or "replace" makes them U+FFFD.
    Raises DataError, after the shards before it, for what is wrong with the file.
    """
    errors = "strict" if invalid == "error" else invalid
    first = 1
    for lines in windows(decode_lines(blocks_of(file), file, errors)):
        yield Shard(file, first, lines, _name(first, lines, made_with))
        first += len(lines)


def _name(first: int, lines: list[str], made_with: str) -> str:
    start = f"{first:012d}"
    digest = hashlib.sha256(f"{made_with}\n{start}\n".encode())
    digest.update("\n".join(lines).encode())
    return f"{start}-{digest.hexdigest()[:32]}"


class ShardTranslator:
    """Shards to what is written for them."""

    def __init__(self, translator: "Translator", output_format: str) -> None:
        self._translator = translator
        self._output_format = output_format

    def made_with(self) -> str:
        """What decides what is written for given lines, in one line."""
        translator = self._translator
        threads = f"{translator.threads} threads"
        return f"{translator.fingerprint()} {threads} {self._output_format} nmt {version()}"

    def __call__(self, shard: Shard) -> Done:
        """Translate the lines of a shard."""
        translations = self._translator.translate(shard.lines)
        warnings = []
        for number, translation in enumerate(translations, shard.first):
            for fault in translation.faults:
                warnings.append(f"{shard.file}:{number}: {fault}")
        text = written(self._output_format, translations, shard.first)
        return Done(packed(text.encode(), shard.file), tuple(warnings))


def packed(content: bytes, file: Path) -> bytes:
    """The content as a file of this name holds it. Packed pieces, one after another, are a packed whole."""
    if file.suffix != ".gz":
        return content
    return gzip.compress(content, _LEVEL, mtime=0)


def failure(error: Exception) -> Failed:
    """What an error is for a shard, in one line; what is no UserError has its type before it."""
    first = next(iter(str(error).strip().splitlines()), "")
    kind = type(error).__name__
    if isinstance(error, UserError):
        return Failed(first or kind, is_final=True)
    return Failed(f"{kind}: {first}" if first else kind)


def estimated_lines(files: Sequence[Path]) -> dict[Path, int]:
    """About how many lines files have, judged by the start of each."""
    return {file: _estimated(file) for file in files}


def _estimated(file: Path) -> int:
    try:
        with file.open("rb") as opened:
            start = opened.read(_START)
        size = file.stat().st_size
        text = start
        if file.suffix == ".gz":
            unzip = zlib.decompressobj(wbits=_GZIP)
            text = unzip.decompress(start)
            start = start[: len(start) - len(unzip.unused_data)]
    except (OSError, zlib.error):
        return 0  # reading it tells what is wrong with it
    return text.count(b"\n") * size // max(1, len(start))

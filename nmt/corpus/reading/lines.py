"""Lines of text in and out. A line ends at a line feed and nowhere else.

Text is UTF-8. A byte-order mark at the start of a file is dropped, and a carriage return before a line feed.
U+2028, U+0085, vertical tabs and form feeds are characters like any other. A file named .gz is unzipped.

Input is untrusted: neither a line without end nor a small .gz of endless text fills the memory or the disk.
"""

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, NamedTuple, cast

from nmt.corpus.reading.encodings import guess
from nmt.errors import DataError
from nmt.files import unreadable

_BLOCK = 2**14  # bytes of a file that are decoded at a time
LONGEST_LINE = 2**22  # bytes; split into words, it takes some hundred times as many
MOST_UNZIPPED = 2**36  # bytes of one .gz: several times the largest open English–Chinese corpus
_FEW_RETURNS = 10  # carriage returns that text may hold without being made of them
_BYTE_ORDER_MARK = "\ufeff"
_FIRST_OF_THREE_BYTES = "\u0800"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK = b"\x1f\x8b"


def read_lines(path: Path, most: int = MOST_UNZIPPED) -> Iterator[str]:
    """Give the lines of a text file, without their ends.

    Raises DataError for a missing file, a damaged .gz or one of more than `most` bytes unzipped, a line that is too
    long, or bytes that are not UTF-8 (by line and byte offset).
    """
    return decode_lines(_with_line_feeds(blocks_of(path, most), path), path)


def _with_line_feeds(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """The blocks; raises DataError if in the first of them lines end in carriage returns alone."""
    for number, block in enumerate(blocks):
        if number == 0:
            alone = block.count(b"\r") - block.count(b"\r\n")
            if alone > max(_FEW_RETURNS, block.count(b"\n")):
                fix = "write line feeds instead: tr '\\r' '\\n' < FILE > NEW"
                raise DataError(f"{path}: its lines end in carriage returns, as on old Macs; {fix}")
        yield block


def open_text(path: Path) -> IO[str]:
    """Open a file for lines as ours: in UTF-8, each ended by a line feed alone."""
    return path.open("w", encoding="utf-8", newline="\n")


def own_lines(path: Path) -> Iterator[str]:
    """Give the lines that were written to `open_text`, without their ends, however long they are."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def bounded_lines(file: IO[bytes], path: Path, before: int = 0) -> Iterator[bytes]:
    """Give the lines of an open file with their ends, each as soon as it is there.

    `path` is the file's name in messages, `before` the number of its lines that came before.
    Raises DataError for a line that is too long.
    """
    read_line = partial(file.readline, LONGEST_LINE + 1)
    for number, raw in enumerate(iter(read_line, b""), before + 1):
        if len(raw) > LONGEST_LINE:
            raise DataError(
                f"{path}:{number}: a line of more than {LONGEST_LINE:,} bytes; "
                "is this text, line by line?"
            )
        yield raw


def decode_lines(blocks: Iterable[bytes], path: Path, errors: str = "strict") -> Iterator[str]:
    """Decode blocks of whole lines as they come.

    `path` is the file's name in messages; `errors` is as for bytes.decode.
    Raises DataError for bytes that are not UTF-8, unless `errors` makes them something else. UTF-16 is refused
    even where invalid bytes are to be replaced: hardly anything would be left of it.
    """
    is_first = True
    for text in _decoded(blocks, path, errors):
        if is_first:
            text = text.removeprefix(_BYTE_ORDER_MARK)
        is_first = False
        if text:
            yield from _split(text)


class WrittenLine(NamedTuple):
    """A line with what `decode_lines` drops."""

    mark: str  # the byte-order mark, before a first line
    text: str
    end: str  # "\n" or "\r\n"; nothing after a last line


def lines_as_written(blocks: Iterable[bytes], path: Path) -> Iterator[WrittenLine]:
    """Decode whole lines with their ends. Joined they are the file, byte for byte.

    Raises DataError for bytes that are not UTF-8.
    """
    is_first = True
    for block in _decoded(blocks, path, "strict"):
        for line in StringIO(block, newline="\n"):
            mark = _BYTE_ORDER_MARK if is_first and line.startswith(_BYTE_ORDER_MARK) else ""
            is_first = False
            body = line.removeprefix(mark)
            text = body.removesuffix("\n")
            if body.endswith("\r\n"):
                text = text.removesuffix("\r")
            yield WrittenLine(mark, text, body.removeprefix(text))


def _decoded(blocks: Iterable[bytes], path: Path, errors: str) -> Iterator[str]:
    """Decode blocks of whole lines; the first one keeps its byte-order mark."""
    before = _Before()
    for block in blocks:
        if before.size == 0:
            _refuse_utf16(block, path)
        try:
            text = block.decode(errors=errors)
        except UnicodeDecodeError as error:
            raise _undecodable(path, block, error.start, before) from None
        before.add(block, text)
        yield text


@dataclass
class _Before:
    """What came before a block."""

    lines: int = 0
    size: int = 0  # bytes
    is_utf8: bool = False  # rather than ASCII, or something that happens to be valid

    def add(self, block: bytes, text: str) -> None:
        self.lines += block.count(b"\n")
        self.size += len(block)
        if not self.is_utf8:
            self.is_utf8 = _shows_utf8(text)


def _shows_utf8(text: str) -> bool:
    """Whether a character takes three bytes: hardly any text in another encoding holds such by chance."""
    text = text.removeprefix(_BYTE_ORDER_MARK)
    return not text.isascii() and max(text) >= _FIRST_OF_THREE_BYTES


def _split(text: str) -> list[str]:
    """Split whole lines; the last one may lack its line feed."""
    if not text.endswith("\n"):
        text += "\n"
    return text.replace("\r\n", "\n")[:-1].split("\n")


def blocks_of(path: Path, most: int = MOST_UNZIPPED) -> Iterator[bytes]:
    """The bytes of a file, some whole lines at a time; raises as `read_lines` does."""
    try:
        with _open_bytes(path) as file:
            yield from _whole_lines(file, path, most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged_gzip(path, error) from None
    except OSError as error:
        raise DataError(unreadable(path, error)) from None


def _damaged_gzip(path: Path, error: Exception) -> DataError:
    with path.open("rb") as file:
        start = file.read(len(_GZIP_MARK))
    if start != _GZIP_MARK:
        return DataError(f"{path}: not a gzip file; compress it, or let its name not end in .gz")
    return DataError(f"{path}: damaged gzip file ({error}); fetch it again")


def _open_bytes(path: Path) -> IO[bytes]:
    if _is_zipped(path):
        return cast(IO[bytes], gzip.open(path))
    return path.open("rb")


def _is_zipped(path: Path) -> bool:
    return path.suffix == ".gz"


def _whole_lines(file: IO[bytes], path: Path, most_unzipped: int) -> Iterator[bytes]:
    """Read some whole lines at a time, or a single one where one is very long."""
    lines_before = 0
    bytes_left = most_unzipped if _is_zipped(path) else math.inf
    while block := file.read(_BLOCK):
        if not block.endswith(b"\n"):
            block += file.readline(LONGEST_LINE + 1)
        bytes_left -= len(block)
        if bytes_left < 0:
            raise DataError(
                f"{path}: more than {most_unzipped:,} bytes unzipped; "
                "if this is intended, raise data.max_bytes"
            )
        if len(block) > LONGEST_LINE:
            yield from bounded_lines(BytesIO(block), path, lines_before)
        else:
            yield block
        lines_before += block.count(b"\n")


def _refuse_utf16(first_block: bytes, path: Path) -> None:
    if _shows_utf16(first_block):
        raise _undecodable(path, first_block, 0, _Before())


def _shows_utf16(start: bytes) -> bool:
    """Whether a file begins with UTF-16's mark, or has the NULs of Latin letters in its first line."""
    return start.startswith(_UTF16_MARKS) or _utf16_of_latin(start) is not None


def _utf16_of_latin(start: bytes) -> str | None:
    """UTF-16LE or UTF-16BE if a first line has NULs at every other place only, as Latin letters have."""
    line = start.partition(b"\n")[0]
    even_zeros = line[::2].count(0)
    odd_zeros = line[1::2].count(0)
    fewer, more = sorted((even_zeros, odd_zeros))
    if fewer > 0 or more < max(2, len(line) // 4):
        return None
    return "UTF-16BE" if even_zeros else "UTF-16LE"


def _undecodable(path: Path, block: bytes, place: int, before: _Before) -> DataError:
    """The error for the byte at a place of a block."""
    number = before.lines + block.count(b"\n", 0, place) + 1
    offset = before.size + place
    unzipped = ", unzipped" if _is_zipped(path) else ""
    advice = _advice(block, place, before)
    return DataError(f"{path}:{number}: not UTF-8 at byte {offset} of the text{unzipped}; {advice}")


def _advice(block: bytes, place: int, before: _Before) -> str:
    """What to do about a block that cannot be decoded from a place on."""
    is_start = before.size == 0
    if is_start and block.startswith(_GZIP_MARK):
        return "it is compressed: unzip it, or let its name end in .gz"
    encoding = None if before.is_utf8 else _encoding(block, is_start)
    if encoding is not None:
        return f"it looks like {encoding}: convert it with iconv -f {encoding} -t UTF-8"
    line_start = block.rfind(b"\n", 0, place) + 1
    if not (before.is_utf8 or _shows_utf8(block[:line_start].decode())):
        return "convert it to UTF-8"
    line = block[line_start:].partition(b"\n")[0]
    encoding = guess(line)
    if encoding is None:
        return "the lines before it are UTF-8: repair this line, or leave it out"
    return (
        f"the lines before it are UTF-8, and it looks like {encoding}: convert this line, "
        "or leave it out"
    )


def _encoding(block: bytes, is_start: bool) -> str | None:
    """The encoding of the whole file, as far as a block shows it."""
    if is_start and block.startswith(_UTF16_MARKS):
        return "UTF-16"
    if is_start and (latin := _utf16_of_latin(block)):
        return latin
    return guess(block, is_start)

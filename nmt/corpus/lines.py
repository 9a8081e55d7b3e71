"""Lines of text in and out. A line ends at a line feed and nowhere else.

Text is UTF-8. A byte-order mark at the start of a file is dropped, and a carriage return before a line feed.
U+2028, U+0085, vertical tabs and form feeds are characters like any other. A file named .gz is unzipped.

Input is untrusted: neither a line without end nor a small .gz of endless text fills the memory or the disk.
"""

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from nmt.errors import DataError

_BLOCK = 2**14  # bytes of a file that are decoded at a time
LONGEST_LINE = 2**22  # bytes; split into words, it takes some hundred times as many
MOST_UNZIPPED = 2**36  # bytes of one .gz: several times the largest open English–Chinese corpus
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK = b"\x1f\x8b"


def read_lines(path: Path, most: int = MOST_UNZIPPED) -> Iterator[str]:
    """Give the lines of a text file, without their ends.

    Raises DataError for a missing file, a damaged .gz or one of more than `most` bytes unzipped, a line that is too
    long, or bytes that are not UTF-8 (by line and byte offset).
    """
    return decode_lines(blocks_of(path, most), path)


def open_text(path: Path) -> IO[str]:
    """Open a file for lines as ours: in UTF-8, each ended by a line feed alone."""
    return path.open("w", encoding="utf-8", newline="\n")


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
    lines_before = 0
    bytes_before = 0
    for block in blocks:
        is_first = bytes_before == 0
        is_marked = is_first and block.startswith(_BYTE_ORDER_MARK)
        if is_marked and block == _BYTE_ORDER_MARK:
            return
        if is_first:
            _refuse_utf16(block, path)
        try:
            text = block.decode(errors=errors)
        except UnicodeDecodeError as error:
            raise _undecodable(path, block, error.start, lines_before, bytes_before) from None
        lines_before += block.count(b"\n")
        bytes_before += len(block)
        yield from _split(text[1:] if is_marked else text)


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
    except FileNotFoundError:
        raise DataError(
            f"{path}: no such file; name an existing one (relative paths start at {Path.cwd()})"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged gzip file ({error}); fetch it again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


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
    first_line = first_block.partition(b"\n")[0]
    if _looks_utf16(first_line):
        raise _not_utf8(path, 1, 0, first_line)


def _undecodable(
    path: Path, block: bytes, place: int, lines_before: int, bytes_before: int
) -> DataError:
    """The error for a byte of a block, counted from the start of the file."""
    number = lines_before + block.count(b"\n", 0, place) + 1
    line_start = block.rfind(b"\n", 0, place) + 1
    line = block[line_start:].partition(b"\n")[0]
    return _not_utf8(path, number, bytes_before + place, line)


def _not_utf8(path: Path, number: int, offset: int, line: bytes) -> DataError:
    unzipped = ", unzipped" if _is_zipped(path) else ""
    if number == 1 and line.startswith(_GZIP_MARK):
        fix = "it is compressed: unzip it, or let its name end in .gz"
    elif _looks_utf16(line) or b"\0" in line:
        fix = "it looks like UTF-16: convert it with iconv -f UTF-16 -t UTF-8"
    else:
        fix = "convert it to UTF-8"
    return DataError(f"{path}:{number}: not UTF-8 at byte {offset} of the text{unzipped}; {fix}")


def _looks_utf16(line: bytes) -> bool:
    """Whether a line begins with UTF-16's mark, or has NULs at every other place only, as its Latin letters have."""
    if line.startswith(_UTF16_MARKS):
        return True
    even_zeros = line[::2].count(0)
    odd_zeros = line[1::2].count(0)
    fewer, more = sorted((even_zeros, odd_zeros))
    return fewer == 0 and more >= max(2, len(line) // 4)

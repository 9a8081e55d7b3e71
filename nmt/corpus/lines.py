"""Aligned lines in and out. A line ends at a line feed and nowhere else.

Text is UTF-8. A byte-order mark at the start of a file is dropped, and a carriage return before a line feed.
U+2028, U+0085, vertical tabs and form feeds are characters like any other. A file named .gz is unzipped.

What is read may come from anybody: neither a line without end nor a small .gz of endless text fills the memory or
the disk.
"""

import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from nmt.errors import DataError
from nmt.files import replacing

_BLOCK = 2**14  # bytes of a file that are decoded at a time
LONGEST_LINE = 2**22  # bytes; split into words, it is some hundred times as large
MOST_UNZIPPED = 2**36  # bytes of one .gz: several times the largest open English–Chinese corpus
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


Keys = tuple[str, str]


class SentencePair(NamedTuple):
    """A sentence and its translation; the two sides never part."""

    src: str
    tgt: str


def read_lines(path: Path, most: int = MOST_UNZIPPED) -> Iterator[str]:
    """Give the lines of a text file, without their ends.

    Raises DataError for a missing file, a damaged .gz or one of more than `most` bytes unzipped, a line that is too
    long, or bytes that are not UTF-8 (by line and byte offset).
    """
    return decode_lines(_blocks(path, most), path)


def bounded_lines(file: IO[bytes], path: Path, before: int = 0) -> Iterator[bytes]:
    """Give the lines of an open file with their ends, each as soon as it is there. Raises DataError for an endless one.

    `path` is what to call the file, `before` how many of its lines came before.
    """
    for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), before + 1):
        if len(raw) > LONGEST_LINE:
            raise DataError(
                f"{path}:{number}: a line of more than {LONGEST_LINE:,} bytes; is this text, line by line?"
            )
        yield raw


def decode_lines(blocks: Iterable[bytes], path: Path, errors: str = "strict") -> Iterator[str]:
    """Decode blocks of whole lines as they come; `path` is what to call them; `errors` as for bytes.decode.

    Raises DataError for bytes that are not UTF-8, unless `errors` makes them something else.
    UTF-16 is refused even where invalid bytes are to be replaced: hardly anything would be left of it.
    """
    lines = offset = 0  # before the block
    for block in blocks:
        marked = block.startswith(_BYTE_ORDER_MARK) and not offset
        if marked and block == _BYTE_ORDER_MARK:
            break
        if not offset and _looks_utf16(first := block.partition(b"\n")[0]):
            raise DataError(_undecodable(path, 1, 0, first))
        try:
            text = block.decode(errors=errors)
        except UnicodeDecodeError as error:
            number, start = (
                block.count(b"\n", 0, error.start),
                block.rfind(b"\n", 0, error.start) + 1,
            )
            line = block[start:].partition(b"\n")[0]
            raise DataError(
                _undecodable(path, lines + number + 1, offset + error.start, line)
            ) from None
        lines += block.count(b"\n")
        offset += len(block)
        whole = text[marked:] if text.endswith("\n") else f"{text[marked:]}\n"
        yield from whole.replace("\r\n", "\n")[:-1].split("\n")


def read_pairs(src: Path, tgt: Path, most: int = MOST_UNZIPPED) -> Iterator[SentencePair]:
    """Give line n of `src` with line n of `tgt`. Raises DataError when one file ends before the other."""
    sides = read_lines(src, most), read_lines(tgt, most)
    for number, (source, target) in enumerate(zip_longest(*sides), 1):
        if source is None or target is None:
            short, long, rest = (src, tgt, sides[1]) if source is None else (tgt, src, sides[0])
            lines = f"{number + sum(1 for _ in rest)} lines; the two sides must have the same number of lines"
            raise DataError(f"{short} ends at line {number - 1} but {long} has {lines}")
        yield SentencePair(source, target)


def read_tsv(path: Path, most: int = MOST_UNZIPPED) -> Iterator[SentencePair]:
    """Give the first two tab-separated columns of each line; further columns are ignored."""
    for number, line in enumerate(read_lines(path, most), 1):
        columns = line.split("\t", 2)
        if len(columns) < 2:
            raise DataError(
                f"{path}:{number}: one column, but source<TAB>target is needed: {_excerpt(line)}"
            )
        yield SentencePair(columns[0], columns[1])


def read_jsonl(
    path: Path, most: int = MOST_UNZIPPED, languages: Keys = ("en", "zh")
) -> Iterator[SentencePair]:
    """Give the JSON object of each line, keyed by "src" and "tgt" or by language codes; skip blank lines."""
    for number, line in enumerate(read_lines(path, most), 1):
        if line.strip():
            yield _from_json(line, languages, f"{path}:{number}")


@contextmanager
def writing_pairs(src: Path, tgt: Path) -> Iterator[Callable[[str, str], None]]:
    """Yield a function that appends a pair; both files appear together and whole, or not at all."""
    with ExitStack() as stack:
        parts = [stack.enter_context(replacing(path)) for path in (src, tgt)]
        files = [stack.enter_context(open_text(part)) for part in parts]

        def write(*pair: str) -> None:
            for file, text in zip(files, pair, strict=True):
                file.write(text + "\n")

        yield write


def open_text(path: Path) -> IO[str]:
    """Open a file for lines as ours: in UTF-8, each ended by a line feed alone."""
    return path.open("w", encoding="utf-8", newline="\n")


def _blocks(path: Path, most: int) -> Iterator[bytes]:
    """A file's bytes, whole lines at a time."""
    lines, left = 0, most if path.suffix == ".gz" else math.inf
    try:
        with cast(IO[bytes], gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as file:
            while block := file.read(_BLOCK):
                block += b"" if block.endswith(b"\n") else file.readline(LONGEST_LINE + 1)
                left -= len(block)
                if left < 0:
                    raise DataError(
                        f"{path}: more than {most:,} bytes unzipped; if it is meant, raise data.max_bytes"
                    )
                yield from (
                    bounded_lines(BytesIO(block), path, lines)
                    if len(block) > LONGEST_LINE
                    else (block,)
                )
                lines += block.count(b"\n")
    except FileNotFoundError:
        raise DataError(
            f"{path}: no such file; name an existing one (relative paths start at {Path.cwd()})"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged gzip file ({error}); fetch it again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _undecodable(path: Path, number: int, offset: int, raw: bytes) -> str:
    unzipped = ", unzipped" if path.suffix == ".gz" else ""
    mend = "convert it to UTF-8"
    if number == 1 and raw.startswith(b"\x1f\x8b"):
        mend = "it is compressed: unzip it, or let its name end in .gz"
    elif _looks_utf16(raw) or b"\0" in raw:
        mend = "it looks like UTF-16: convert it with iconv -f UTF-16 -t UTF-8"
    return f"{path}:{number}: not UTF-8 at byte {offset} of the text{unzipped}; {mend}"


def _looks_utf16(raw: bytes) -> bool:
    """Whether a line begins with UTF-16's mark, or has NULs at every other place only, as its Latin letters have."""
    zeros = raw[::2].count(0), raw[1::2].count(0)
    return raw.startswith((b"\xff\xfe", b"\xfe\xff")) or (
        min(zeros) == 0 and max(zeros) >= max(2, len(raw) // 4)
    )


def _from_json(line: str, languages: Keys, place: str) -> SentencePair:
    try:
        record: Any = json.loads(line)
        for keys in (("src", "tgt"), languages):
            if isinstance(record, dict) and all(isinstance(record.get(key), str) for key in keys):
                pair = SentencePair(record[keys[0]], record[keys[1]])
                "".join(pair).encode()
                return pair
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise DataError(
            f"{place}: {half!r} is half a character; write it in full or leave it out"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON ({error}): {_excerpt(line)}") from None
    wanted = f'{{"src": …, "tgt": …}} or {{"{languages[0]}": …, "{languages[1]}": …}}'
    raise DataError(f"{place}: an object {wanted} with two strings is needed: {_excerpt(line)}")


def _excerpt(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:60] + "…")

"""Files of sentence pairs, in and out: two aligned files, columns between tabs, or JSON objects."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from nmt.corpus.reading.lines import MOST_UNZIPPED, open_text, read_lines
from nmt.errors import DataError
from nmt.files import replacing
from nmt.text.normalize import unpaired_surrogate

Keys = tuple[str, str]  # of a JSON object: its source and its target


class SentencePair(NamedTuple):
    """A sentence and its translation; the two sides never part."""

    src: str
    tgt: str


def read_pairs(src: Path, tgt: Path, most: int = MOST_UNZIPPED) -> Iterator[SentencePair]:
    """Give line n of `src` with line n of `tgt`. Raises DataError when one file ends before the other."""
    return aligned(read_lines(src, most), read_lines(tgt, most), src, tgt)


def aligned(
    src_lines: Iterator[str], tgt_lines: Iterator[str], src: Path, tgt: Path
) -> Iterator[SentencePair]:
    """Give the lines of two files, whose names are for messages, as pairs; raises as `read_pairs` does."""
    for number, (source, target) in enumerate(zip_longest(src_lines, tgt_lines), 1):
        if source is None:
            raise _uneven(src, number - 1, tgt, number + _count(tgt_lines))
        if target is None:
            raise _uneven(tgt, number - 1, src, number + _count(src_lines))
        yield SentencePair(source, target)


def read_tsv(path: Path, most: int = MOST_UNZIPPED) -> Iterator[SentencePair]:
    """Give the first two tab-separated columns of each line; further columns are ignored.

    A column that a spreadsheet has quoted is read without its marks. A blank line is an empty pair, as it is in two
    aligned files.
    """
    return columns_of(read_lines(path, most), path)


def columns_of(lines: Iterator[str], path: Path) -> Iterator[SentencePair]:
    """Give the first two columns of lines as pairs; `path` is the file's name in messages."""
    for number, line in enumerate(lines, 1):
        columns = line.split("\t", 2)
        if not line.strip():
            columns = ["", ""]
        if len(columns) < 2:
            raise DataError(
                f"{path}:{number}: one column, but source<TAB>target is needed: {_excerpt(line)}"
            )
        yield SentencePair(_unquoted(columns[0]), _unquoted(columns[1]))


def is_from_spreadsheet(path: Path) -> bool:
    """Whether a spreadsheet has put columns of the first lines in quotation marks, which `read_tsv` takes off."""
    first_lines = islice(read_lines(path), 1000)
    columns = (column for line in first_lines for column in line.split("\t", 2)[:2])
    return any(_unquoted(column) != column for column in columns)


def _unquoted(column: str) -> str:
    """A column as it was before a spreadsheet put it in quotation marks and doubled those within (RFC 4180)."""
    inner = column[1:-1]
    is_quoted = column[:1] == column[-1:] == '"' and '""' in inner
    if not is_quoted or '"' in inner.replace('""', ""):
        return column
    return inner.replace('""', '"')


def read_jsonl(
    path: Path, most: int = MOST_UNZIPPED, languages: Keys = ("en", "zh")
) -> Iterator[SentencePair]:
    """Give the JSON object of each line, keyed by "src" and "tgt" or by languages, perhaps in "translation".

    A blank line is an empty pair, as it is in two aligned files.
    """
    for number, line in enumerate(read_lines(path, most), 1):
        if line.strip():
            yield _from_json(line, languages, f"{path}:{number}")
        else:
            yield SentencePair("", "")


@contextmanager
def writing_pairs(src: Path, tgt: Path) -> Iterator[Callable[[str, str], None]]:
    """Yield a function that appends a pair; both files appear together and whole, or not at all."""
    with (
        replacing(src) as src_part,
        replacing(tgt) as tgt_part,
        open_text(src_part) as src_file,
        open_text(tgt_part) as tgt_file,
    ):

        def write(source: str, target: str) -> None:
            src_file.write(source + "\n")
            tgt_file.write(target + "\n")

        yield write


def _uneven(short: Path, short_count: int, long: Path, long_count: int) -> DataError:
    return DataError(
        f"{short} ends at line {short_count} but {long} has {long_count} lines; "
        "the two sides must have the same number of lines"
    )


def _count(lines: Iterator[str]) -> int:
    return sum(1 for _ in lines)


def _from_json(line: str, languages: Keys, place: str) -> SentencePair:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON ({error}): {_excerpt(line)}") from None
    pair = _pair_of(record, languages)
    if pair is None:
        by_language = '{{"{}": …, "{}": …}}'.format(*languages)
        raise DataError(
            f'{place}: an object {{"src": …, "tgt": …}}, {by_language} '
            f'or {{"translation": {by_language}}} with two strings is needed: {_excerpt(line)}'
        )
    if (half := unpaired_surrogate("".join(pair))) is not None:
        fix = "fix the escape or delete the line"
        raise DataError(f"{place}: {half!r} is an unpaired surrogate; {fix}")
    return pair


def _pair_of(record: Any, languages: Keys) -> SentencePair | None:
    """The pair of a JSON value in any of the forms that are read."""
    pair = _keyed_by(("src", "tgt"), record) or _keyed_by(languages, record)
    if pair is None and isinstance(record, dict):
        # As Hugging Face's data sets have it.
        return _keyed_by(languages, record.get("translation"))
    return pair


def _keyed_by(keys: Keys, record: Any) -> SentencePair | None:
    """The pair under these keys of a JSON value, if it is an object with two such strings."""
    if not isinstance(record, dict):
        return None
    source = record.get(keys[0])
    target = record.get(keys[1])
    if isinstance(source, str) and isinstance(target, str):
        return SentencePair(source, target)
    return None


def _excerpt(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:60] + "…")

"""Where the tokens of a line are in the line as it was written, before it was masked and normalised."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from nmt.text.normalize import normalize
from nmt.text.pieces import SPACE, SentencePiece
from nmt.text.side import Side
from nmt.text.vocab import JOINT

_BYTE = re.compile(
    r"<0x([0-9A-F]{2})>"
)  # how sentencepiece writes a byte of a character that it does not know


class Range(NamedTuple):
    """Characters (code points) of a line: from `start` up to, but without, `end`."""

    start: int
    end: int


class TokenPlace(NamedTuple):
    """A token, or the byte pieces of one character together: its ids, and where it is."""

    ids: list[int]
    range: Range


def places(
    side: Side, line: str, spans: Mapping[str, str] | None = None
) -> list[TokenPlace] | None:
    """The tokens of a line, in order, without the side's prefix; None for a line whose characters cannot be followed.

    A line in which placeholders stand for `spans` is given with its placeholders; the ranges are those of the line
    that has the spans themselves.
    """
    text = side.prepared(line)
    ranges = _ranges(line, text, spans or {})
    if ranges is None:
        return None
    return _follow(side, side.tokenizer.encode(text), text, ranges)


def _follow(
    side: Side, tokens: list[str], text: str, ranges: list[Range | None]
) -> list[TokenPlace] | None:
    """Find the tokens in the normalised text one after the other; a space between two may be left out."""
    found: list[TokenPlace] = []
    at = 0  # in the text
    end = 0  # of the last token, in the line
    for written, of_token in _written(side, tokens):
        start = at
        for character in written.replace(SPACE, " ").replace(" ", ""):
            while at < len(text) and text[at] == " ":
                at += 1
            if text[at : at + 1] != character:
                return None
            at += 1
        own = [each for each in ranges[start:at] if each is not None]
        if own:
            here = Range(own[0].start, own[-1].end)
        else:  # a space
            here = Range(end, end)
        found.append(TokenPlace(side.vocab.encode(of_token), here))
        end = here.end
    return found


def _written(side: Side, tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What each token says, and the token; bytes are put together to the characters that they spell."""
    if not isinstance(side.tokenizer, SentencePiece):
        for token in tokens:
            yield token, [token]
        return
    waiting: list[str] = []
    for token in tokens:
        if _BYTE.fullmatch(token) is None:
            yield token, [token]
            continue
        waiting.append(token)
        spelled = bytes(int(each[3:5], 16) for each in waiting)
        try:
            yield spelled.decode(), waiting
        except UnicodeDecodeError:  # the character is not whole yet
            continue
        waiting = []


# --- characters before and after normalising ---


def _ranges(line: str, text: str, spans: Mapping[str, str]) -> list[Range | None] | None:
    """The place of each character of the normalised text; None for a space.

    Normalising composes characters, orders their marks, leaves some out and changes others one for one. So both are
    compared as sequences of what cannot be composed of anything else.
    """
    before = _atoms(line)
    after = _atoms(text)
    if len(before) != len(after):
        return None
    in_line = _with_spans(line, spans)
    ranges: list[Range | None] = [None] * len(text)
    for place, origin in zip(after, before, strict=True):
        own = in_line[origin]
        known = ranges[place]
        if known is None:
            ranges[place] = own
        else:
            ranges[place] = Range(min(known.start, own.start), max(known.end, own.end))
    return ranges


def _atoms(text: str) -> list[int]:
    """For each character of the decomposed text (NFD), which character it is a part of; without what is left out."""
    atoms: list[tuple[int, int]] = []  # canonical combining class, place
    for place, character in enumerate(text):
        if normalize(character, "zh"):
            for part in unicodedata.normalize("NFD", character):
                atoms.append((unicodedata.combining(part), place))
    ordered: list[int] = []
    for is_mark, group in groupby(atoms, key=lambda atom: atom[0] > 0):
        run = list(group)
        if is_mark:  # their canonical order
            run.sort(key=lambda atom: atom[0])
        ordered += [place for _, place in run]
    return ordered


def _with_spans(line: str, spans: Mapping[str, str]) -> list[Range]:
    """The place of each character of a line after its placeholders have become spans again."""
    ranges = []
    start = 0
    for character in line:
        written = "" if spans and character == JOINT else spans.get(character, character)
        end = start + len(written)
        ranges.append(Range(start, end))
        start = end
    return ranges

"""What documents of offices have in common: the elements of well-formed XML, and how sentences are made of these."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import TypeVar

from nmt.documents.markup import Token, escape_xml, refuse_broken_xml
from nmt.documents.text import Text, Writer

_TOKEN = re.compile(
    r"""
    <!-- [\s\S]*? --> | <!\[CDATA\[ [\s\S]*? \]\]> | <\? [\s\S]*? \?>
  | <! [^>\[]* (?: \[ [^\]]* \] )? [^>]* >
  | < (?P<closes> /? ) (?P<name> [^\s<>/!?] [^\s<>/]* ) (?: [^<>"'] | "[^"]*" | '[^']*' )*+ >
    """,
    re.VERBOSE,
)
_SPACES = re.compile(r"[ \t\r\n]+")
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML


def escape(words: str) -> str:
    """Words between tags, without the characters that XML forbids."""
    return escape_xml(_ILLEGAL.sub("", words))


class Elements:
    """The tokens of an XML text, by number. Raises DataError for XML that is not well formed.

    `paragraphs` are names of elements; whether one is inside of another element is quickly known.
    """

    def __init__(self, text: str, paragraphs: frozenset[str]) -> None:
        refuse_broken_xml(text)
        self.text = text
        self.tokens = list(_tokens(text))
        self.partner = list(range(len(self.tokens)))  # the number of what closes it
        self._paragraphs_before = [0]
        opened: list[int] = []
        for number, token in enumerate(self.tokens):
            is_paragraph = token.kind == "open" and token.name in paragraphs
            self._paragraphs_before.append(self._paragraphs_before[-1] + is_paragraph)
            if token.kind == "open":
                opened.append(number)
            elif token.kind == "close":
                self.partner[opened.pop()] = number

    def children(self, element: int) -> Iterator[int]:
        """The numbers of the tokens that begin what is in an element, without what is deeper."""
        number = element + 1
        while number < self.partner[element]:
            yield number
            number = self.partner[number] + 1

    def holds_paragraph(self, element: int) -> bool:
        """Whether there is a paragraph somewhere inside of an element."""
        before = self._paragraphs_before
        return before[self.partner[element]] > before[element + 1]

    def end(self, element: int) -> int:
        """Where an element ends in the text."""
        return self.tokens[self.partner[element]].end

    def raw(self, element: int) -> str:
        """An element as it is written, with all that is in it."""
        return self.text[self.tokens[element].start : self.end(element)]

    def words(self, number: int) -> str:
        """The words of a token; "" for markup."""
        token = self.tokens[number]
        raw = token.raw(self.text)
        if token.kind == "cdata":
            return raw[len("<![CDATA[") : -len("]]>")]
        return unescape(raw) if token.kind == "text" else ""


def _tokens(text: str) -> Iterator[Token]:
    end = 0
    for match in _TOKEN.finditer(text):
        if match.start() > end:
            yield Token("text", "", end, match.start())
        end = match.end()
        yield Token(_kind(match), match["name"] or "", *match.span())
    if end < len(text):
        yield Token("text", "", end, len(text))


def _kind(match: re.Match[str]) -> str:
    if match["name"] is None:
        return "cdata" if match[0].startswith("<![CDATA[") else "other"
    if match["closes"]:
        return "close"
    return "empty" if match[0].endswith("/>") else "open"


@dataclass(frozen=True)
class Atom:
    """What a paragraph is made of.

    `kind` is words, single, open, close, hard: what ends a unit, or loose: a tag that shows nothing, and whose partner
    is in another unit.
    `value` are the words, or what is written; `start` and `end` are its place in the text.
    """

    kind: str
    value: str
    start: int
    end: int


A = TypeVar("A", bound=Atom)


def segments(atoms: Sequence[A]) -> Iterator[Sequence[A]]:
    """What stands between hard atoms, without what encloses it or stands at its ends."""
    found: list[A] = []
    for atom in atoms:
        if atom.kind == "hard":
            yield _trimmed(found)
            found = []
        else:
            found.append(atom)
    yield _trimmed(found)


def _trimmed(atoms: Sequence[A]) -> Sequence[A]:
    start, end = 0, len(atoms)
    closing = _closing(atoms)
    while start < end:
        if _is_edge(atoms[start]):
            start += 1
        elif _is_edge(atoms[end - 1]):
            end -= 1
        elif closing.get(start) == end - 1:
            start, end = start + 1, end - 1
        else:
            break
    return atoms[start:end]


def _closing(atoms: Sequence[A]) -> dict[int, int]:
    opened: list[int] = []
    closing: dict[int, int] = {}
    for number, atom in enumerate(atoms):
        if atom.kind == "open":
            opened.append(number)
        elif atom.kind == "close":
            closing[opened.pop()] = number
    return closing


def _is_edge(atom: Atom) -> bool:
    return atom.kind in ("single", "loose") or (
        atom.kind == "words" and not atom.value.strip(" \t\r\n")
    )


class Sentence:
    """Makes a text of the words and pieces of a paragraph.

    White space is one space, and stands outside of pairs; pieces without words between them are one.
    """

    def __init__(self) -> None:
        self._events: list[tuple[str, list[str | Text]]] = []
        self._has_space = False

    def words(self, words: str) -> None:
        """Add words; spaces at their ends wait for what is next."""
        words = _SPACES.sub(" ", words)
        self._has_space = self._has_space or words.startswith(" ")
        if words.strip(" "):
            self._add("words", words.strip(" "))
            self._has_space = words.endswith(" ")

    def single(self, *parts: str | Text) -> None:
        """Add a piece that encloses nothing."""
        self._add("single", *parts)

    def open(self, raw: str) -> None:
        """Add what opens a pair; each is closed."""
        self._add("open", raw)

    def close(self, raw: str) -> None:
        """Add what closes the pair that was opened last."""
        self._events.append(("close", [raw]))

    def _add(self, kind: str, *parts: str | Text) -> None:
        if self._has_space and self._events:
            self._join("words", " ")
        self._has_space = False
        self._join(kind, *parts)

    def _join(self, kind: str, *parts: str | Text) -> None:
        if kind in ("words", "single") and self._events and self._events[-1][0] == kind:
            self._events[-1][1].extend(parts)
        else:
            self._events.append((kind, list(parts)))

    def text(self) -> Text:
        """What has been added."""
        writer = Writer(escape)
        opened: list[str] = []
        for number, (kind, parts) in enumerate(self._events):
            if kind == "single":
                writer.single(*parts)
                continue
            raw = "".join(part for part in parts if isinstance(part, str))
            if kind == "words":
                writer.words(raw)
            elif kind == "open":
                opened.append(str(number))
                writer.open(raw, opened[-1])
            else:
                writer.close(raw, opened.pop())
        return writer.text()

"""OpenDocument text: content.xml, styles.xml with its headers and footers, meta.xml with its title.

Facts are those of OpenDocument 1.3, part 3, chapters 5 and 6 (paragraphs and what is in them).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nmt.documents import described
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.office import Atom, Elements, Sentence, escape, segments
from nmt.documents.text import Text, has_words, plain

MEMBERS = re.compile(r"(?:content|styles|meta)\.xml")

_PARAGRAPHS = frozenset(["text:p", "text:h"])
_PAIRS = frozenset(["text:span", "text:a", "text:meta"])
_HIDDEN = frozenset(["text:tracked-changes"])  # has what was deleted
_BREAKS = frozenset(["text:tab", "text:line-break"])
_DESCRIPTIONS = frozenset(["svg:title", "svg:desc"])  # of pictures
_CODE = re.compile(r"Source_(?:20_)?Text|Teletype|Preformatted_(?:20_)?Text")  # styles
_SAID = ("dc:title", "dc:subject", "dc:description", "meta:keyword")
_DROPPED = frozenset(["text:soft-page-break"])
_DEEPEST = 8  # pairs in pairs; what is deeper stays as it is
_DEEPEST_NOTE = 3  # notes in notes
_INVISIBLE = re.compile(r"officeooo:|loext:|fo:language|fo:country|xmlns")  # what styles say
_SPACES = re.compile(r"""text:c\s*=\s*["'](\d{1,9})""")
_FIRST = 2000  # characters in which the root is
_MOST_SPACES = 2  # that mean one; more place words


@dataclass(frozen=True)
class _Atom(Atom):
    """Of the element `number`. A plain pair shows nothing."""

    number: int
    is_plain: bool = False


class _Span(NamedTuple):
    """A text, its place, and the tags that stand before it and behind it there."""

    start: int
    end: int
    text: Text
    before: str
    after: str

    def unit(self, name: str) -> Unit:
        """The text to be put in its place."""

        def write(texts: Sequence[str]) -> list[Edit]:
            return [Edit(self.start, self.end, self.before + texts[0] + self.after)]

        return Unit(name, self.start, (self.text,), write)


def read(text: str, asked: Asked) -> Document:
    """The paragraphs and headings. Raises DataError with the line for XML that is not well formed."""
    if "<office:document-meta" in text[:_FIRST]:
        return described.read(text, _SAID, asked)
    elements = Elements(text, _PARAGRAPHS)
    reader = _Reader(elements)
    units: list[Unit] = []
    done = 0  # nothing before it is translated
    for number, token in enumerate(elements.tokens):
        if token.kind != "open" or token.start < done or number in reader.taken:
            continue
        if token.name in _HIDDEN:
            done = elements.end(number)
        elif token.name in _DESCRIPTIONS:
            units += [span.unit("") for span in reader.description(number)]
        elif token.name in _PARAGRAPHS and not reader.is_code(number):
            identity = token.attributes(text).get("xml:id")
            name = identity.value if identity else ""
            for count, span in enumerate(reader.spans(number, 0), start=1):
                units.append(span.unit(f"{name}.{count}" if name and count > 1 else name))
    return Document(text, sorted(units, key=lambda unit: unit.start))


class _Reader:
    """Makes texts of paragraphs."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._plain = frozenset(_plain_styles(elements))
        self.taken: set[int] = set()  # elements in pieces of texts: what is in them is no unit

    def spans(self, paragraph: int, depth: int) -> Iterator[_Span]:
        """The words of a paragraph between its breaks, and their places.

        `depth` is the number of paragraphs around it.
        """
        for atoms in segments(list(self._atoms(paragraph, 0))):
            if any(atom.kind == "words" and has_words(atom.value) for atom in atoms):
                yield self._span(atoms, depth)

    def is_code(self, number: int) -> bool:
        """Whether an element has a style of code."""
        style = self._elements.tokens[number].attributes(self._elements.text).get("text:style-name")
        return style is not None and _CODE.fullmatch(style.value) is not None

    def description(self, number: int) -> Iterator[_Span]:
        """What stands for a picture."""
        start = self._elements.tokens[number].end
        end = self._elements.tokens[self._elements.partner[number]].start
        words = "".join(map(self._elements.words, self._elements.children(number)))
        if has_words(words):
            yield _Span(start, end, plain(words, escape), "", "")

    def _span(self, atoms: Sequence[_Atom], depth: int) -> _Span:
        sentence = Sentence()
        skipped = _needless(atoms)
        for place, atom in enumerate(atoms):
            if atom.kind == "words":
                sentence.words(atom.value)
            elif atom.kind == "single":
                sentence.single(*self._parts(atom, depth))
            elif place not in skipped:
                (sentence.open if atom.kind == "open" else sentence.close)(atom.value)
        raw = self._elements.text[atoms[0].start : atoms[-1].end]
        start = atoms[0].start + len(raw) - len(raw.lstrip())
        loose = [atom.value for atom in atoms if atom.kind == "loose"]
        closing = "".join(tag for tag in loose if tag.startswith("</"))
        opening = "".join(tag for tag in loose if not tag.startswith("</"))
        return _Span(start, start + len(raw.strip()), sentence.text(), closing, opening)

    def _atoms(self, element: int, depth: int) -> Iterator[_Atom]:
        for number in self._elements.children(element):
            token = self._elements.tokens[number]
            if token.name in _DROPPED:
                continue
            is_pair = token.name in _PAIRS and token.kind == "open" and not self.is_code(number)
            if is_pair and depth < _DEEPEST:
                yield from self._of_pair(number, depth)
            elif token.name in _BREAKS:
                raw = self._elements.raw(number)
                yield _Atom("hard", raw, token.start, self._elements.end(number), number)
            else:
                words = self._words(number)
                value = self._elements.raw(number) if words is None else words
                kind = "single" if words is None else "words"
                yield _Atom(kind, value, token.start, self._elements.end(number), number)

    def _of_pair(self, number: int, depth: int) -> list[_Atom]:
        """A pair with what it encloses. One with a break in it ends units, or is loose if it shows nothing."""
        opening, closing = self._tag(number, "open"), self._tag(number, "close")
        inner = list(self._atoms(number, depth + 1))
        if any(atom.kind == "hard" for atom in inner):
            kind = "loose" if opening.is_plain else "hard"
            opening, closing = replace(opening, kind=kind), replace(closing, kind=kind)
        return [opening, *inner, closing]

    def _tag(self, number: int, kind: str) -> _Atom:
        token = self._elements.tokens[number]
        style = token.attributes(self._elements.text).get("text:style-name")
        is_plain = token.name == "text:span" and style is not None and style.value in self._plain
        if kind == "close":
            token = self._elements.tokens[self._elements.partner[number]]
        raw = token.raw(self._elements.text)
        return _Atom(kind, raw, token.start, token.end, number, is_plain)

    def _words(self, number: int) -> str | None:
        """The words of a token; None if it is something else."""
        token = self._elements.tokens[number]
        if token.kind in ("text", "cdata"):
            return self._elements.words(number)
        if token.name == "text:s":
            count = _SPACES.search(token.raw(self._elements.text))
            return " " if count is None or int(count[1]) <= _MOST_SPACES else None
        return None

    def _parts(self, atom: _Atom, depth: int) -> list[str | Text]:
        """What a piece is written of: a note has paragraphs of its own, a picture what stands for it."""
        self.taken.update(range(atom.number, self._elements.partner[atom.number]))
        if depth >= _DEEPEST_NOTE:
            return [atom.value]
        parts: list[str | Text] = []
        end = atom.start
        for number in range(atom.number, self._elements.partner[atom.number]):
            token = self._elements.tokens[number]
            if token.kind == "open" and token.start >= end:
                for span in self._within(number, depth):
                    parts += [self._elements.text[end : span.start], span.before, span.text]
                    parts.append(span.after)
                    end = span.end
        return [*parts, self._elements.text[end : atom.end]]

    def _within(self, number: int, depth: int) -> Iterator[_Span]:
        """The texts of an element in a piece."""
        name = self._elements.tokens[number].name
        if name in _PARAGRAPHS and not self.is_code(number):
            yield from self.spans(number, depth + 1)
        elif name in _DESCRIPTIONS:
            yield from self.description(number)


def _needless(atoms: Sequence[_Atom]) -> set[int]:
    """The places of plain pairs, and of what closes a pair where an equal one opens."""
    needless: set[int] = set()
    opened: list[str] = []
    for place, atom in enumerate(atoms):
        if atom.is_plain:
            needless.add(place)
        elif atom.kind == "open":
            opened.append(atom.value)
        elif atom.kind == "close":
            closed = opened.pop()
            following = atoms[place + 1] if place + 1 < len(atoms) else atom
            if following.kind == "open" and following.value == closed and not following.is_plain:
                needless |= {place, place + 1}
    return needless


def _plain_styles(elements: Elements) -> Iterator[str]:
    """The names of styles that LibreOffice makes for its own use: they show nothing."""
    for number, token in enumerate(elements.tokens):
        if token.name != "style:style" or token.kind != "open":
            continue
        attributes = token.attributes(elements.text)
        if "style:family" not in attributes or attributes["style:family"].value != "text":
            continue
        says = [
            name
            for child in elements.children(number)
            for name in elements.tokens[child].attributes(elements.text)
        ]
        is_based = "style:parent-style-name" in attributes
        if not is_based and all(map(_INVISIBLE.match, says)) and "style:name" in attributes:
            yield attributes["style:name"].value

"""What is translated of a document: words, with numbered tags where it has markup or placeholders.

`Click <g1>here</g1>, <x2/>.` stands for `Click <a href="x">here</a>, {name}.`: what a format knows to be no words is a
piece, and a translation has to have each piece once, and pairs well nested.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Escape = Callable[[str], str]

TAG = re.compile(r"<(/?)g(\d+)>|<x(\d+)/>")
_BREAK = "\n"  # in words: a line break that has to stay


class Untranslated(Exception):
    """Why a text stays as it is."""


def as_it_is(words: str) -> str:
    """Words that need no escapes."""
    return words


@dataclass(frozen=True)
class Text:
    """Words and tags, and what these stand for.

    `escape` writes words as the format has them. `breaks` are the line breaks of the words as they are written; without
    them `escape` writes these too.
    """

    words: str
    pairs: Mapping[int, tuple["Parts", "Parts"]] = field(
        default_factory=dict
    )  # what opens and closes
    singles: Mapping[int, "Parts"] = field(default_factory=dict)
    escape: Escape = as_it_is
    breaks: tuple[str, ...] = ()
    can_number: bool = False  # %s may be written %1$s, and {} as {0}

    def leaves(self) -> Iterator["Text"]:
        """This text, and those within its pieces."""
        yield self
        of_pairs = [parts for pair in self.pairs.values() for parts in pair]
        for parts in [*of_pairs, *self.singles.values()]:
            for part in parts:
                if isinstance(part, Text):
                    yield from part.leaves()

    def filled(self, translated: Callable[["Text"], str]) -> str:
        """The text as it is written, with translated words.

        Raises Untranslated for a translation that has other pieces or line breaks.
        """
        words = translated(self)
        problem = difference(self.words, words)
        if problem:
            raise Untranslated(problem)
        numbered = self._numbered(words)
        written = ""
        breaks = iter(self.breaks)
        end = 0
        for tag in TAG.finditer(words):
            piece = numbered.get(tag[3]) or self._piece(tag, translated)
            written += self._written(words[end : tag.start()], breaks) + piece
            end = tag.end()
        return written + self._written(words[end:], breaks)

    def _numbered(self, words: str) -> dict[str | None, str]:
        """Placeholders without numbers that come in another order, with numbers.

        Raises Untranslated where they can have none.
        """
        order = [tag for tag in _singles(self.words) if _UNNUMBERED.fullmatch(self._raw(tag))]
        if [tag for tag in _singles(words) if tag in order] == order:
            return {}
        if not self.can_number:
            raise Untranslated("placeholders without numbers would change places")
        return {tag: _with_number(self._raw(tag), place) for place, tag in enumerate(order)}

    def _raw(self, number: str) -> str:
        return "".join(part for part in self.singles[int(number)] if isinstance(part, str))

    def _written(self, words: str, breaks: Iterator[str]) -> str:
        first, *others = words.split(_BREAK) if self.breaks else [words]
        written = self.escape(first)
        for other in others:
            written += next(breaks) + self.escape(other)
        return written

    def _piece(self, tag: re.Match[str], translated: Callable[["Text"], str]) -> str:
        is_closing = bool(tag[1])
        parts = self.singles[int(tag[3])] if tag[3] else self.pairs[int(tag[2])][is_closing]
        return "".join(
            part.filled(translated) if isinstance(part, Text) else part for part in parts
        )


# Of a piece, as they are written: within an image, its description is a text.
Parts = tuple[str | Text, ...]


# %s, %5.1f, {}, {:,d}
_UNNUMBERED = re.compile(
    r"%[-+ #0']*\d*(?:\.\d+)?(?:hh?|ll?|[qjztL]|I64)?[diouxXeEfFgGaAcCsSp@](?:%%)?|\{(?:![rsa])?(?::[^{}]*)?\}"
)


def _singles(words: str) -> list[str]:
    return [tag[3] for tag in TAG.finditer(words) if tag[3]]


def _with_number(placeholder: str, place: int) -> str:
    if placeholder[0] == "%":
        return f"%{place + 1}${placeholder[1:]}"
    return f"{{{place}{placeholder[1:]}"


def difference(source: str, translation: str) -> str:
    """What of the pieces and line breaks of words their translation does not have; "" if it has all."""
    if not translation.strip() and source.strip():
        return "there is no translation"
    if source.count(_BREAK) != translation.count(_BREAK):
        return "a line break is missing or new"
    tags = [match[0] for match in TAG.finditer(source)]
    found = [match[0] for match in TAG.finditer(translation)]
    if Counter(tags) != Counter(found):
        return "a tag or placeholder is missing or doubled"
    return "" if is_nested(translation) else "tags are not well nested"


def is_nested(words: str) -> bool:
    """Whether each pair opens before it closes, and closes what was opened last."""
    opened: list[str] = []
    for tag in TAG.finditer(words):
        if tag[3] is not None:
            continue
        if not tag[1]:
            opened.append(tag[2])
        elif not opened or opened.pop() != tag[2]:
            return False
    return not opened


def without_tags(words: str) -> str:
    """The words alone."""
    return TAG.sub("", words)


class Writer:
    """Makes a text of words and pieces as they come."""

    def __init__(self, escape: Escape = as_it_is) -> None:
        self._escape = escape
        self._pending = ""  # words, in which a tag may still become whole
        self._written: list[str] = []
        # Of each: its place in `_written`, what opened it, its name.
        self._opened: list[tuple[int, Parts, str]] = []
        self._number = 0
        self._pairs: dict[int, tuple[Parts, Parts]] = {}
        self._singles: dict[int, Parts] = {}
        self._breaks: list[str] = []

    def writes(self, words: str) -> str:
        """How words will be written."""
        return self._escape(words)

    def words(self, words: str) -> None:
        """Add words; what looks like a tag of ours is a piece."""
        self._pending += words

    def _add_pending(self) -> None:
        words, self._pending = self._pending, ""
        end = 0
        for tag in TAG.finditer(words):
            self._written.append(words[end : tag.start()])
            self._add_single((self._escape(tag[0]),))
            end = tag.end()
        self._written.append(words[end:])

    def line_break(self, raw: str) -> None:
        """Add a line break that has to stay, as it is written."""
        self._add_pending()
        self._breaks.append(raw)
        self._written.append(_BREAK)

    def single(self, *parts: str | Text) -> None:
        """Add a piece that encloses nothing: a placeholder, an image, code."""
        self._add_pending()
        self._add_single(parts)

    def _add_single(self, parts: Parts) -> None:
        self._number += 1
        self._singles[self._number] = parts
        self._written.append(f"<x{self._number}/>")

    def open(self, raw: str | Parts, name: str) -> None:
        """Add what opens a pair of this name; without its partner it will be a single piece."""
        self._add_pending()
        parts = (raw,) if isinstance(raw, str) else raw
        self._opened.append((len(self._written), parts, name))
        self._add_single(parts)

    def close(self, raw: str | Parts, name: str) -> None:
        """Add what closes the pair of this name that was opened last."""
        self._add_pending()
        parts = (raw,) if isinstance(raw, str) else raw
        while any(name == other for _, _, other in self._opened):
            place, opening, other = self._opened.pop()
            if other == name:
                number = int(self._written[place][2:-2])
                del self._singles[number]
                self._pairs[number] = (opening, parts)
                self._written[place] = f"<g{number}>"
                self._written.append(f"</g{number}>")
                return
        self._add_single(parts)

    def text(self, can_number: bool = False) -> Text:
        """What has been added."""
        self._add_pending()
        words = "".join(self._written)
        breaks = tuple(self._breaks)
        return Text(words, self._pairs, self._singles, self._escape, breaks, can_number)


def plain(words: str, escape: Escape = as_it_is) -> Text:
    """A text without pieces."""
    writer = Writer(escape)
    writer.words(words)
    return writer.text()


def has_words(words: str) -> bool:
    """Whether there is something to translate: letters outside of tags."""
    return any(map(str.isalpha, without_tags(words)))


def joined(lines: Sequence[str]) -> str:
    """Lines of one paragraph as one line."""
    return re.sub(r"\s+", " ", " ".join(lines)).strip()

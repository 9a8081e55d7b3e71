"""HTML and XHTML: the text of each block is one unit, with its inline elements in it.

Scripts, styles, code, templates and comments stay, and whatever says translate="no". Of attributes, those that people
read are translated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import pairwise

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit, Write, replacing
from nmt.documents.markup import Attribute, Token, escape_attribute, escape_xml, tokens
from nmt.documents.text import Parts, Text, Writer, has_words, plain

_RAW = frozenset(("script", "style", "textarea", "xmp"))
# Nothing within is translated. Those that stand within sentences are pieces of them.
_KEPT_BLOCKS = frozenset(("pre", "template", "svg", "math", "noembed", *_RAW))
_KEPT_INLINE = frozenset(("code", "kbd", "samp", "var", "tt", "svg", "math", "script"))
_INLINE = frozenset(
    [
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "br",
            "cite",
            "del",
            "dfn",
            "em",
            "font",
        ),
        *(
            "i",
            "img",
            "input",
            "ins",
            "label",
            "mark",
            "q",
            "rp",
            "rt",
            "ruby",
            "s",
            "small",
            "span",
        ),
        *("strike", "strong", "sub", "sup", "time", "u", "wbr", *_KEPT_INLINE),
    ]
)
_VOID = frozenset(
    [
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    ]
)
_READ = (
    "alt",
    "title",
    "placeholder",
    "aria-label",
    "aria-description",
    "label",
    "summary",
    "caption",
    "description",
    "heading",
    "subtitle",
)
_META = re.compile(r"description|(?:og|twitter):(?:title|description|image:alt)")
_BUTTONS = ("submit", "button", "reset")
# Of Jinja, Liquid, Vue, Handlebars, ERB
_TEMPLATE = re.compile(
    r"\{\{(?:(?!\}\})[\s\S]){0,999}\}\}|\{[%#](?:(?![%#]\})[\s\S]){0,999}[%#]\}|<%(?:(?!%>)[\s\S]){0,999}%>"
)
_MOST_ENCLOSING = 20  # pairs around a text that are looked at
_SPACE = re.compile(r"[ \t\r\n\f]+")
# Where a second language may stand below the first.
_FLOW = frozenset(
    ("p", "li", "td", "th", "dd", "dt", "div", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
)


@dataclass(frozen=True)
class _Item:
    """A token, or an element that stays as a whole."""

    kind: str  # text, open, close, single
    name: str
    start: int
    end: int
    token: Token | None = None


def read(text: str, asked: Asked) -> Document:
    """The texts of a page."""
    return _Page(text, asked).document()


class _Page:
    def __init__(self, text: str, asked: Asked) -> None:
        self._text = text
        self._asked = asked
        self._units: list[Unit] = []
        self._about: list[Edit] = []
        self._block = ""  # the element that was opened last and is no inline one

    def document(self) -> Document:
        run: list[_Item] = []
        for item in self._items():
            if item.kind == "text" or self._is_inline(item.name):
                run.append(item)
                continue
            self._take_run(run)
            run = []
            self._take_block(item)
        self._take_run(run)
        return Document(self._text, self._units, self._about)

    # --- items ---

    def _items(self) -> Iterator[_Item]:
        stream = tokens(self._text, _RAW)
        for token in stream:
            name = token.name.lower()
            if token.kind == "open" and self._is_kept(token, name):
                yield self._kept(token, name, stream)
            elif token.kind in ("open", "close"):
                is_void = name in _VOID
                yield _Item(
                    "single" if is_void else token.kind, name, token.start, token.end, token
                )
            elif token.kind == "text":
                yield _Item("text", "", token.start, token.end)
            else:
                yield _Item("single", name, token.start, token.end, token)

    def _is_inline(self, name: str) -> bool:
        return name in _INLINE or name == "" or name in self._asked.inline_tags

    def _is_kept(self, token: Token, name: str) -> bool:
        if name in _KEPT_BLOCKS or name in _KEPT_INLINE or name in self._asked.kept_tags:
            return True
        if name in _VOID or name == "html":
            return False
        attributes = token.attributes(self._text)
        classes = attributes["class"].value.split() if "class" in attributes else []
        said = attributes.get("lang") or attributes.get("xml:lang")
        if said is not None and not said.value.lower().startswith("en"):
            return True
        says_no = "translate" in attributes and attributes["translate"].value.lower() == "no"
        return says_no or "notranslate" in classes

    def _kept(self, opening: Token, name: str, stream: Iterator[Token]) -> _Item:
        """An element that stays, up to what closes it."""
        depth = 1
        end = opening.end
        for token in stream:
            end = token.end
            if token.name.lower() == name:
                depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if depth == 0:
                break
        in_sentences = "" if name in self._asked.kept_tags else name
        is_inline = self._is_inline(in_sentences)
        read = opening if name == "textarea" else None  # its placeholder
        called = in_sentences if is_inline else f"kept {name}"
        return _Item("single", called, opening.start, end, read)

    # --- units ---

    def _take_block(self, item: _Item) -> None:
        if item.kind == "open":
            self._block = item.name
        if item.token is None or item.kind == "close":
            return
        attributes = item.token.attributes(self._text)
        for name in self._names_to_read(item.name, attributes):
            value = attributes[name]
            if has_words(value.value):
                unit = plain(value.value, escape_attribute)
                write = replacing(value.start, value.end)
                self._units.append(Unit(f"{item.name}@{name}", value.start, (unit,), write))
        if item.name == "html":
            for name in ("lang", "xml:lang"):
                if name in attributes and attributes[name].value.lower().startswith("en"):
                    value = attributes[name]
                    self._about.append(Edit(value.start, value.end, self._asked.locale))

    @staticmethod
    def _names_to_read(tag: str, attributes: dict[str, Attribute]) -> list[str]:
        names = [name for name in _READ if name in attributes]
        kind = attributes.get("name") or attributes.get("property")
        if tag == "meta":
            return (
                ["content"]
                if kind and "content" in attributes and _META.fullmatch(kind.value)
                else []
            )
        is_button = "type" in attributes and attributes["type"].value.lower() in _BUTTONS
        return (
            [*names, "value"] if tag == "input" and is_button and "value" in attributes else names
        )

    def _take_run(self, run: Sequence[_Item]) -> None:
        first, behind = self._inner(run)
        for item in [*run[:first], *run[behind:]]:
            if item.token is not None:
                self._take_block(_Item("single", item.name, item.start, item.end, item.token))
        if first == behind:
            return
        items = run[first:behind]
        start, end = self._trimmed(items)
        text = self._as_text(items, start, end)
        if has_words(text.words):
            self._units.append(Unit(self._block, start, (text,), self._writes(start, end)))

    def _inner(self, run: Sequence[_Item]) -> tuple[int, int]:
        """The part of a run without pieces and blanks at its ends, and without pairs around all of it."""
        first, behind = 0, len(run)
        for _ in range(_MOST_ENCLOSING):
            while first < behind and self._is_outside(run[first]):
                first += 1
            while first < behind and self._is_outside(run[behind - 1]):
                behind -= 1
            if first == behind or not _is_enclosed(run[first:behind]):
                break
            first, behind = first + 1, behind - 1
        return first, behind

    def _is_outside(self, item: _Item) -> bool:
        if item.kind == "single":
            return True
        return item.kind == "text" and not self._text[item.start : item.end].strip()

    def _trimmed(self, items: Sequence[_Item]) -> tuple[int, int]:
        """From the first to behind the last character that is no space."""
        start, end = items[0].start, items[-1].end
        whole = self._text[start:end]
        return start + len(whole) - len(whole.lstrip()), end - len(whole) + len(whole.rstrip())

    def _as_text(self, items: Sequence[_Item], start: int, end: int) -> Text:
        writer = Writer(_escape)
        depth = 0
        for item in items:
            raw = self._text[max(item.start, start) : min(item.end, end)]
            if item.kind == "text":
                _add_words(writer, raw)
            elif item.kind == "open":
                depth += 1
                writer.open(self._parts(item, raw), item.name)
            elif item.kind == "close":
                depth -= 1
                writer.close(raw, item.name)
            elif item.name == "br" and depth == 0:
                writer.line_break(raw)
            else:
                writer.single(*self._parts(item, raw))
        return writer.text()

    def _parts(self, item: _Item, raw: str) -> Parts:
        """A tag as it is written, with the attributes that people read as texts."""
        if item.token is None:
            return (raw,)
        attributes = item.token.attributes(self._text)
        values = sorted(attributes[name] for name in self._names_to_read(item.name, attributes))
        parts: list[str | Text] = []
        end = item.start
        for value in sorted(values, key=lambda value: value.start):
            if has_words(value.value):
                parts += [self._text[end : value.start], plain(value.value, escape_attribute)]
                end = value.end
        return (*parts, self._text[end : item.end])

    def _writes(self, start: int, end: int) -> Write:
        if self._asked.bilingual and self._block in _FLOW:
            return lambda texts: [Edit(end, end, f"<br/>{texts[0]}")]
        return replacing(start, end)


def tags_in_sentences(text: str) -> frozenset[str]:
    """The names of tags that have words beside them somewhere: in XML, the names alone do not tell."""
    found = set()
    for before, behind in pairwise(tokens(text, _RAW)):
        if behind.kind in ("open", "empty") and _has_words(before, text):
            found.add(behind.name.lower())
        if before.kind in ("close", "empty") and _has_words(behind, text):
            found.add(before.name.lower())
    return frozenset(found)


def _has_words(token: Token, text: str) -> bool:
    return token.kind == "text" and not token.raw(text).isspace()


def _is_enclosed(items: Sequence[_Item]) -> bool:
    """Whether the first item opens what the last one closes."""
    first, last = items[0], items[-1]
    if (first.kind, last.kind) != ("open", "close") or first.name != last.name:
        return False
    depth = 0
    for item in items[:-1]:
        if item.name == first.name:
            depth += {"open": 1, "close": -1}.get(item.kind, 0)
        if depth == 0:
            return False
    return True


def _add_words(writer: Writer, raw: str) -> None:
    """Add text between tags; what a template engine replaces is a piece."""
    end = 0
    for match in _TEMPLATE.finditer(raw):
        writer.words(_words(raw[end : match.start()]))
        writer.single(match[0])
        end = match.end()
    writer.words(_words(raw[end:]))


def _words(raw: str) -> str:
    return _SPACE.sub(" ", unescape(raw))


def _escape(words: str) -> str:
    return escape_xml(words).replace("\u00a0", "&#160;")

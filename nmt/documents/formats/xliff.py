"""XLIFF 1.2 and 2.0, and what the other formats of XML share with it.

Facts are those of the OASIS specifications. What nmt wrote is "needs-review-translation" in 1.2, and "translated" in
2.0, which has "reviewed" and "final" for what a person has looked at.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape

from nmt.documents import icu, placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.markup import Attribute, Token, escape_xml, refuse_broken_xml, tokens
from nmt.documents.text import TAG, Escape, Text, Writer, has_words
from nmt.errors import DataError

Put = Callable[[str], str]  # puts what encloses a text around its translation

_SPACE = re.compile(r"[ \t\r\n]+")
_ICU = re.compile(r"\{\s{0,20}\w{1,60}\s{0,20},\s{0,20}(?:plural|select|selectordinal)\s{0,20},")
_PATTERN = placeholders.message_pattern(
    placeholders.PYTHON,
    placeholders.MUSTACHE,
    placeholders.RUBY,
    placeholders.DOLLAR,
    r"\{ [\w.]{0,60} \}",
    placeholders.LIKELY_PRINTF,
)
_OPENING = ("bx", "bpt", "sc", "sm")
_CLOSING = ("ex", "ept", "ec", "em")
_SINGLES = frozenset([*_OPENING, *_CLOSING, "x", "ph", "it", "cp"])
_ANGULAR = re.compile(r"(START|CLOSE)_(\w+?)(?:_\d+)?")  # <x id="START_LINK_1"/>
_UNTRANSLATED = ("new", "needs-translation", "initial")  # states of targets that are no translation


@dataclass
class Element:
    """An element of XML; what it has within are `tokens[first:last]` of its `Xml`.

    `parent` is its place among the elements of the `Xml`, -1 for the root.
    """

    name: str  # without its prefix
    parent: int
    opening: Token
    closing: Token  # the same as `opening` for <br/>
    attributes: dict[str, Attribute]  # by name in lower case
    first: int
    last: int
    children: list["Element"] = field(default_factory=list)

    @property
    def start(self) -> int:
        """Where its opening tag begins."""
        return self.opening.start

    @property
    def end(self) -> int:
        """Where its closing tag ends."""
        return self.closing.end

    def attribute(self, name: str) -> str:
        """The value of an attribute, "" if there is none."""
        return self.attributes[name].value if name in self.attributes else ""

    def child(self, name: str) -> "Element | None":
        """The first child of a name."""
        return next((child for child in self.children if child.name == name), None)


class Xml:
    """The tokens and elements of a text, in order. Raises DataError for XML that is broken or declares entities."""

    def __init__(self, text: str) -> None:
        refuse_broken_xml(text)
        self.text = text
        self.tokens = list(tokens(text))
        self.elements: list[Element] = []
        self.at: dict[int, Element] = {}  # by the place of the opening tag among the tokens
        self.eol = "\r\n" if "\r\n" in text[:10000] else "\n"
        opened: list[int] = []
        for place, token in enumerate(self.tokens):
            if token.kind in ("open", "empty"):
                self._open(token, place, opened)
            elif token.kind == "close":
                self._close(token, place, opened)
        if opened or not self.elements:
            raise DataError("line 1: a tag is too long, or an element is not closed")

    def _open(self, token: Token, place: int, opened: list[int]) -> None:
        name = token.name.rpartition(":")[2]
        parent = opened[-1] if opened else -1
        attributes = token.attributes(self.text)
        element = Element(name, parent, token, token, attributes, place + 1, place + 1)
        if opened:
            self.elements[parent].children.append(element)
        if token.kind == "open":
            opened.append(len(self.elements))
        self.elements.append(element)
        self.at[place] = element

    def _close(self, token: Token, place: int, opened: list[int]) -> None:
        element = self.elements[opened.pop()] if opened else None
        if element is None or element.opening.name != token.name:
            line = self.text.count("\n", 0, token.start) + 1
            raise DataError(f"line {line}: </{token.name}> closes another element")
        element.last = place
        element.closing = token

    def inside(self, element: Element) -> list[Token]:
        """The tokens of an element, without its own tags."""
        return self.tokens[element.first : element.last]

    def words(self, element: Element) -> str:
        """The words of an element, unescaped, in one line and without tags."""
        parts = [self.unescaped(token) for token in self.inside(element)]
        return _SPACE.sub(" ", "".join(parts)).strip()

    def unescaped(self, token: Token) -> str:
        """The words of a token; a tag has none."""
        raw = token.raw(self.text)
        if token.kind == "cdata":
            return raw[9:-3]
        return unescape(raw) if token.kind == "text" else ""

    def white_before(self, element: Element) -> int:
        """Where the white space before an element begins."""
        before = self.tokens[element.first - 2] if element.first > 1 else None
        if before is None or before.kind != "text":
            return element.start
        return before.start + len(before.raw(self.text).rstrip())

    def only_cdata(self, element: Element) -> Token | None:
        """The section of CDATA that is all an element has."""
        found = [token for token in self.inside(element) if token.raw(self.text).strip()]
        return found[0] if len(found) == 1 and found[0].kind == "cdata" else None

    def refilled(self, element: Element, content: str) -> Edit:
        """The edit that gives an element another content, written as XML."""
        if element.closing is not element.opening:
            return Edit(element.opening.end, element.closing.start, content)
        tag = element.opening.raw(self.text)
        start = element.start + len(tag[:-2].rstrip())
        return Edit(start, element.end, f">{content}</{element.opening.name}>")

    def with_attribute(self, element: Element, name: str, value: str) -> Edit:
        """The edit that sets or adds an attribute; `value` needs no escapes."""
        found = element.attributes.get(name.lower())
        if found:
            return Edit(found.start, found.end, value)
        behind_name = element.start + 1 + len(element.opening.name)
        at = max([behind_name, *(other.end + 1 for other in element.attributes.values())])
        return Edit(at, at, f' {name}="{value}"')

    def with_language(self, element: Element, name: str, locale: str) -> list[Edit]:
        """The edit that names the language in an attribute; what speaks of Chinese already stays."""
        if element.attribute(name.lower()).lower().startswith("zh"):
            return []
        return [self.with_attribute(element, name, locale)]


def within_cdata(words: str) -> str:
    """Words as a section of CDATA has them."""
    return words.replace("]]>", "]]]]><![CDATA[>")


def enclosed(text: Text) -> tuple[Text, Put]:
    """A text without the white space and pairs that enclose it as a whole, and what puts these around it."""
    words = text.words
    tags = list(TAG.finditer(words))
    start, end = _within(words, 0, len(words))
    for first, last in zip(tags[: len(tags) // 2], reversed(tags), strict=False):
        is_pair = bool(first[2] and last[1]) and not first[1] and first[2] == last[2]
        if not is_pair or first.start() != start or last.end() != end:
            break
        start, end = _within(words, first.end(), last.start())
    head = words.count("\n", 0, start)
    tail = len(text.breaks) - words.count("\n", end)
    inner = replace(text, words=words[start:end], breaks=text.breaks[head:tail])
    around = words[:start] + "<x0/>" + words[end:]
    breaks = text.breaks[:head] + text.breaks[tail:]

    def put(filled: str) -> str:
        singles = {**text.singles, 0: (filled,)}
        whole = replace(text, words=around, singles=singles, breaks=breaks)
        return whole.filled(lambda leaf: leaf.words)

    return inner, put


def _within(words: str, start: int, end: int) -> tuple[int, int]:
    """Where words begin and end without the white space around them."""
    while start < end and words[start].isspace():
        start += 1
    while start < end and words[end - 1].isspace():
        end -= 1
    return start, end


def read(text: str, asked: Asked) -> Document:
    """The units of a file of either version. Raises DataError for what is no XLIFF."""
    xml = Xml(text)
    if xml.elements[0].name != "xliff":
        raise DataError(f"the root is <{xml.elements[0].name}>, where XLIFF has <xliff>")
    units = list(_units(xml))
    about: list[Edit] = []
    for element in xml.elements:
        if element.name == "file" and not _is_second(xml):
            about += xml.with_language(element, "target-language", asked.locale)
    if _is_second(xml):
        about += xml.with_language(xml.elements[0], "trgLang", asked.locale)
    return Document(text, units, about)


def _is_second(xml: Xml) -> bool:
    return xml.elements[0].attribute("version").startswith("2")


def _units(xml: Xml) -> Iterator[Unit]:
    translate = _inherited(xml, "translate")
    space = _inherited(xml, "xml:space")
    language = _inherited(xml, "trglang" if _is_second(xml) else "target-language")
    name = "unit" if _is_second(xml) else "trans-unit"
    end = 0
    for place, element in enumerate(xml.elements):
        if element.name != name or element.start < end or translate[place] == "no":
            continue
        end = element.end
        holders = [element]
        if name == "unit":
            holders = [child for child in element.children if child.name == "segment"]
        context = _notes(xml, element)
        for holder in holders:
            unit = _unit(xml, element, holder, space[place] == "preserve")
            if unit is not None:
                is_english = language[place].lower().startswith("en")  # its targets are copies
                existing = "" if is_english else unit.existing
                yield replace(unit, context=context, existing=existing)


def _inherited(xml: Xml, name: str) -> list[str]:
    """The value of an attribute for each element, its own or of what it is in."""
    values: list[str] = []
    for element in xml.elements:
        above = values[element.parent] if element.parent >= 0 else ""
        values.append(element.attribute(name) or above)
    return values


def _notes(xml: Xml, element: Element) -> str:
    notes = element.child("notes") or element
    return "\n".join(xml.words(note) for note in notes.children if note.name == "note")


def _unit(xml: Xml, element: Element, holder: Element, is_preserved: bool) -> Unit | None:
    """The unit of a <trans-unit> or <segment>."""
    source = holder.child("seg-source") or holder.child("source")
    target = holder.child("target")
    if source is None:
        return None
    texts, put = _texts(xml, source, is_preserved)
    if not any(has_words(text.words) for text in texts):
        return None
    state = (holder if _is_second(xml) else target or holder).attribute("state")
    key = [element.attribute("resname") or element.attribute("id")]
    key += [holder.attribute("id")] if holder is not element else []
    return Unit(
        name="/".join(filter(None, key)),
        start=source.start,
        texts=texts,
        write=lambda filled: _edits(xml, holder, source, target, put(filled)),
        existing=xml.words(target) if target and state not in _UNTRANSLATED else "",
    )


def _edits(
    xml: Xml, holder: Element, source: Element, target: Element | None, content: str
) -> Sequence[Edit]:
    is_second = _is_second(xml)
    state = ("state", "translated" if is_second else "needs-review-translation")
    edits = []
    if is_second:
        edits.append(xml.with_attribute(holder, *state))
    elif holder.attribute("approved") == "yes":
        edits.append(xml.with_attribute(holder, "approved", "no"))
    if target is None:
        name = source.opening.name.replace("seg-source", "source").replace("source", "target")
        white = xml.text[xml.white_before(source) : source.start]
        said = "" if is_second else f' {state[0]}="{state[1]}"'
        written = f"{white}<{name}{said}>{content}</{name}>"
        return [*edits, Edit(source.end, source.end, written)]
    if not is_second:
        edits.append(xml.with_attribute(target, *state))
    if "state-qualifier" in target.attributes:
        edits.append(xml.with_attribute(target, "state-qualifier", "mt-suggestion"))
    return [*edits, xml.refilled(target, content)]


# --- the text of a source ---


def _texts(
    xml: Xml, source: Element, is_preserved: bool
) -> tuple[tuple[Text, ...], Callable[[Sequence[str]], str]]:
    """What is translated of a source; nothing of a MessageFormat that has codes within."""
    text, put = _source(xml, source, is_preserved)
    if _ICU.search(text.words) is None:
        return (text,), lambda filled: put(filled[0])
    message = icu.read(xml.words(source)) if source.last - source.first == 1 else None
    if message is None:
        return (), "".join
    return message.texts, lambda filled: escape_xml(message.written(filled))


def _source(xml: Xml, source: Element, is_preserved: bool) -> tuple[Text, Put]:
    line_break = xml.eol if is_preserved else "&#10;"
    cdata = xml.only_cdata(source)

    def escape(words: str) -> str:
        return escape_xml(words).replace("\n", line_break)

    if cdata is None:
        writer = Writer(escape)
        place = source.first
        while place < source.last:
            place = _add(writer, xml, place, is_preserved, escape)
        return enclosed(writer.text())
    writer = Writer(within_cdata)
    _add_words(writer, xml, cdata, is_preserved, within_cdata)
    text, put = enclosed(writer.text())
    before = xml.text[source.opening.end : cdata.start]
    after = xml.text[cdata.end : source.closing.start]
    return text, lambda filled: f"{before}<![CDATA[{put(filled)}]]>{after}"


def _add(writer: Writer, xml: Xml, place: int, is_preserved: bool, escape: Escape) -> int:
    """Add the token at a place, or the whole element that begins there. Returns the place behind."""
    token = xml.tokens[place]
    raw = token.raw(xml.text)
    if token.kind in ("text", "cdata"):
        _add_words(writer, xml, token, is_preserved, escape)
    elif token.kind == "close":
        writer.close(raw, f"<{token.name}")
    elif token.kind in ("open", "empty"):
        element = xml.at[place]
        is_kept = (
            element.attribute("mtype") == "protected" or element.attribute("translate") == "no"
        )
        if element.name in _SINGLES or is_kept:
            _add_code(writer, element, xml.text[element.start : element.end])
            return element.last + (token.kind == "open")
        if token.kind == "open":
            writer.open(raw, f"<{token.name}")
        else:
            writer.single(raw)
    else:
        writer.single(raw)
    return place + 1


def _add_words(writer: Writer, xml: Xml, token: Token, is_preserved: bool, escape: Escape) -> None:
    raw = token.raw(xml.text)
    if is_preserved:
        words = xml.unescaped(token).replace("\r\n", "\n")
    elif token.kind == "cdata":
        words = _SPACE.sub(" ", xml.unescaped(token))
    else:
        words = unescape(_SPACE.sub(" ", raw))
    placeholders.add_message(writer, words, _PATTERN, escape)


def _add_code(writer: Writer, element: Element, raw: str) -> None:
    """Add a code of inline markup: one that opens, closes, or stands for itself."""
    name = element.attribute("rid") or element.attribute("startref") or element.attribute("id")
    angular = _ANGULAR.fullmatch(element.attribute("id")) if element.name == "x" else None
    if element.attribute("isolated") == "yes":
        writer.single(raw)
    elif angular:
        (writer.open if angular[1] == "START" else writer.close)(raw, f"x {angular[2]}")
    elif element.name in _OPENING:
        writer.open(raw, f"code {name}")
    elif element.name in _CLOSING:
        writer.close(raw, f"code {name}")
    else:
        writer.single(raw)

"""XLIFF 1.2 and 2.0.

Facts are those of the OASIS specifications. What nmt wrote is "needs-review-translation" in 1.2, and "translated" in
2.0, which has "reviewed" and "final" for what a person has looked at.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape

from nmt.documents import icu, placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.enclosed import Put, enclosed
from nmt.documents.markup import Token, escape_xml
from nmt.documents.text import Escape, Text, Writer, has_words
from nmt.documents.xml import Element, Xml, within_cdata
from nmt.errors import DataError

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
    problem = "" if texts else "plurals or choices with codes within"
    texts = texts or _source(xml, source, is_preserved)[:1]
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
        problem=problem,
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

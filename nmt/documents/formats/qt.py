"""Qt's .ts. What nmt wrote stays "unfinished": `lrelease` takes it, and Qt Linguist shows it to people.

Chinese has one form of a numerus. What is obsolete or vanished is left.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nmt.documents import placeholders
from nmt.documents.accelerators import with_key, without_key
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.enclosed import Put, enclosed
from nmt.documents.markup import escape_xml
from nmt.documents.text import Text, Writer, has_words
from nmt.documents.wrapping import unwrapped
from nmt.documents.xml import Element, Xml
from nmt.errors import DataError

_PATTERN = placeholders.message_pattern(
    placeholders.QT,
    placeholders.LIKELY_PRINTF,
    r"\{ [\w.]{0,60} \}",
    r"& (?: \# \w{1,7} | [A-Za-z] \w{1,31} ) ;",  # of HTML within a message
)
_SHORTCUT = re.compile(r"(?:(?:Ctrl|Alt|Shift|Meta)\+){1,4}\w{1,9}")
_LEFT = ("vanished", "obsolete")


def read(text: str, asked: Asked) -> Document:
    """The messages of a catalogue. Raises DataError for what has another root."""
    xml = Xml(text)
    root = xml.elements[0]
    if root.name != "TS":
        raise DataError(f"the root is <{root.name}>, where Qt has <TS>")
    about = xml.with_language(root, "language", asked.locale.replace("-", "_"))
    return Document(text, list(_units(xml)), about)


def _units(xml: Xml) -> Iterator[Unit]:
    is_english = xml.elements[0].attribute("language").lower().startswith("en")
    context = ""
    end = 0
    for element in xml.elements:
        if element.name == "context":
            context = ""
        elif element.name == "name" and not context:
            context = xml.words(element)
        elif element.name == "message" and element.start >= end:
            end = element.end
            unit = _unit(xml, element, context)
            if unit is not None:
                # translations into English are forms of the source
                yield replace(unit, existing="") if is_english else unit


def _unit(xml: Xml, message: Element, context: str) -> Unit | None:
    source = message.child("source")
    translation = message.child("translation")
    if source is None or translation is None or translation.attribute("type") in _LEFT:
        return None
    forms = [child for child in translation.children if child.name == "numerusform"]
    if translation.child("lengthvariant") or any(form.children for form in forms):
        return None
    text, put, key = _text(xml, source)
    if not has_words(text.words) or _SHORTCUT.fullmatch(text.words):
        return None
    is_numerus = message.attribute("numerus") == "yes"
    values = [xml.words(form) for form in forms] if is_numerus else [xml.words(translation)]
    notes = [message.child(name) for name in ("comment", "extracomment")]
    return Unit(
        name=message.attribute("id") or xml.words(source),
        start=source.start,
        texts=(text,),
        write=lambda texts: _edits(
            xml, translation, forms if is_numerus else None, with_key(put(texts[0]), key)
        ),
        existing=values[0] if values and all(values) else "",
        context="\n".join([context, *(xml.words(note) for note in notes if note)]).strip(),
    )


def _text(xml: Xml, source: Element) -> tuple[Text, Put, str]:
    """The text of a source, what encloses it, and its key as it is written, such as "&amp;F"."""
    writer = Writer(lambda words: _escape(words, xml.eol))
    key = ""
    for token in xml.inside(source):
        if token.kind not in ("text", "cdata"):
            writer.single(token.raw(xml.text))  # <byte value="x1b"/>
            continue
        words = unwrapped(xml.unescaped(token).replace("\r\n", "\n"))
        if source.last - source.first == 1 and "<" not in words and ";" not in words:
            words, key = without_key(words, "&")
        placeholders.add_message(writer, words, _PATTERN, lambda piece: _escape(piece, xml.eol))
    return *enclosed(writer.text()), escape_xml(key)


def _escape(words: str, eol: str) -> str:
    """Words as Qt Linguist writes them."""
    written = escape_xml(words).replace('"', "&quot;").replace("'", "&apos;")
    return written.replace("\n", eol)


def _edits(
    xml: Xml, translation: Element, forms: Sequence[Element] | None, written: str
) -> list[Edit]:
    """The edits that put in a translation; `forms` are those of a numerus, None for another message."""
    edits = []
    if translation.attribute("type") != "unfinished":
        edits.append(xml.with_attribute(translation, "type", "unfinished"))
    if forms is None:
        return [*edits, xml.refilled(translation, written)]
    if not forms:
        form = f"<numerusform>{written}</numerusform>"
        return [*edits, xml.refilled(translation, form)]
    edits.append(xml.refilled(forms[0], written))
    return edits + [Edit(xml.white_before(form), form.end, "") for form in forms[1:]]

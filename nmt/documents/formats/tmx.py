"""TMX as a list of what is to translate: units in English get a Chinese variant if they have none.

TMX cannot say that a translation needs review. Facts are those of LISA's specification, TMX 1.4b.
"""

import re
from collections.abc import Callable, Sequence

from nmt.documents import icu
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.enclosed import enclosed
from nmt.documents.markup import escape_xml
from nmt.documents.messages import ANY
from nmt.documents.placeholders import add_message
from nmt.documents.text import Text, Writer, has_words
from nmt.documents.wrapping import unwrapped
from nmt.documents.xml import Element, Xml
from nmt.errors import DataError

_ENGLISH = re.compile(r"en(?![a-z])", re.IGNORECASE)
_CHINESE = re.compile(r"zh(?![a-z])", re.IGNORECASE)
_TRADITIONAL = re.compile(r"zh[-_](?:tw|hk|mo|hant)", re.IGNORECASE)
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))  # what is in these is code of another format


def read(text: str, asked: Asked) -> Document:
    """The units that have English. Raises DataError for what has another root."""
    xml = Xml(text)
    root = xml.elements[0]
    if root.name != "tmx":
        raise DataError(f"the root is <{root.name}>, where TMX has <tmx>")
    found = (_unit(xml, tu, asked.locale) for tu in xml.elements if tu.name == "tu")
    return Document(text, [unit for unit in found if unit])


def _unit(xml: Xml, tu: Element, locale: str) -> Unit | None:
    variants = [child for child in tu.children if child.name == "tuv" and child.child("seg")]
    english = next((tuv for tuv in variants if _ENGLISH.match(_language(tuv))), None)
    source = english.child("seg") if english else None
    if english is None or source is None:
        return None
    chinese = next((tuv for tuv in variants if _is_of(_language(tuv), locale)), None)
    target = chinese.child("seg") if chinese else None
    texts, put = _texts(xml, source)
    if not any(has_words(text.words) for text in texts):
        return None

    def write(filled: Sequence[str]) -> list[Edit]:
        if target is not None:
            return [xml.refilled(target, put(filled))]
        written = _variant(xml, english, source, locale, put(filled))
        return [Edit(variants[-1].end, variants[-1].end, written)]

    return Unit(
        tu.attribute("tuid"),
        source.start,
        texts,
        write,
        existing=xml.words(target) if target else "",
        context="\n".join(xml.words(note) for note in tu.children if note.name == "note"),
    )


def _language(tuv: Element) -> str:
    return tuv.attribute("xml:lang") or tuv.attribute("lang")  # before TMX 1.2


def _is_of(language: str, locale: str) -> bool:
    """Whether a language is Chinese in the script of a locale."""
    is_traditional = [_TRADITIONAL.match(name) is not None for name in (language, locale)]
    return _CHINESE.match(language) is not None and len(set(is_traditional)) == 1


def _variant(xml: Xml, english: Element, source: Element, locale: str, content: str) -> str:
    """A variant that is indented as the English one."""
    before = xml.text[xml.white_before(english) : english.start]
    within = xml.text[xml.white_before(source) : source.start]
    behind = xml.text[source.end : english.closing.start]
    behind = "" if behind.strip() else behind
    tuv, seg = english.opening.name, source.opening.name
    lang = "xml:lang" if "xml:lang" in english.attributes else "lang"
    return f'{before}<{tuv} {lang}="{locale}">{within}<{seg}>{content}</{seg}>{behind}</{tuv}>'


# --- the text of a segment ---


def _texts(xml: Xml, source: Element) -> tuple[tuple[Text, ...], Callable[[Sequence[str]], str]]:
    """What is translated of a segment; nothing of a MessageFormat that has codes within."""
    message = icu.read(xml.words(source))
    if message is not None:
        texts = () if source.children else message.texts
        return texts, lambda filled: escape_xml(message.written(filled))
    writer = Writer(lambda words: _escape(words, xml.eol))
    place = source.first
    while place < source.last:
        place = _add(writer, xml, place)
    text, put = enclosed(writer.text())
    return (text,), lambda filled: put(filled[0])


def _add(writer: Writer, xml: Xml, place: int) -> int:
    """Add the token at a place, or the whole code that begins there. Returns the place behind."""
    token = xml.tokens[place]
    raw = token.raw(xml.text)
    if token.kind in ("text", "cdata"):
        words = unwrapped(xml.unescaped(token).replace("\r\n", "\n"))
        add_message(writer, words, ANY, lambda piece: _escape(piece, xml.eol))
    elif token.kind == "close":
        writer.close(raw, f"<{token.name}")
    elif token.kind in ("open", "empty") and xml.at[place].name in _CODES:
        element = xml.at[place]
        _add_code(writer, element, xml.text[element.start : element.end])
        return element.last + (token.kind == "open")
    elif token.kind == "open":
        writer.open(raw, f"<{token.name}")  # <hi>
    else:
        writer.single(raw)
    return place + 1


def _add_code(writer: Writer, element: Element, raw: str) -> None:
    """Add a code: <bpt> and <ept> with the same `i` are a pair."""
    name = f"code {element.attribute('i')}"
    if element.name == "bpt":
        writer.open(raw, name)
    elif element.name == "ept":
        writer.close(raw, name)
    else:
        writer.single(raw)


def _escape(words: str, eol: str) -> str:
    return escape_xml(words).replace("\n", eol)

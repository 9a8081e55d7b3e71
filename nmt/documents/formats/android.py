"""Android's strings.xml: strings, arrays of strings and plurals, of which Chinese has "other" alone."""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from nmt.documents import placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.enclosed import Put, enclosed
from nmt.documents.markup import escape_xml
from nmt.documents.text import Escape, Text, Writer, has_words
from nmt.documents.xml import Element, Xml, within_cdata
from nmt.errors import DataError

_ESCAPE = r"(?: \\ u [\da-fA-F]{4} ){1,99} | \\ [\s\S]"
_JAVA = r"""
    % (?: \d{1,2}\$ )? [-+\#0,(]{0,5} \d{0,5} (?: \.\d{1,5} )? (?: [bBhHsScCdoxXeEfgGaAn] | [tT][a-zA-Z] ) (?: %% )?
"""
_PATTERN = placeholders.message_pattern(
    _ESCAPE,
    _JAVA,
    rf"(?! %\ ) (?: {placeholders.PRINTF} )",  # "100% sure" has no placeholder
    placeholders.DOLLAR,
    placeholders.MUSTACHE,
    r"\{ [\w.]{0,60} \}",
)
_SPACE = re.compile(r"[ \t\r\n]+")
_BLANKS = (" ", "\t", "\r", "\n", r"\n", r"\t", r"\u0020", r"\u00a0", r"\u00A0")
_REFERENCE = re.compile(r"@|\?[\w:.]{0,99}/")  # to another resource
_QUOTED = re.compile(r'"(?: [^"\\<] | \\. )*+"', re.VERBOSE | re.DOTALL)
_WRITTEN = str.maketrans({"\\": r"\\", "'": r"\'", '"': r"\""})


def read(text: str, asked: Asked) -> Document:
    """The strings of a file of resources. Raises DataError for what has another root."""
    xml = Xml(text)
    root = xml.elements[0]
    if root.name != "resources":
        raise DataError(f"the root is <{root.name}>, where Android has <resources>")
    about = []
    if "tools:locale" in root.attributes:
        about = xml.with_language(root, "tools:locale", asked.locale)
    return Document(text, list(_units(xml, root)), about)


def _units(xml: Xml, root: Element) -> Iterator[Unit]:
    for element in root.children:
        name = element.attribute("name")
        items = [child for child in element.children if child.name == "item"]
        if element.attribute("translatable") == "false":
            continue
        if element.name == "string":
            yield from _unit(xml, element, name)
        elif element.name in ("string-array", "array"):
            for number, item in enumerate(items):
                yield from _unit(xml, item, f"{name}[{number}]")
        elif element.name == "plurals" and items:
            others = [item for item in items if item.attribute("quantity") == "other"]
            kept = (others or items)[-1]
            yield from _unit(xml, kept, name, _only(xml, kept, items))


def _only(xml: Xml, kept: Element, items: Sequence[Element]) -> list[Edit]:
    """The edits that leave one item of a plural, that of the quantity "other"."""
    edits = [Edit(xml.white_before(item), item.end, "") for item in items if item is not kept]
    if kept.attribute("quantity") != "other":
        edits.append(xml.with_attribute(kept, "quantity", "other"))
    return edits


def _unit(xml: Xml, element: Element, name: str, besides: Sequence[Edit] = ()) -> Iterator[Unit]:
    """The unit of an element that has words, with the edits that are made besides."""
    start, end, text, put = _value(xml, element)
    raw = xml.text[start:end]
    if not has_words(text.words) or _REFERENCE.match(raw):
        return

    def write(texts: Sequence[str]) -> list[Edit]:
        value = put(texts[0])
        guard = "\\" if value.startswith(("@", "?")) else ""
        return [*besides, Edit(start, end, guard + value)]

    yield Unit(name, element.start, (text,), write)


# --- the text of a value ---


def _value(xml: Xml, element: Element) -> tuple[int, int, Text, Put]:
    """Where the words of an element stand, and their text."""
    cdata = xml.only_cdata(element)
    if cdata is None:
        start, end, is_quoted = _bounds(xml.text, element.opening.end, element.closing.start)
        closes = "&gt;" in xml.text[start:end]  # how > is written
        reader = _Reader(xml, (start, end), is_quoted, escape_xml if closes else _escaped)
        place = element.first
        while place < element.last:
            place = reader.add(place)
    else:
        start, end, is_quoted = _bounds(xml.text, cdata.start + 9, cdata.end - 3)
        reader = _Reader(xml, (start, end), is_quoted, within_cdata)
        reader.add_words(xml.text[start:end])
    return start, end, *enclosed(reader.writer.text(can_number=True))


def _escaped(words: str) -> str:
    return escape_xml(words).replace("&gt;", ">")


def _bounds(text: str, start: int, end: int) -> tuple[int, int, bool]:
    """Where a value begins and ends without blanks and quotes, and whether it has quotes."""
    start, end = _without_blanks(text, start, end)
    if _QUOTED.fullmatch(text, start, end) is None:
        return start, end, False
    return *_without_blanks(text, start + 1, end - 1), True


def _without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    is_stripped = False
    while not is_stripped:
        is_stripped = True
        for blank in _BLANKS:
            if text.startswith(blank, start, end):
                start += len(blank)
                is_stripped = False
            elif text.endswith(blank, start, end) and text[end - len(blank) - 1] != "\\":
                end -= len(blank)
                is_stripped = False
    return start, end


class _Reader:
    """Makes the text of what stands between two places. `markup` escapes words as XML or CDATA has them."""

    def __init__(self, xml: Xml, bounds: tuple[int, int], is_quoted: bool, markup: Escape) -> None:
        self._xml = xml
        self._bounds = bounds
        self._is_quoted = is_quoted
        self._markup = markup
        self.writer = Writer(lambda words: markup(words.translate(_WRITTEN)))

    def add(self, place: int) -> int:
        """Add the token at a place, or the whole element that begins there. Returns the place behind."""
        token = self._xml.tokens[place]
        raw = token.raw(self._xml.text)
        if token.kind == "text":
            start, end = max(token.start, self._bounds[0]), min(token.end, self._bounds[1])
            self.add_words(unescape(self._xml.text[start:end]))
        elif token.kind == "cdata":
            self.add_words(raw[9:-3])
        elif token.kind == "open" and token.name.endswith(":g"):
            element = self._xml.at[place]
            self.writer.single(self._xml.text[element.start : element.end])
            return element.last + 1
        elif token.kind == "open":
            self.writer.open(raw, f"<{token.name}")
        elif token.kind == "close":
            self.writer.close(raw, f"<{token.name}")
        else:
            self.writer.single(raw)
        return place + 1

    def add_words(self, value: str) -> None:
        """Add words that are written with Android's escapes; what is in quotes keeps its white space."""
        if self._is_quoted:
            value = value.replace("\r\n", "\n")
        else:
            value = _SPACE.sub(" ", value)
        words = ""
        end = 0
        for match in _PATTERN.finditer(value):
            words += value[end : match.start()].replace('"', "")
            end = match.end()
            meant = _meant(match[0])
            if meant:
                words += meant
                continue
            self.writer.words(words)
            words = ""
            if match[0] == r"\n":
                self.writer.line_break(match[0])
            elif match[0].startswith("\\"):
                self.writer.single(match[0])
            else:
                placeholders.add_message(self.writer, match[0], _PATTERN, self._piece)
        self.writer.words(words + value[end:].replace('"', ""))

    def _piece(self, piece: str) -> str:
        return self._markup(piece).replace("\n", self._xml.eol)


def _meant(piece: str) -> str:
    """The words an escape stands for; "" for white space, what cannot be seen, and any other piece."""
    if not piece.startswith("\\") or piece in (r"\n", r"\t"):
        return ""
    words = piece[1]
    if piece.startswith(r"\u") and len(piece) > 2:
        words = bytes.fromhex(piece.replace(r"\u", "")).decode("utf-16-be", "replace")
    is_seen = words.isprintable() and " " not in words and "\ufffd" not in words
    return words if is_seen else ""

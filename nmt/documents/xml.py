"""The elements of XML with their places, and the edits that change them."""

import re
from dataclasses import dataclass, field
from html import unescape

from nmt.documents.document import Edit, line_end
from nmt.documents.markup import Attribute, Token, refuse_broken_xml, tokens
from nmt.errors import DataError

_SPACE = re.compile(r"[ \t\r\n]+")


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
        self.eol = line_end(text)
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

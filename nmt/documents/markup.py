"""The tokens of HTML and XML with their places. Nothing is corrected: what is no tag is text."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple
from xml.parsers import expat

from nmt.errors import DataError

_TOKEN = re.compile(
    r"""
    <!-- (?P<comment> (?: (?! --> ) [\s\S] )*+ ) -->
  | <!\[CDATA\[ (?P<cdata> (?: (?! \]\]> ) [\s\S] )*+ ) \]\]>
  | < (?P<other> [!?] [^>]{0,5000}+ ) >
  | </ (?P<closes> [A-Za-z_] [^\s<>/]{0,99}+ ) [^<>]{0,999}+ >
  | < (?P<opens> [A-Za-z_] [^\s<>/]{0,99}+ )
      (?P<attributes> (?: [^<>"'] | "[^"]{0,20000}+" | '[^']{0,20000}+' ){0,2000}+ ) >
    """,
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""
    (?P<name> [^\s=/>"']{1,99} ) \s{0,99} = \s{0,99}
    (?: "(?P<double>[^"]*)" | '(?P<single>[^']*)' | (?P<bare>[^\s"'>]+) )
    """,
    re.VERBOSE,
)


class Attribute(NamedTuple):
    """The value of an attribute, unescaped, and where it is written, without its quotes."""

    value: str
    start: int
    end: int


class Token(NamedTuple):
    """A piece of markup or text. `kind` is text, open, close, empty, comment, cdata or other."""

    kind: str
    name: str  # of a tag, as it is written
    start: int
    end: int

    def raw(self, text: str) -> str:
        """The token as it is written."""
        return text[self.start : self.end]

    def attributes(self, text: str) -> dict[str, Attribute]:
        """The attributes of a tag, by name in lower case."""
        found: dict[str, Attribute] = {}
        inside = self.start + 1 + len(self.name)
        for match in _ATTRIBUTE.finditer(text, inside, self.end - 1):
            kind = match.lastgroup or ""
            value = Attribute(unescape(match[kind]), match.start(kind), match.end(kind))
            found.setdefault(match["name"].lower(), value)
        return found


def tokens(text: str, raw: frozenset[str] = frozenset()) -> Iterator[Token]:
    """All of a text, in order. What is in elements of `raw`, such as script, is one token of the kind "other"."""
    end = 0
    skip_to = 0
    for match in _TOKEN.finditer(text):
        if match.start() < skip_to:
            continue
        if match.start() > end:
            yield Token("text", "", end, match.start())
        token = _token(match)
        yield token
        end = token.end
        if token.kind == "open" and token.name.lower() in raw:
            closing = re.compile(f"</{token.name}[\\s>]", re.IGNORECASE).search(text, end)
            skip_to = closing.start() if closing else len(text)
            if skip_to > end:
                yield Token("other", "", end, skip_to)
            end = skip_to
    if end < len(text):
        yield Token("text", "", end, len(text))


def _token(match: re.Match[str]) -> Token:
    if match["opens"]:
        is_empty = match["attributes"].endswith("/")
        return Token("empty" if is_empty else "open", match["opens"], *match.span())
    if match["closes"]:
        return Token("close", match["closes"], *match.span())
    kind = match.lastgroup if match.lastgroup in ("comment", "cdata") else "other"
    return Token(kind or "other", "", *match.span())


def refuse_broken_xml(text: str) -> None:
    """Raise DataError for XML that is not well formed, or that declares entities, with its line."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise DataError(
            f"line {parser.CurrentLineNumber}: declares entities, which nmt does not read"
        )

    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse  # type: ignore[assignment]
    try:
        parser.Parse(
            re.sub(r"""(<\?xml[^>]*?)\sencoding\s*=\s*["'][^"']*["']""", r"\1", text, count=1), True
        )
    except expat.ExpatError as error:
        raise DataError(f"line {error.lineno}: {expat.errors.messages[error.code]}") from error


def escape_xml(words: str) -> str:
    """Words between tags."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(words: str) -> str:
    """Words between quotes of either kind."""
    return escape_xml(words).replace('"', "&quot;").replace("'", "&#39;")

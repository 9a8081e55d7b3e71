"""What is within a paragraph of AsciiDoc: emphasis, code, links, macros, attributes, footnotes.

A single mark, as in `*strong*`, is only seen beside what is no letter: `placed` doubles it beside Chinese ones.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt.documents.text import Escape, Text, Writer, as_it_is

_OPENS, _CLOSES, _ADDRESS = "\x02", "\x03", "\x04"  # around a piece, before a link, until placed
_MARKS, _UNMARKS = "\x05", "\x06"  # around emphasis, until placed
_URL = r"(?:https?|ftp|irc|file)://[^\s\[\]<>\"|]{1,999}"
_BRACKETS = r"(?: [^\[\]\\] | \\. | \[ [^\[\]]{0,200} \] )"
_PIECE = re.compile(
    rf"""
    (?P<escape> \\ (?: \{{ [\w:-]{{1,60}} \}} | [^\w\s] ) )
  | (?P<pass> \+\+\+ .{{1,500}}? \+\+\+ | \+\+ .{{1,500}}? \+\+ | \$\$ .{{1,500}}? \$\$ )
  | (?P<quote> (?P<mark> ["'] ) ` (?! \s ) (?P<quoted> [^`"]{{1,500}} ) (?<! \s ) ` (?P=mark) )
  | (?P<code> `` .{{1,500}}? `` (?! ` ) | (?<! [\w`] ) ` (?! [\s`] ) [^`]{{1,500}} (?<! \s ) ` (?! \w )
            | (?<! [\w+] ) \+ (?! [\s+] ) [^+]{{1,500}} (?<! \s ) \+ (?! \w ) )
  | (?P<hidden> \(\(\( [^()]{{1,300}} \)\)\) )
  | (?P<index> \(\( (?P<term> [^(),]{{1,200}} ) \)\) )
  | (?P<reference> << (?P<target> [^<>,]{{1,200}} ) (?: , (?P<named> [^<>]{{1,500}} ) )? >> )
  | (?P<anchor> \[\[ [^\[\]]{{1,200}} \]\] )
  | (?P<link> (?: (?<! \w ) (?: link|xref|mailto ) : [^\s\[\]:] [^\s\[\]]{{0,999}}
                | {_URL} | \{{ \w [\w-]{{0,99}} \}} [^\s\[\]{{}}]{{0,300}} )
              \[ (?P<words> {_BRACKETS}{{1,600}}+ ) \] )
  | (?P<footnote> footnote: [\w-]{{0,60}} \[ (?P<note> {_BRACKETS}{{1,2000}}+ ) \] )
  | (?P<image> image: (?! : ) [^\s\[\]:] [^\s\[\]]{{0,500}} \[ (?P<alt> [^\[\],="]{{1,300}} ) [^\[\]]{{0,300}} \] )
  | (?P<macro> (?<! \w ) [a-z][\w-]{{1,30}}+ : (?! : ) [^\s\[\]]{{0,500}} \[ (?: [^\]\\] | \\. ){{0,600}}+ \] )
  | (?P<address> <{_URL}> | \b{_URL} (?<! [.,;:!?)'*_] ) (?: \[\] )? )
  | (?P<email> (?<! [\w.+-] ) [\w.+-]{{1,60}}+ @ [A-Za-z\d-]{{1,60}}+ (?: \. [A-Za-z\d-]{{1,60}}+ ){{1,5}} )
  | (?P<attribute> \{{ \w [\w:-]{{0,99}} \}} )
  | (?P<entity> & (?: [A-Za-z]\w{{1,30}} | \#x?[\da-fA-F]{{1,7}} ) ; )
    """,
    re.VERBOSE,
)
_ATTRIBUTES = re.compile(r"(?:\^|,\s*[\w-]+=.*)$|(?<=\")\s*,.*$")
_EMPHASIS = re.compile(
    r"""
    (?P<role> (?: \[ [^\[\]]{1,99} \] )? )
    (?: (?P<double> \*\* | __ | \#\# ) (?P<doubled> .{1,500}? ) (?P=double)
      | (?<! [\w;:}] ) (?<! [\w;:}] (?=\[) ) (?P<mark> [*_\#] ) (?! \s | (?P=mark) )
        (?P<marked> .{1,500}? ) (?<! \s ) (?P=mark) (?! \w ) )
    """,
    re.VERBOSE,
)
_MARKED = re.compile(
    r"""
    \x05 (?P<role> (?: \[ [^\[\]]{1,99} \] )? ) (?P<mark> \*\*? | __? | \#\#? )
    (?P<inner> [^\x05\x06]* ) (?P=mark) \x06
    """,
    re.VERBOSE,
)
_DEEPEST = 8  # emphasis within one another
_PLACED = re.compile(r"\x02([^\x03]*)\x03|\x04")
_BEFORE_ADDRESS = " \t\n<>()[];\"'"


class _Mark(NamedTuple):
    """A piece, or what opens or closes emphasis, from one place of a line to another."""

    start: int
    end: int
    piece: re.Match[str] | None
    name: str = ""
    opens: bool = False


def inline(content: str, escape: Escape = as_it_is) -> Text:
    """The words and pieces of a paragraph without line breaks."""
    writer = Writer(escape)
    add_inline(writer, content)
    return writer.text()


def add_inline(writer: Writer, content: str) -> None:
    """Add a line of a paragraph to a text."""
    pieces = list(_PIECE.finditer(content))
    marks = [_Mark(*match.span(), match) for match in pieces]
    marks += _emphasis(_blanked(content, pieces), 0)
    end = 0
    for mark in sorted(marks, key=lambda mark: mark.start):
        writer.words(content[end : mark.start])
        if mark.piece is not None:
            _add_piece(writer, mark.piece)
        elif mark.opens:
            writer.open(_MARKS + content[mark.start : mark.end], mark.name)
        else:
            writer.close(content[mark.start : mark.end] + _UNMARKS, mark.name)
        end = mark.end
    writer.words(content[end:])


def _blanked(content: str, pieces: Sequence[re.Match[str]]) -> str:
    """A line with something in place of its pieces, in which there is no emphasis."""
    blanked, at = "", 0
    for piece in pieces:
        blanked += content[at : piece.start()] + "\ufffc" * len(piece[0])
        at = piece.end()
    return blanked + content[at:]


def _emphasis(blanked: str, depth: int) -> Iterator[_Mark]:
    """The marks of emphasis, also of one within another."""
    for match in _EMPHASIS.finditer(blanked) if depth < _DEEPEST else ():
        name = match["double"] or match["mark"]
        kind = "doubled" if match["double"] else "marked"
        start, end = match.span(kind)
        yield _Mark(match.start(), start, None, name, True)
        yield _Mark(end, match.end(), None, name)
        for inner in _emphasis(match[kind], depth + 1):
            yield inner._replace(start=start + inner.start, end=start + inner.end)


def _add_piece(writer: Writer, match: re.Match[str]) -> None:
    """Add a piece; what has words for readers is a pair, or a piece with a text in it."""
    piece = match[0]
    if match["quote"]:
        _add_pair(writer, match, "quoted")
    elif match["index"]:
        _add_pair(writer, match, "term")
    elif match["named"]:
        _add_pair(writer, match, "named")
    elif match["link"]:
        _add_link(writer, match)
    elif match["footnote"] or match["image"]:
        kind = "note" if match["footnote"] else "alt"
        start, end = match.start(kind) - match.start(), match.end(kind) - match.start()
        writer.single(piece[:start], inline(match[kind]), piece[end:])
    elif match["code"] or match["address"]:
        writer.single(f"{_OPENS}{piece}{_CLOSES}")
    else:
        writer.single(piece)


def _add_pair(writer: Writer, match: re.Match[str], kind: str) -> None:
    start, end = match.start(kind) - match.start(), match.end(kind) - match.start()
    _add_between(writer, match[0][:start], match[kind], match[0][end:])


def _add_between(writer: Writer, opening: str, words: str, closing: str) -> None:
    name = opening.strip()
    writer.open(opening, name)
    add_inline(writer, words)
    writer.close(closing, name)


def _add_link(writer: Writer, match: re.Match[str]) -> None:
    """Add a link; what else than words is in its brackets is part of what closes it."""
    words = match["words"]
    opening = match[0][: match.start("words") - match.start()]
    if not opening.startswith(("link:", "xref:", "mailto:")):
        opening = _ADDRESS + opening
    attributes = _ATTRIBUTES.search(words)
    shown = words[: attributes.start()] if attributes else words
    is_quoted = len(shown) > 2 and shown[0] == shown[-1] == '"' and shown[1] != "`"
    quote = '"' if is_quoted else ""
    shown = shown[1:-1] if quote else shown
    closing = f"{quote}{attributes[0] if attributes else ''}]"
    _add_between(writer, opening + quote, shown, closing)


def placed(filled: str) -> str:
    """A filled text whose marks are doubled, and whose addresses are macros, where they touch letters."""
    count = 1
    while count:
        filled, count = _MARKED.subn(_placed_emphasis, filled)
    return _PLACED.sub(_placed_piece, filled)


def _placed_emphasis(match: re.Match[str]) -> str:
    """Emphasis with doubled marks beside letters; space within its marks gets out."""
    inner = match["inner"]
    words = inner.strip()
    leading = inner[: len(inner) - len(inner.lstrip())]
    trailing = inner[len(inner.rstrip()) :]
    is_free = bool(leading or _opens_freely(match)) and bool(trailing or _closes_freely(match))
    mark = match["mark"] if is_free else match["mark"][0] * 2
    return f"{leading}{match['role']}{mark}{words}{mark}{trailing}"


def _placed_piece(match: re.Match[str]) -> str:
    piece = match[1]
    before, after = _neighbours(match)
    if piece is None:  # before an address with words
        return "" if before in _BEFORE_ADDRESS else "link:"
    if piece[0] in "`+":
        return piece if _stands_free(match) or piece[0] == piece[1] else piece[0] + piece + piece[0]
    if piece[0] == "<":
        return piece
    is_alone = before in _BEFORE_ADDRESS and (after in " \t\n<>[]" or after in ".,;:!?)")
    return piece if is_alone else f"link:{piece.removesuffix('[]')}[]"


def _stands_free(match: re.Match[str]) -> bool:
    """Whether a single mark is seen between its neighbours."""
    return _opens_freely(match) and _closes_freely(match)


def _opens_freely(match: re.Match[str]) -> bool:
    before = _neighbours(match)[0]
    return not before or not (before.isalnum() or before in "_;:}\"'`\x03\x06")


def _closes_freely(match: re.Match[str]) -> bool:
    after = _neighbours(match)[1]
    return not (after.isalnum() or after in tuple("_\"'`\x02\x05"))


def _neighbours(match: re.Match[str]) -> tuple[str, str]:
    """The characters beside a match; "" is none."""
    start, end = match.span()
    return match.string[max(start - 1, 0) : start], match.string[end : end + 1]

"""What is within a paragraph of AsciiDoc: code, links, macros, attributes, footnotes.

`*strong*` and `_emphasis_` stay among the words. A single mark is only seen beside what is no letter: `placed` doubles
it beside Chinese ones.
"""

import re

from nmt.documents.text import Escape, Text, Writer, as_it_is

_OPENS, _CLOSES, _ADDRESS = "\x02", "\x03", "\x04"  # around a piece, before a link, until placed
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
  | (?P<role> \[ [^\[\]]{{1,99}} \] (?P<span> \#\#? | \*\*? | __? ) (?! \s )
              (?P<spanned> [^#*_]{{1,500}} ) (?<! \s ) (?P=span) (?! \w ) )
  | (?P<link> (?: (?<! \w ) (?: link|xref|mailto ) : [^\s\[\]:] [^\s\[\]]{{0,999}}
                | {_URL} | \{{ \w [\w-]{{0,99}} \}} [^\s\[\]{{}}]{{0,300}} )
              \[ (?P<words> {_BRACKETS}{{1,600}}+ ) \] )
  | (?P<footnote> footnote: [\w-]{{0,60}} \[ (?P<note> {_BRACKETS}{{1,2000}}+ ) \] )
  | (?P<image> image: (?! : ) [^\s\[\]:] [^\s\[\]]{{0,500}} \[ (?P<alt> [^\[\],="]{{1,300}} ) [^\[\]]{{0,300}} \] )
  | (?P<macro> (?<! \w ) [a-z][\w-]{{1,30}}+ : (?! : ) [^\s\[\]]{{0,500}} \[ (?: [^\]\\] | \\. ){{0,600}}+ \] )
  | (?P<address> <{_URL}> | \b{_URL} (?<! [.,;:!?)'] ) (?: \[\] )? )
  | (?P<email> (?<! [\w.+-] ) [\w.+-]{{1,60}}+ @ [A-Za-z\d-]{{1,60}}+ (?: \. [A-Za-z\d-]{{1,60}}+ ){{1,5}} )
  | (?P<attribute> \{{ \w [\w:-]{{0,99}} \}} )
  | (?P<entity> & (?: [A-Za-z]\w{{1,30}} | \#x?[\da-fA-F]{{1,7}} ) ; )
    """,
    re.VERBOSE,
)
_ATTRIBUTES = re.compile(r"(?:\^|,\s*[\w-]+=.*)$|(?<=\")\s*,.*$")
_EMPHASIS = re.compile(
    r"""
    \x02 [^\x03]* \x03
  | (?<! [A-Za-z\d*_] ) (?P<mark> [*_] ) (?! [\s*_] )
    (?P<inner> (?: \x02 [^\x03]* \x03 | (?! (?P=mark) ) . ){1,500} ) (?<! \s ) (?P=mark) (?! [A-Za-z\d*_] )
    """,
    re.VERBOSE,
)
_PLACED = re.compile(r"\x02([^\x03]*)\x03|\x04")
_BEFORE_ADDRESS = " \t\n<>()[];\"'"


def inline(content: str, escape: Escape = as_it_is) -> Text:
    """The words and pieces of a paragraph without line breaks."""
    writer = Writer(escape)
    add_inline(writer, content)
    return writer.text()


def add_inline(writer: Writer, content: str) -> None:
    """Add a line of a paragraph to a text."""
    end = 0
    for match in _PIECE.finditer(content):
        writer.words(content[end : match.start()])
        _add_piece(writer, match)
        end = match.end()
    writer.words(content[end:])


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
    elif match["role"]:  # doubled marks are seen beside letters
        mark = match["span"][0] * 2
        attributes = piece[: match.start("span") - match.start()]
        _add_between(writer, attributes + mark, match["spanned"], mark)
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
    quote = '"' if len(shown) > 2 and shown[0] == shown[-1] == '"' else ""
    shown = shown[1:-1] if quote else shown
    closing = f"{quote}{attributes[0] if attributes else ''}]"
    _add_between(writer, opening + quote, shown, closing)


def placed(filled: str) -> str:
    """A filled text whose marks are doubled, and whose addresses are macros, where they touch letters."""
    marked = _EMPHASIS.sub(_doubled_emphasis, filled)
    return _PLACED.sub(_placed_piece, marked)


def _doubled_emphasis(match: re.Match[str]) -> str:
    mark = match["mark"]
    if not mark or _stands_free(match):
        return match[0]
    return f"{mark * 2}{match['inner']}{mark * 2}"


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
    before, after = _neighbours(match)
    is_opened = not before or not (before.isalnum() or before in "_;:}\"'`\x03")
    return is_opened and not (after.isalnum() or after in tuple("_\"'`\x02"))


def _neighbours(match: re.Match[str]) -> tuple[str, str]:
    """The characters beside a match; "" is none."""
    start, end = match.span()
    return match.string[max(start - 1, 0) : start], match.string[end : end + 1]

r"""What is within a paragraph of reStructuredText: code, roles, references, addresses.

Marks are only seen beside white space or punctuation. Chinese has neither, so `placed` writes `\ ` where it has to.
Emphasis stays among the words, and is looked for in the translation again.
"""

import re
import unicodedata

from nmt.documents.text import Text, Writer

_OPENS, _CLOSES = "\x02", "\x03"  # around a piece, until it is placed
_PIECE = re.compile(
    r"""
    (?P<escape> \\ . )
  | (?P<literal> `` (?! \s ) .{1,600}? (?<! \s ) `` (?! [\w`] ) )
  | (?P<role> : [^\W_] [\w.:+-]{0,60} : ` (?! [\s`] ) (?P<content> (?: [^`\\] | \\. ){1,600} ) ` (?! [\w`] ) )
  | (?P<target> _` [^`]{1,200} ` (?! [\w`] ) )
  | (?P<phrase> ` (?! [\s`] ) (?P<words> (?: [^`\\] | \\. ){1,600} ) `
                (?: __? (?! \w ) | : [^\W_] [\w.:+-]{0,60}+ : | (?! [\w`] ) ) )
  | (?P<substitution> \| (?! \s ) [^|]{1,200} (?<! \s ) \| _{0,2} (?! \w ) )
  | (?P<footnote> \[ (?: \d{1,9} | \*  | \# [\w.-]{0,60} | [^\W\d_] [\w.+:-]{0,60} ) \]_ (?! \w ) )
  | (?P<uri> \b [A-Za-z][A-Za-z+.-]{1,20} :// [^\s<>"'`|*)\]]{1,999}+ (?<! [.,;:!?] )
           | (?<! [\w.+-] ) [\w.+-]{1,60}+ @ [A-Za-z\d-]{1,60}+ (?: \. [A-Za-z\d-]{1,60}+ ){1,5} )
  | (?P<reference> (?<! [\w\\] ) [^\W_]{1,80}+ (?: [-._+:] [^\W_]{1,80}+ ){0,20}+ __? (?! \w ) )
  | (?P<strong> \*\* (?! [\s*] ) (?: [^*] | \* (?! \* ) ){1,600}? (?<! \s ) \*\* (?! [\w*] ) )
  | (?P<emphasis> \* (?! [\s*] ) [^*]{1,600} (?<! \s ) \* (?! [\w*] ) )
  | (?P<mark> [*`] )
    """,
    re.VERBOSE,
)
_WORDS_OF = re.compile(r"(?P<words>[^<]{0,400}[^<\s])(?P<target>\s+<[^<>]+>)")
_WITHOUT_WORDS = re.compile(
    r":(?:math|code|samp|kbd|file|command|literal|regexp|program|raw|option|sub|sup|eq):"
)
_MARKED = re.compile(
    r"""
    \x02 [^\x03]* \x03
  | \\ .
  | (?P<emphasis> \*\* (?! [\s*] ) (?: [^*\x02\x03] | \* (?! \* ) ){1,600}? (?<! \s ) \*\* (?! \* )
                | \* (?! [\s*] ) [^*\x02\x03]{1,600} (?<! \s ) \* (?! \* ) )
  | (?P<mark> \* )
    """,
    re.VERBOSE,
)
_QUOTES = {'"': '"', "'": "'", "(": ")", "[": "]", "{": "}", "<": ">", "“": "”", "‘": "’"}


def inline(content: str) -> Text:
    """The words and pieces of a paragraph without line breaks."""
    writer = Writer(_escape)
    end = 0
    for match in _PIECE.finditer(content):
        writer.words(content[end : match.start()])
        _add_piece(writer, content, match)
        end = match.end()
    writer.words(content[end:])
    return writer.text()


def _escape(words: str) -> str:
    return words.replace("\\", "\\\\").replace("`", "\\`")


def _add_piece(writer: Writer, content: str, match: re.Match[str]) -> None:
    kind = match.lastgroup
    piece = match[0]
    if match["escape"]:
        if not piece[1].isspace():  # `placed` writes these anew
            writer.single(piece)
    elif kind == "mark":
        writer.single(f"\\{piece}")
    elif not _stands_free(content, match):
        _add_unmarked(writer, piece)
    elif kind in ("strong", "emphasis") and not set(piece) & set("\\`"):
        writer.words(piece)
    else:
        _add_marked(writer, piece, match)


def _add_unmarked(writer: Writer, piece: str) -> None:
    """Add what only looks like markup, so that it stays none."""
    for part in re.split(r"(\\.|[*`])", piece):
        if len(part) == 2 and part[0] == "\\":
            writer.single(part)
        elif part in ("*", "`"):
            writer.single(f"\\{part}")
        else:
            writer.words(part)


def _add_marked(writer: Writer, piece: str, match: re.Match[str]) -> None:
    """Add a piece. The words of a link, and of a role that has a target besides, are those of a pair."""
    inner = match["content"] or match["words"] or ""
    is_link = bool(match["role"]) or (bool(match["phrase"]) and piece.endswith("_"))
    link = _WORDS_OF.fullmatch(inner) if is_link and "\\" not in inner else None
    if link is None or _WITHOUT_WORDS.match(piece):
        writer.single(f"{_OPENS}{piece}{_CLOSES}")
        return
    start = piece.index("`") + 1
    writer.open(_OPENS + piece[:start], "link")
    writer.words(link["words"])
    writer.close(link["target"] + piece[start + len(inner) :] + _CLOSES, "link")


def _stands_free(content: str, match: re.Match[str]) -> bool:
    """Whether marks are where they are seen."""
    before = content[max(match.start() - 1, 0) : match.start()]
    after = content[match.end() : match.end() + 1]
    inside = match[0].lstrip("*`|")[:1]
    is_quoted = before in _QUOTES and _QUOTES[before] == inside
    return may_open_after(before) and may_close_before(after) and not is_quoted


def may_open_after(character: str) -> bool:
    """Whether marks may begin behind a character; "" is none."""
    if not character or character.isspace() or character in "-/:'\"<([{":
        return True
    return not character.isascii() and _category(character) in ("Ps", "Pi", "Pf", "Pd", "Po")


def may_close_before(character: str) -> bool:
    """Whether marks may end before a character; "" is none."""
    if not character or character.isspace() or character in "-/:'\">)]}\\.,;!?":
        return True
    return not character.isascii() and _category(character) in ("Pe", "Pi", "Pf", "Pd", "Po")


def _category(character: str) -> str:
    return unicodedata.category(character)


def placed(filled: str) -> str:
    r"""A filled text with `\ ` where marks would touch letters."""
    written = ""
    marked = _MARKED.sub(_around_emphasis, filled)
    parts = re.split(r"([\x02\x03])", marked)
    for number, part in enumerate(parts):
        following = parts[number + 1] if number + 1 < len(parts) else ""
        if part == _OPENS:
            written += "" if may_open_after(written[-1:]) else "\\ "
        elif part == _CLOSES:
            behind = following[:1] or ("x" if number + 2 < len(parts) else "")
            written += "" if may_close_before(behind) else "\\ "
        else:
            written += part
    return written


def _around_emphasis(match: re.Match[str]) -> str:
    if match["emphasis"]:
        return f"{_OPENS}{match[0]}{_CLOSES}"
    return f"\\{match[0]}" if match["mark"] else match[0]


def column_width(words: str) -> int:
    """How many columns words take, of which Chinese characters have two."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in words)
    return len(words) + wide - sum(map(bool, map(unicodedata.combining, words)))

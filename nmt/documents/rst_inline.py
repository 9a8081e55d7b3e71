r"""What is within a paragraph of reStructuredText: emphasis, code, roles, references, addresses.

Marks are only seen beside white space or punctuation. Chinese has neither, so `placed` writes `\ ` where it has to.
There is no markup within emphasis.
"""

import re
import unicodedata
from collections.abc import Container

from nmt.documents.text import Text, Writer

_OPENS, _CLOSES = "\x02", "\x03"  # around a piece, until it is placed
_PIECE = re.compile(
    r"""
    (?P<escape> \\ . )
  | (?P<literal> `` (?! \s ) (?: [^`] | ` (?! ` (?! ` ) ) ){1,20000}+ (?<! \s ) `` (?! [\w`] ) )
  | (?P<role> : [^\W_] [\w.:+-]{0,60} : ` (?! [\s`] ) (?P<content> (?: [^`\\] | \\. ){1,600} ) ` (?! [\w`] ) )
  | (?P<target> _` [^`]{1,200} ` (?! [\w`] ) )
  | (?P<phrase> ` (?! [\s`] ) (?P<words> (?: [^`\\] | \\. ){1,600} ) `
                (?: __? (?! \w ) | : [^\W_] [\w.+-]{0,60}+ (?: : [\w.+-]{1,60}+ ){0,3} : | (?! [\w`] ) ) )
  | (?P<substitution> \| (?! \s ) [^|]{1,200} (?<! \s ) \| _{0,2} (?! \w ) )
  | (?P<footnote> \[ (?: \d{1,9} | \*  | \# [\w.-]{0,60} | [^\W\d_] [\w.+:-]{0,60} ) \]_ (?! \w ) )
  | (?P<uri> \b [A-Za-z][A-Za-z+.-]{1,20} ://
             (?: [!\#$%&'+,./\w:;=?@~-] | \( [\w.%-]{1,80} \) ){1,999} (?<! [.,;:!?'] )
           | (?<! [\w.+-] ) [\w.+-]{1,60}+ @ [A-Za-z\d-]{1,60}+ (?: \. [A-Za-z\d-]{1,60}+ ){1,5} )
  | (?P<reference> (?<! [\w\\] ) [^\W_]{1,80}+ (?: [-._+:] [^\W_]{1,80}+ ){0,20}+ __? (?! \w ) )
  | (?P<strong> \*\* (?! [\s*] ) (?: [^*\\] | \\. | \* (?! \* ) ){1,600}? (?<! \s ) \*\* (?! [\w*] ) )
  | (?P<emphasis> \* (?! [\s*] ) (?: [^*\\] | \\. ){1,600} (?<! \s ) \* (?! [\w*] ) )
  | (?P<mark> (?<= \w ) _{1,2} [*`] | [*`] )
    """,
    re.VERBOSE,
)
_FIRST_MARKS = re.compile(r"\*{1,3}|`{1,3}")
_WORDS_OF = re.compile(r"(?P<words>[^<]{0,400}[^<\s])(?P<target>\s+<[^<>]+>)")
_WITHOUT_WORDS = re.compile(
    r":(?:math|code|samp|kbd|file|command|literal|regexp|program|raw|option|sub|sup|eq):"
)
_ESCAPED = re.compile(r"\\(.)")
_LEADING = re.compile(r"\x02(\*\*?|`(?!`))(\s{1,9})")  # space within marks, where they are not seen
_TRAILING = re.compile(r"(\s{1,9})(\*\*?\x03)")
_QUOTES = {'"': '"', "'": "'", "(": ")", "[": "]", "{": "}", "<": ">", "“": "”", "‘": "’"}


def inline(content: str, referred: Container[str] = ()) -> Text:
    """The words and pieces of a paragraph without line breaks. `referred` are names that references have."""
    writer = Writer(_escape)
    end = 0
    while (match := _PIECE.search(content, end)) is not None:
        writer.words(content[end : match.start()])
        end = _add_piece(writer, content, match, end, referred)
    writer.words(content[end:])
    return writer.text()


def _escape(words: str) -> str:
    return re.sub(r"[\\`*]", r"\\\g<0>", words)


def _add_piece(
    writer: Writer, content: str, match: re.Match[str], end: int, referred: Container[str]
) -> int:
    """Add what was found behind a piece that ended at a place, and say where it ends."""
    kind = match.lastgroup
    piece = match[0]
    if match["escape"]:
        if not piece[1].isspace():  # `placed` writes these anew
            writer.single(piece)
    elif kind == "mark":
        writer.single("".join(f"\\{character}" for character in piece))
    elif not _stands_free(content, match, end):
        return _add_first(writer, content, match)
    elif kind in ("strong", "emphasis"):
        _add_emphasis(writer, piece, "**" if kind == "strong" else "*")
    else:
        _add_marked(writer, piece, match, referred)
    return match.end()


def _add_first(writer: Writer, content: str, match: re.Match[str]) -> int:
    """Add only the first mark or letter of what looks like markup, so that it stays none."""
    marks = _FIRST_MARKS.match(content, match.start())
    if marks is None:
        writer.words(match[0][0])
        return match.start() + 1
    for mark in marks[0]:
        writer.single(f"\\{mark}")
    return marks.end()


def _add_emphasis(writer: Writer, piece: str, mark: str) -> None:
    writer.open(_OPENS + mark, mark)
    for number, part in enumerate(_ESCAPED.split(piece[len(mark) : -len(mark)])):
        if number % 2 == 0:
            writer.words(part)
        elif not part.isspace():
            writer.single(f"\\{part}")
    writer.close(mark + _CLOSES, mark)


def _add_marked(writer: Writer, piece: str, match: re.Match[str], referred: Container[str]) -> None:
    """Add a piece. The words of a link, and of a role that has a target besides, are those of a pair.

    The words of a link are a name, too: it gets none, so that no two have the same, or stays if others refer to it.
    """
    inner = match["content"] or match["words"] or ""
    is_named = bool(match["phrase"]) and piece.endswith("_")
    link = _WORDS_OF.fullmatch(inner) if "\\" not in inner else None
    is_whole = _WITHOUT_WORDS.match(piece) or not (match["role"] or is_named)
    if link is None or is_whole or (is_named and normalized(link["words"]) in referred):
        writer.single(f"{_OPENS}{piece}{_CLOSES}")
    else:
        writer.open(_OPENS + piece[: piece.index("`") + 1], "link")
        writer.words(link["words"])
        closing = "`__" if is_named else "`"
        writer.close(link["target"] + closing + _CLOSES, "link")


def normalized(name: str) -> str:
    """A name as references compare it."""
    return " ".join(name.split()).lower()


def _stands_free(content: str, match: re.Match[str], end: int) -> bool:
    """Whether marks are where they are seen: behind the end of another piece, too."""
    before = content[max(match.start() - 1, end) : match.start()]
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
    tight = _TRAILING.sub(r"\2\1", _LEADING.sub(rf"\2{_OPENS}\1", filled))
    parts = re.split(r"([\x02\x03])", tight)
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

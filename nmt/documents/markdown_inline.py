"""What is within a paragraph of Markdown: code, links, images, tags, footnotes, formulas, emphasis."""

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from nmt.documents.placeholders import COMMENT, TAG
from nmt.documents.text import Parts, Writer, has_words, plain

_LONGEST_LABEL = 1000  # characters within the brackets of a link
_PIECE = re.compile(
    rf"""
    (?P<code> (?<! ` ) (?P<ticks> `{{1,9}} ) (?! ` )
              [^`]{{1,999}} (?: (?! (?P=ticks) (?! ` ) ) `+ [^`]{{1,999}} ){{0,9}} (?P=ticks) (?! ` ) )
  | (?P<identifier> (?: [\w.-] | \\[_*] ){{0,60}} \w \\[_*] (?: \w | \\[_*] | [.-](?=\w) ){{1,60}} )    # foo\_bar
  | (?P<escape> \\[!-/:-@\[-`{{-~] )
  | (?P<comment> {COMMENT} )
  | (?P<autolink> < (?: [A-Za-z][A-Za-z\d+.-]{{1,30}} : [^\s<>]{{0,999}} | [^\s<>@]{{1,99}} @ [^\s<>@]{{1,99}} ) > )
  | (?P<tag> {TAG} )
  | (?P<template> \{{\{{ (?: (?! \}}\}} ) . ){{0,500}} \}}\}} | \{{% (?: (?! %\}} ) . ){{0,500}} %\}}
      | [$\#]? \{{ [^{{}}\n]{{0,300}} (?: \{{ [^{{}}\n]{{0,200}} \}} [^{{}}\n]{{0,200}} ){{0,9}} \}} )
  | (?P<citation> \[ [^\[\]@]{{0,60}} (?<! \w ) @ [^\[\]]{{1,200}} \] (?! [(\[] ) )   # [@smith2015], of Pandoc
  | (?P<contents> \[\[ [^\[\]]{{1,200}} \]\] | \A \[TOC\] \Z )        # [[toc]], and pages of a wiki
  | (?P<footnote> \[ \^ [^\[\]\s]{{1,99}} \] )
  | (?P<image> ! (?= \[ ) )
  | (?P<link> \[ )
  | (?P<formula> (?<! [\w$\\] )
                 (?: \$\$ [^$]{{1,500}} \$\$ | \$ (?! [\s$] ) [^$\n]{{1,300}} (?<! [\s\\] ) \$ ) (?! [\w$] ) )
  | (?P<emoji> (?<! \w ) : [a-z\d_+-]{{2,40}} : (?! \w ) )
    """,
    re.VERBOSE,
)
_TARGET = re.compile(
    r"""
    \( \s* (?: < [^<>\n]{0,2000} >
            | (?: \{\{ [^{}]{0,200} \}\} | \{% [^{}]{0,200} %\} ){0,3}+            # of a template
              [^\s()<>]{0,2000} (?: \( [^\s()]{0,500} \) [^\s()]{0,500} ){0,5} )
       (?: \s+ (?: " (?: [^"\\] | \\. ){0,500} " | ' (?: [^'\\] | \\. ){0,500} ' | \( [^()]{0,500} \) ) )? \s* \)
  | \[ [^\[\]]{0,500} \]
    """,
    re.VERBOSE,
)
_TITLE = re.compile(
    r"""(?P<before>\]\(.*\s(?P<mark>["'(]))(?P<words>(?:(?!(?P=mark)|[\\)]).)+)(?P<behind>["')]\s*\))"""
)
# As many as opened it, behind a word or before none; of three, the inner ones come first.
_CLOSING_STARS = r"""
    (?: (?<! \* ) | (?<= [^*]\* ) (?= \*\* ) | (?<= [^*]\*\* ) )
    (?: (?<= [^\W_] ) | (?<= [^\W_]\* ) | (?<= [^\W_]\*\* ) | (?= \*{1,3} (?! [^\W_] | \* ) ) )
    (?P=star) (?! \* )
"""
# CommonMark 0.31, §6.2, without its rarer cases; ~~ is GitHub's, == of others. Stars may stand within a word, and
# Chinese may touch any of them.
_EMPHASIS = re.compile(
    rf"""(?a:
        (?<! [*~=\\] ) (?! __ [a-z\d_]{{1,99}} __ )                                      # not __init__
        (?: (?P<star> (?: (?<! [^\W_] ) | (?= \*{{1,3}} [^\W_] ) ) \*{{1,3}}+ ) (?! \* )
          | (?<! \w ) (?P<other> _{{1,3}}+ (?! _ ) | ~~ (?! ~ ) | == (?! = ) ) )
        (?P<words> (?! \s ) .{{1,199}}? (?<! [\s\\] ) )
        (?: {_CLOSING_STARS} | (?P=other) (?! [\w~=] ) )
    )""",
    re.VERBOSE,
)
# Emphasis of a translation as it is meant, also where CommonMark would show stars.
_MEANT = re.compile(
    r"(?a:(?<![\w\\])(?P<mark>\*{1,3}(?!\*)|_{1,3}(?!_)|~~)(?P<words>(?!\s).{1,300}?(?<![\s\\]))(?P=mark)(?!\w))"
)
_TAG_NAME = re.compile(r"</?([\w.:-]+)")
_VOID = re.compile(r"<(?:br|hr|img|input|wbr)\b", re.IGNORECASE)


class _Piece(NamedTuple):
    """Something that is no words, from one place of a paragraph to another."""

    start: int
    end: int
    kind: str
    words: str = ""  # the label of a link or an image, which is translated
    closing: str = ""  # what is behind the label


def add_inline(writer: Writer, content: str, references: Container[str]) -> None:
    """Add a paragraph without line breaks to a text. `references` are the labels of links that are defined."""
    pieces = list(_pieces(content, references))
    marks = _emphasis(_blanked(content, pieces))
    at = 0
    for place in sorted([*pieces, *marks]):
        writer.words(content[at : place.start])
        _add(writer, content[place.start : place.end], place)
        at = place.end
    writer.words(content[at:])


def _pieces(content: str, references: Container[str]) -> Iterator[_Piece]:
    at = 0
    while (match := _PIECE.search(content, at)) is not None:
        found = None
        if match.lastgroup in ("link", "image"):
            found = _link(content, match, references)
        else:
            found = _Piece(match.start(), match.end(), match.lastgroup or "")
        if found is not None:
            yield found
        at = found.end if found is not None else match.end()


def _blanked(content: str, pieces: Sequence[_Piece]) -> str:
    """The paragraph with something in place of its pieces, in which there is no emphasis."""
    blanked, at = "", 0
    for piece in pieces:
        blanked += content[at : piece.start] + "\ufffc" * (piece.end - piece.start)
        at = piece.end
    return blanked + content[at:]


def _emphasis(blanked: str) -> Iterator[_Piece]:
    """The marks of emphasis, also of one within another."""
    for match in _EMPHASIS.finditer(blanked):
        mark = match["star"] or match["other"]
        yield _Piece(match.start(), match.start() + len(mark), "opens")
        yield _Piece(match.end() - len(mark), match.end(), "closes")
        start = match.start("words")
        for inner in _emphasis(match["words"]):
            yield inner._replace(start=start + inner.start, end=start + inner.end)


def _add(writer: Writer, raw: str, piece: _Piece) -> None:
    if piece.kind == "opens":
        writer.open(raw, raw)
    elif piece.kind == "closes":
        writer.close(raw, raw)
    elif piece.kind == "tag":
        _add_tag(writer, raw)
    elif piece.kind == "escape" and writer.writes(raw[1:]) == raw:  # \| in a table
        writer.words(raw[1:])
    elif piece.kind == "link":
        writer.open("[", "link")
        add_inline(writer, piece.words, ())
        writer.close(_with_title(piece.closing), "link")
    elif piece.kind == "image":
        writer.single("![", plain(piece.words), *_with_title(piece.closing))
    else:
        writer.single(raw)


def _with_title(closing: str) -> Parts:
    """What closes a link, whose title is a text: `](guide.md "The guide")`."""
    title = _TITLE.fullmatch(closing)
    if title is None or not has_words(title["words"]):
        return (closing,)
    return title["before"], plain(title["words"], escape_title), title["behind"]


def escape_title(words: str) -> str:
    """The words of a title between any marks that it may have."""
    return re.sub(r"[\"'()]", r"\\\g<0>", words)


def _add_tag(writer: Writer, tag: str) -> None:
    name = _TAG_NAME.match(tag)
    if name is None or tag.endswith("/>") or _VOID.match(tag):
        writer.single(tag)
    elif tag.startswith("</"):
        writer.close(tag, name[1])
    else:
        writer.open(tag, name[1])


def _link(content: str, match: re.Match[str], references: Container[str]) -> _Piece | None:
    """A link or an image. A label that is its own target gets one: [words] becomes [Chinese][words]."""
    is_image = match.lastgroup == "image"
    opening = match.end() if is_image else match.start()
    end = _closing(content, opening)
    if end is None:
        return None
    label = content[opening + 1 : end]
    target = _TARGET.match(content, end + 1)
    closing = _closing_of(label, target, references)
    if closing is None or (is_image and target is None):
        return None
    whole_end = target.end() if target is not None else end + 1
    return _Piece(match.start(), whole_end, match.lastgroup or "", label, closing)


def _closing_of(label: str, target: re.Match[str] | None, references: Container[str]) -> str | None:
    """What closes a link; None if the brackets are none."""
    if target is not None and target[0] == "[]":
        return f"][{label}]" if normalized(label) in references else None
    if target is not None and target[0].startswith("["):
        return f"]{target[0]}" if normalized(target[0][1:-1]) in references else None
    if target is not None:
        return f"]{target[0]}"
    return f"][{label}]" if normalized(label) in references else None


def _closing(content: str, start: int) -> int | None:
    """Where the bracket that opens at a place is closed."""
    depth = 0
    for at in range(start, min(len(content), start + _LONGEST_LABEL)):
        character = content[at]
        if content[at - 1 : at] == "\\":
            continue
        if character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if depth == 0:
                return at
    return None


def with_room(chinese: str) -> str:
    """Text in Markdown with a space where emphasis would be none: beside a letter, behind punctuation of its own.

    CommonMark 0.31, §6.2: such marks are not "right-flanking", and readers would see stars.
    """
    written, end = "", 0
    for match in _MEANT.finditer(chinese):
        before, behind = chinese[: match.start()][-1:], chinese[match.end() :][:1]
        words = match["words"]
        is_low = match["mark"][0] == "_"
        opens_badly = before.isalnum() and (is_low or not words[:1].isalnum())
        closes_badly = behind.isalnum() and (is_low or not words[-1:].isalnum())
        written += chinese[end : match.start()] + (" " if opens_badly else "") + match[0]
        written += " " if closes_badly else ""
        end = match.end()
    return written + chinese[end:]


def normalized(label: str) -> str:
    """A label as Markdown compares it."""
    return " ".join(label.split()).casefold()

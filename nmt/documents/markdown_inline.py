"""What is within a paragraph of Markdown: code, links, images, tags, footnotes, formulas.

Emphasis stays among the words: nmt translates lines with it, and knows where Chinese needs room beside its marks.
"""

import re
from collections.abc import Container

from nmt.documents.placeholders import COMMENT, TAG
from nmt.documents.text import Writer
from nmt.spans.markup import EMPHASIS

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
      | \{{ [^{{}}\n]{{0,300}} \}} )
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
    \( \s* (?: < [^<>\n]{0,2000} > | [^\s()<>]{0,2000} (?: \( [^\s()]{0,500} \) [^\s()]{0,500} ){0,5} )
       (?: \s+ (?: "[^"]{0,500}" | '[^']{0,500}' | \( [^()]{0,500} \) ) )? \s* \)
  | \[ [^\[\]]{0,500} \]
    """,
    re.VERBOSE,
)
_TAG_NAME = re.compile(r"</?([\w.:-]+)")
_VOID = re.compile(r"<(?:br|hr|img|input|wbr)\b", re.IGNORECASE)


def add_inline(writer: Writer, content: str, references: Container[str]) -> None:
    """Add a paragraph without line breaks to a text. `references` are the labels of links that are defined."""
    at = 0
    while (match := _PIECE.search(content, at)) is not None:
        writer.words(content[at : match.start()])
        at = _add_piece(writer, content, match, references)
    writer.words(content[at:])


def _add_piece(
    writer: Writer, content: str, match: re.Match[str], references: Container[str]
) -> int:
    """Add what was found, and say where it ends."""
    kind = match.lastgroup
    if kind == "link":
        return _add_link(writer, content, match, references)
    if kind == "image":
        return _add_image(writer, content, match)
    if kind == "tag":
        _add_tag(writer, match[0])
    else:
        writer.single(match[0])
    return match.end()


def _add_tag(writer: Writer, tag: str) -> None:
    name = _TAG_NAME.match(tag)
    if name is None or tag.endswith("/>") or _VOID.match(tag):
        writer.single(tag)
    elif tag.startswith("</"):
        writer.close(tag, name[1])
    else:
        writer.open(tag, name[1])


def _add_link(
    writer: Writer, content: str, match: re.Match[str], references: Container[str]
) -> int:
    """Add [words](target). A label that is its own target gets one: [words] becomes [Chinese][words]."""
    end = _closing(content, match.start())
    if end is None:
        writer.words("[")
        return match.end()
    label = content[match.end() : end]
    target = _TARGET.match(content, end + 1)
    closing = _closing_of(content, label, target, references)
    if closing is None:
        writer.words("[")
        return match.end()
    writer.open("[", "link")
    add_inline(writer, label, ())
    writer.close(closing, "link")
    return target.end() if target is not None else end + 1


def _closing_of(
    content: str, label: str, target: re.Match[str] | None, references: Container[str]
) -> str | None:
    """What closes a link; None if the brackets are none."""
    if target is not None and target[0] == "[]":
        return f"][{label}]" if normalized(label) in references else None
    if target is not None and target[0].startswith("["):
        return f"]{target[0]}" if normalized(target[0][1:-1]) in references else None
    if target is not None:
        return f"]{target[0]}"
    return f"][{label}]" if normalized(label) in references else None


def _add_image(writer: Writer, content: str, match: re.Match[str]) -> int:
    end = _closing(content, match.end())
    target = _TARGET.match(content, end + 1) if end is not None else None
    if end is None or target is None:
        writer.words("!")
        return match.end()
    description = Writer()
    description.words(content[match.end() + 1 : end])
    writer.single("![", description.text(), f"]{target[0]}")
    return target.end()


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
    for match in EMPHASIS.finditer(chinese):
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

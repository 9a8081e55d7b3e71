"""Markup around words, while placeholders stand for it: tags, and the emphasis of Markdown.

Markup stays, the words in it are translated. A model knows words as they look after a space, so in a masked source
they are set apart from the markup; a translation has its markup as close to its words as the source.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from nmt.spans.patterns import ESCAPE
from nmt.text.vocab import JOINT

Element = tuple[str, str]  # the placeholders of what opens it and what closes it

_ESCAPE = re.compile(ESCAPE, re.VERBOSE)
_TAG = re.compile(r"< (/?) ([A-Za-z][^\s/>]*) [^<>]*? (/?) > \Z", re.VERBOSE)
# CommonMark 0.31, §6.2, without its rarer cases; ~~ is GitHub's.
EMPHASIS = re.compile(
    r"""(?a:                                                    # Chinese may touch it
        (?<! [\w*~\\] )
        (?! __ [a-z\d_]{1,99} __ )                              # not __init__
        (?P<mark> \*{1,3}+ (?!\*) | _{1,3}+ (?!_) | ~~ (?!~) )
        (?P<words> (?! \s ) .{1,199}? (?<! [\s\\] ) )
        (?P=mark)
        (?! [\w*~] )
    )""",
    re.VERBOSE,
)
MARKS = frozenset({"*", "**", "***", "_", "__", "___", "~~"})


def tag_elements(spans: Mapping[str, str]) -> list[Element]:
    """The elements that the tags among the spans of a source make; `spans` are in order."""
    elements: list[Element] = []
    opened: list[tuple[str, str]] = []  # placeholder, name
    for placeholder, span in spans.items():
        tag = _TAG.match(span)
        if tag is None or tag[3]:  # <br/>
            continue
        name = tag[2].lower()
        if not tag[1]:
            opened.append((placeholder, name))
        elif any(name == other for _, other in opened):
            while opened[-1][1] != name:  # <br>
                opened.pop()
            elements.append((opened.pop()[0], placeholder))
    return elements


def is_whole(words: str, elements: Sequence[Element]) -> bool:
    """Whether words have each element as a whole, or nothing of it."""
    return all((opening in words) == (closing in words) for opening, closing in elements)


def set_apart(source: str, spans: Mapping[str, str]) -> str:
    """A masked source with a joint between markup and a word that follows it at once."""
    marks = "".join(place for place, span in spans.items() if _is_markup(span))
    return re.sub(rf"(?<=[{marks}])(?=[^\W_])", JOINT, source) if marks else source


def _is_markup(span: str) -> bool:
    is_escape = _ESCAPE.fullmatch(span) is not None
    return is_escape or span in MARKS or _has_room(span) or _TAG.match(span) is not None


def _has_room(span: str) -> bool:
    """Whether it ends in a space of its own, as what a line of a quotation begins with: `> `."""
    return span.endswith(" ")


def as_in_source(
    text: str, source: str, spans: Mapping[str, str], elements: Sequence[Element]
) -> str:
    """The masked text of a translation, with its markup as it is in the masked source.

    Elements are nested. No space is between markup and the words in it, nor behind markup, where the source has none.
    Emphasis of nothing, which Markdown would show as stars, is left out.
    """
    text = _nested(text.replace(JOINT, ""), elements)
    for opening, closing in elements:
        if f"{opening} " not in source:
            text = text.replace(f"{opening} ", opening)
        if f" {closing}" not in source:
            text = text.replace(f" {closing}", closing)
        if spans[opening] in MARKS:
            text = re.sub(f"^{opening}{closing} | ?{opening}{closing}", "", text)
    for place, span in spans.items():
        if place + JOINT in source or _has_room(span):
            text = text.replace(f"{place} ", place)
    return text


def _nested(text: str, elements: Sequence[Element]) -> str:
    """A text in which each element opens before it closes, and none closes before one that opened in it."""
    element_of: dict[str, Element] = {}
    for element in elements:
        if all(text.count(place) == 1 for place in element):
            element_of.update(dict.fromkeys(element, element))
    nested = ""
    opened: list[Element] = []
    seen: set[Element] = set()
    for character in text:
        if character not in element_of:
            nested += character
        elif (element := element_of[character]) in seen:
            nested += opened.pop()[1]
        else:
            nested += element[0]
            opened.append(element)
            seen.add(element)
    return nested


def with_emphasis(
    text: str, source: str, spans: Mapping[str, str], elements: Sequence[Element]
) -> str:
    """A text that has placeholders for marks of emphasis alone, with the marks.

    CommonMark takes `_` beside a letter, and marks between punctuation and a letter, for text. So a space is put there,
    outside of the emphasis, and between two emphases that touch; but not where a letter touches it in the source.
    """
    emphases = [element for element in elements if spans[element[0]] in MARKS]
    openings = {opening for opening, _ in emphases}
    closings = {closing for _, closing in emphases}
    if not emphases:
        return text

    def room(place: str, step: int, outside: str, inside: str) -> str:
        mark = spans[place]
        if step > 0 and outside in openings:
            return " " if spans[outside][0] == mark[0] else ""
        is_tight = _is_touched(source, spans, place, step)
        return " " if _needs_room(mark, outside, inside) and not is_tight else ""

    written = ""
    for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if character in openings:
            written += room(character, -1, before, after) + spans[character]
        elif character in closings:
            written += spans[character] + room(character, 1, after, before)
        else:
            written += character
    return written


def _is_touched(source: str, spans: Mapping[str, str], place: str, step: int) -> bool:
    """Whether a letter is beside a placeholder of a source, before it (step -1) or behind it (1)."""
    at = source.find(place) + step
    beside = source[at : at + 1] if at >= 0 else ""
    written = spans.get(beside, beside)
    return beside == JOINT or (written[:1] if step > 0 else written[-1:]).isalnum()


def _needs_room(mark: str, outside: str, inside: str) -> bool:
    """Whether a mark of emphasis has to be set apart from what is outside of it."""
    is_mark_or_sign = unicodedata.category(inside)[0] in "PSC"  # C: the placeholder of a mark
    return outside.isalnum() and (mark[0] == "_" or is_mark_or_sign)

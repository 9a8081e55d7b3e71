"""Markup around words, while placeholders stand for it: tags, and the emphasis of Markdown.

Markup stays, the words in it are translated. A model knows words as they stand behind a space, so in a masked source
they are set apart from the markup; a translation has its markup as close to its words as the source.
"""

import re
from collections.abc import Iterator, Mapping

# White space that no line has otherwise: it stands in a masked source where the line itself has none.
JOINT = "\x1f"

_TAG = re.compile(r"< (/?) ([A-Za-z][^\s/>]*) [^<>]*? (/?) > \Z", re.VERBOSE)
# CommonMark 0.31, §6.2, without its rarer cases; ~~ is GitHub's. Digits and letters of English end no emphasis.
EMPHASIS = re.compile(
    r"""(?a:
        (?<! [\w*~\\] )
        (?! __ [a-z\d_]{1,99} __ )                              # not __init__
        (?P<mark> \*{1,3}+ (?!\*) | _{1,3}+ (?!_) | ~~ (?!~) )
        (?P<words> (?! \s ) .{1,199}? (?<! [\s\\] ) )
        (?P=mark)
        (?! [\w*~] )
    )""",
    re.VERBOSE,
)
_MARKS = frozenset({"*", "**", "***", "_", "__", "___", "~~"})


def elements(source: str, spans: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The placeholders of what opens and what closes each element of a masked source, the inner ones first."""
    opened: list[tuple[str, str]] = []  # placeholder, name
    for placeholder in sorted(spans, key=source.find):
        span = spans[placeholder]
        tag = _TAG.match(span)
        if tag is not None and not tag[3]:  # not <br/>
            name, closes = tag[2], bool(tag[1])
        elif span in _MARKS:
            name, closes = span, any(name == span for _, name in opened)
        else:
            continue
        if not closes:
            opened.append((placeholder, name))
        elif opened and opened[-1][1] == name:
            yield opened.pop()[0], placeholder


def set_apart(source: str, spans: Mapping[str, str]) -> str:
    """A masked source with a joint between markup and a word that follows it at once."""
    marks = "".join(place for place, span in spans.items() if span in _MARKS or _TAG.match(span))
    return re.sub(rf"(?<=[{marks}])(?=[^\W_])", JOINT, source) if marks else source


def as_in_source(text: str, source: str, spans: Mapping[str, str]) -> str:
    """The masked text of a translation, with its markup as it stands in the masked source.

    What opens stands before what closes. No space is between markup and the words in it, nor behind markup, where the
    source has none. Emphasis of nothing, which Markdown would show as stars, is left out.
    """
    text = text.replace(JOINT, "")
    for opening, closing in elements(source, spans):
        if -1 < text.find(closing) < text.find(opening):
            text = text.translate({ord(opening): closing, ord(closing): opening})
        if f"{opening} " not in source:
            text = text.replace(f"{opening} ", opening)
        if f" {closing}" not in source:
            text = text.replace(f" {closing}", closing)
        if spans[opening] in _MARKS:
            text = re.sub(f"^{opening}{closing} | ?{opening}{closing}", "", text)
            text = _flanked(text, source, opening, closing)
    for place in spans:
        if place + JOINT in source:
            text = text.replace(f"{place} ", place)
    return text


def _flanked(text: str, source: str, opening: str, closing: str) -> str:
    """Emphasis that ends or begins with punctuation, set apart from a word outside: CommonMark needs that."""
    if re.search(rf"\w{opening}|{closing}\w", source):
        return text
    text = re.sub(rf"(?<=\w){opening}(?=[^\w\s])", f" {opening}", text)
    return re.sub(rf"(?<=[^\w\s]){closing}(?=\w)", f"{closing} ", text)

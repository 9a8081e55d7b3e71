"""Protected spans: what a machine reads, and a translation must repeat byte for byte.

A span travels through the model as a numbered placeholder, a character of Unicode's private use
area that every tokenizer makes a token of its own, and comes back in its place.
"""

import re
from collections import Counter, deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from nmt.spans.codes import CODE
from nmt.spans.markup import (
    EMPHASIS,
    MARKS,
    Element,
    as_in_source,
    is_whole,
    set_apart,
    tag_elements,
    with_emphasis,
)
from nmt.spans.number_patterns import (
    AMOUNT,
    FIGURE,
    LONG_NUMBER,
    NUMBER,
    SCALED_NUMBER,
    WHOLE_SCALED_NUMBER,
    in_chinese,
)
from nmt.spans.patterns import APOSTROPHE, EMOJI, EMOTICON, IDENTIFIER, PATTERN, PICTURES
from nmt.text.scripts import CHINESE_WORD, FOREIGN_WORDS
from nmt.text.vocab import JOINT, PLACEHOLDERS

# Numbers take the last of them, other spans the first, as long as there are any: a model learns that 点 or 年 may
# follow a number, but not a name.
SPAN_PLACEHOLDERS, NUMBER_PLACEHOLDERS = PLACEHOLDERS[:5], PLACEHOLDERS[5:]
_PLACEHOLDER = f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]"

# Which numbers travel as placeholders. "long": of five digits and more, with commas, versions. "figures": also
# 600 million, decimals, and those of two digits or more, but for what is likely a year (1800 to 2099) or a time of day
# (10:30): their place among the other words of a date or a time is hard to tell without them. "all": every number.
Numbers = Literal["long", "figures", "all"]

_SPAN = re.compile(
    f"{APOSTROPHE} | {_PLACEHOLDER} | {PATTERN} | {LONG_NUMBER} | {IDENTIFIER} | {EMOJI} | {EMOTICON}",
    re.VERBOSE,
)
_SPAN_OR_FIGURE = re.compile(f"{SCALED_NUMBER} | {_SPAN.pattern} | {FIGURE}", re.VERBOSE)
_SPAN_OR_NUMBER = re.compile(f"{SCALED_NUMBER} | {_SPAN.pattern} | {NUMBER}", re.VERBOSE)
_PATTERNS: dict[Numbers, re.Pattern[str]] = {
    "long": _SPAN,
    "figures": _SPAN_OR_FIGURE,
    "all": _SPAN_OR_NUMBER,
}
# What Chinese writes by rule: 300 CHF.
_PATTERNS_INTO_CHINESE: dict[Numbers, re.Pattern[str]] = {
    "long": _SPAN,
    "figures": re.compile(f"{AMOUNT} | {_SPAN_OR_FIGURE.pattern}", re.VERBOSE),
    "all": re.compile(f"{AMOUNT} | {_SPAN_OR_NUMBER.pattern}", re.VERBOSE),
}
_EXACT_SPAN = re.compile(f"{_PLACEHOLDER} | {PATTERN} | {EMOJI} | {EMOTICON}", re.VERBOSE)
_CODE = re.compile(CODE, re.VERBOSE)
_LONG_CODE = 6  # characters; a shorter one may be part of another
_CUT = re.compile(f"({_EXACT_SPAN.pattern})", re.VERBOSE)
_APOSTROPHE = re.compile(APOSTROPHE, re.VERBOSE)
_WHOLE_NUMBER = re.compile(rf"{WHOLE_SCALED_NUMBER.pattern} | {NUMBER} \Z", re.VERBOSE)
# Without any of these a text has no span: most have none of them, and this is soon seen.
_SUSPICIOUS = re.compile(
    rf"""
    [`<&{{%/@#\\()+>^{PICTURES}]
  | ~~ | !\[ | [-*][ ]\[
  | \d[\d,.-]+\d | \d[ ]\d | \d[A-Z-]
  | BIC | SWIFT | [=!:<>]=[ ] | [ ][=*×÷±≤≥≠≈−·|][ ] | [²³°]
  | [.:;=-]\w
  | ="
  | [A-Za-z]\d
  | [*_]
  | 0x
  | {_PLACEHOLDER}
    """,
    re.VERBOSE,
)
_DIGIT = re.compile("[0-9]")
_SPLIT = re.compile(f"({_PLACEHOLDER})")
_RUN_TOGETHER = re.compile("[A-Za-z0-9]{2}")
_WORD = re.compile(r"\w")
_EMOTICON = re.compile(EMOTICON, re.VERBOSE)
_ENDS_IN_EMOTICON = re.compile(rf"{EMOTICON} \Z", re.VERBOSE)


@dataclass(frozen=True)
class Masked:
    """A text with placeholders, and what each of these stands for, in order."""

    text: str
    spans: dict[str, str]
    elements: tuple[Element, ...] = ()

    def fill(self, text: str) -> str:
        """Put the spans into a text that has placeholders.

        Letters and digits beside a span are set apart from its own by a space. A placeholder that
        stands for nothing is left out. Markup is as in the source.
        """
        filled = ""
        for piece in _SPLIT.split(as_in_source(text, self.text, self.spans, self.elements)):
            span = self.spans.get(piece, "") if piece in PLACEHOLDERS else piece
            filled = beside(filled, piece if span in MARKS else span)
        return with_emphasis(filled, self.text, self.spans, self.elements)

    def intact_in(self, text: str) -> bool:
        """Whether each of the placeholders occurs exactly once in a text, and no other one does."""
        return sorted(re.findall(_PLACEHOLDER, text)) == sorted(self.spans)


class MaskedPair(NamedTuple):
    """Both sides of a pair with placeholders, and what each of these stands for."""

    src: str
    tgt: str
    spans: dict[str, str]

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides as a model is trained with them."""
        return _APOSTROPHE.sub("'", self.src.replace(JOINT, " ")), self.tgt


def marked_term(placeholder: str, english: str) -> str:
    """A term of a glossary as a model reads it that was trained with `augment.terms`."""
    return f"{placeholder} {english} {placeholder}"


def without_placeholders(text: str) -> str:
    """A text without its placeholders."""
    return re.sub(_PLACEHOLDER, "", text)


def beside(left: str, right: str) -> str:
    """Two texts, one of them a span, as one; a space sets letters and digits apart, and an emoticon from words."""
    ends = left[-1:] + right[:1]
    runs_together = (
        _RUN_TOGETHER.match(ends)
        or (_WORD.match(left[-1:]) and _EMOTICON.fullmatch(right))
        or (_WORD.match(right[:1]) and _ENDS_IN_EMOTICON.search(left))
    )
    return left + (" " if runs_together else "") + right


def cut(text: str) -> list[str]:
    """A text cut at what has to come through byte for byte: text, span, text, span, text, some of them empty."""
    return _CUT.split(text)


def find(text: str, numbers: Numbers = "long") -> list[str]:
    """The protected spans of a text in order, `numbers` among them."""
    return _found(_PATTERNS[numbers], text) if _may_have_spans(text, numbers) else []


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    """What a pattern finds in a text, without the apostrophes of words."""
    return [match[0] for match in pattern.finditer(text) if not _is_apostrophe(match)]


def _is_apostrophe(match: re.Match[str]) -> bool:
    return _APOSTROPHE.match(match.string, match.start()) is not None


def mask(text: str, numbers: Numbers = "long", into_chinese: bool = False) -> Masked:
    """Replace the spans of a text by placeholders: `numbers` and Markdown's emphasis too.

    `into_chinese`: the text is English and becomes Chinese. Then words in other scripts than Latin are spans as well,
    and so are amounts of some currencies, which Chinese writes by rule: HK$5 million as 500万港元.

    The placeholder of 600 million stands for 6亿. What there is no placeholder for stays, unless it
    is one itself: numbers give way to other spans, and foreign words come last. don&#39;t is read as don't.
    """
    text = text.replace(JOINT, " ")
    is_foreign = into_chinese and FOREIGN_WORDS.search(text) is not None
    if not is_foreign and not _may_have_spans(text, numbers):
        return Masked(text, {})
    free = deque(PLACEHOLDERS)
    spans: dict[str, str] = {}
    with_amounts = into_chinese and numbers != "long"

    def hide_all(pattern: re.Pattern[str], text: str) -> str:
        placeholders = iter(_take(free, _found(pattern, text)))

        def hide(match: re.Match[str]) -> str:
            if _is_apostrophe(match):
                return "'"
            placeholder = next(placeholders)
            if placeholder is None:
                return "" if match[0] in PLACEHOLDERS else match[0]
            spans[placeholder] = in_chinese(match[0], with_amounts)
            return placeholder

        return pattern.sub(hide, text)

    patterns = _PATTERNS_INTO_CHINESE if into_chinese else _PATTERNS
    masked = hide_all(patterns[numbers], text)
    elements = tag_elements(spans)
    masked = _hide_emphasis(masked, free, spans, elements)
    if is_foreign:
        masked = hide_all(FOREIGN_WORDS, masked)
    return Masked(set_apart(masked, spans), spans, tuple(elements))


def _hide_emphasis(
    text: str, free: deque[str], spans: dict[str, str], elements: list[Element], mark: str = ""
) -> str:
    """Replace the marks of Markdown's emphasis by free placeholders, two for each; only one kind of `mark` if named."""

    def hide(match: re.Match[str]) -> str:
        is_asked_for = mark in ("", match["mark"])
        if not is_asked_for or len(free) < 2 or not is_whole(match["words"], elements):
            return match[0]
        opening, closing = free.popleft(), free.popleft()
        spans.update({opening: match["mark"], closing: match["mark"]})
        elements.append((opening, closing))
        return opening + match["words"] + closing

    before = ""
    while text != before:  # the words may have emphasis in them
        before = text
        text = EMPHASIS.sub(hide, text)
    return text


def _take(free: deque[str], spans: list[str]) -> list[str | None]:
    """A placeholder for each span; None if there is none left. Numbers take the last ones, after all other spans."""
    taken: list[str | None] = [None] * len(spans)
    are_numbers = [_is_number(span) for span in spans]
    for i in sorted(range(len(spans)), key=are_numbers.__getitem__):
        if free:
            taken[i] = free.pop() if are_numbers[i] else free.popleft()
    return taken


def _is_number(span: str) -> bool:
    return _WHOLE_NUMBER.match(span) is not None


def mask_pair(
    src: str, tgt: str, first: int, numbers: Numbers = "long", foreign: bool = False
) -> MaskedPair | None:
    """Replace what occurs once on each side by the same placeholder on both; None if nothing does.

    That is spans, `numbers` among them, Markdown's emphasis and, if asked for, `foreign` words: those of the source in
    other scripts than Latin. `first` is any number: it says which of the placeholders comes first.
    """
    src, tgt = (side.replace(JOINT, " ") for side in (src, tgt))
    free = deque(_from(SPAN_PLACEHOLDERS, first) + _from(NUMBER_PLACEHOLDERS, first))
    spans: dict[str, str] = {}
    src, tgt = _hide_shared_spans(src, tgt, numbers, free, spans)
    for mark in _shared_marks(src, tgt):
        if len(free) >= 2:
            both = free.popleft(), free.popleft()
            src, tgt = (_hide_emphasis(side, deque(both), spans, [], mark) for side in (src, tgt))
    if foreign:
        src, tgt = _hide_shared_words(src, tgt, free, spans)
    return MaskedPair(set_apart(src, spans), tgt, spans) if spans else None


def _hide_shared_spans(
    src: str, tgt: str, numbers: Numbers, free: deque[str], spans: dict[str, str]
) -> tuple[str, str]:
    shared = _shared_spans(src, tgt, numbers)
    both = zip(shared, _take(free, shared), strict=True)
    placeholders = {span: placeholder for span, placeholder in both if placeholder is not None}
    if not placeholders:
        return src, tgt
    spans.update({placeholder: span for span, placeholder in placeholders.items()})

    def hide(match: re.Match[str]) -> str:
        return match[0] if _is_apostrophe(match) else placeholders.get(match[0], match[0])

    pattern = _PATTERNS[numbers]
    return pattern.sub(hide, src), pattern.sub(hide, tgt)


def _hide_shared_words(
    src: str, tgt: str, free: deque[str], spans: dict[str, str]
) -> tuple[str, str]:
    words = FOREIGN_WORDS.findall(src)
    for word in [word for word in words if src.count(word) == 1]:
        # Counted anew: a word before may have taken a part of it, as 北京 does of 京城 in 北京城.
        if free and tgt.count(word) == 1:
            placeholder = free.popleft()
            spans[placeholder] = word
            src, tgt = src.replace(word, placeholder), tgt.replace(word, placeholder)
    return src, tgt


def _from(placeholders: tuple[str, ...], first: int) -> tuple[str, ...]:
    """All of them, in a circle."""
    turn = first % len(placeholders)
    return placeholders[turn:] + placeholders[:turn]


def _shared_spans(src: str, tgt: str, numbers: Numbers) -> list[str]:
    """What occurs once on each side, in the order of the source."""
    src_counts = Counter(find(src, numbers))
    if not src_counts:
        return []
    tgt_counts = Counter(find(tgt, numbers))
    return [span for span, count in src_counts.items() if count == tgt_counts[span] == 1]


def _shared_marks(src: str, tgt: str) -> list[str]:
    """The marks of emphasis that enclose something once on each side."""
    counts = [Counter(match["mark"] for match in EMPHASIS.finditer(side)) for side in (src, tgt)]
    return [mark for mark, count in counts[0].items() if count == counts[1][mark] == 1]


def lost(source: str, translation: str) -> list[str]:
    """The spans of a source that its translation does not have as often, in order.

    Long numbers and identifiers are not among them: they may be written otherwise. Codes may have other spaces.
    """
    counts = _exact_spans(source)
    missing = [span for span, count in counts.items() if translation.count(span) < count]
    return [span for span in missing if not _is_spaced_otherwise(span, translation, counts[span])]


def _is_spaced_otherwise(span: str, translation: str, count: int) -> bool:
    """Whether it is a code that the translation has with other spaces: x=1 for x = 1."""
    is_code = _CODE.fullmatch(span) is not None
    return is_code and translation.replace(" ", "").count(span.replace(" ", "")) >= count


def lost_from_english(source: str, translation: str) -> list[str]:
    """The same, codes that the translation has more often, and words in scripts that are neither Latin nor Chinese."""
    found = lost(source, translation) + _doubled(source, translation)
    if source.isascii():
        return found
    words = [word for word in FOREIGN_WORDS.findall(source) if not CHINESE_WORD.fullmatch(word)]
    return found + [word for word in words if word not in translation]


def _doubled(source: str, translation: str) -> list[str]:
    """The codes of a source that its translation has more often; it may well repeat the name of a file."""
    codes = [span for span in _exact_spans(source) if len(span) >= _LONG_CODE]
    again = [span for span in codes if translation.count(span) > source.count(span)]
    return [span for span in again if _CODE.fullmatch(span)]


@lru_cache(maxsize=1)  # a source may have the translations of several systems, one after the other
def _exact_spans(source: str) -> Counter[str]:
    if _SUSPICIOUS.search(source) is None:
        return Counter()
    return Counter(_EXACT_SPAN.findall(source))


def with_letters_for_spans(text: str) -> str:
    """A text with an X for each part that has to come through byte for byte: what people read."""
    if _SUSPICIOUS.search(text) is None:
        return text
    return _EXACT_SPAN.sub("X", text)


def _may_have_spans(text: str, numbers: Numbers) -> bool:
    """Whether it is worth looking for them: most texts have none, and this is soon seen."""
    if numbers != "long" and _DIGIT.search(text) is not None:
        return True
    return _SUSPICIOUS.search(text) is not None

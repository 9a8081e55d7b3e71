"""Protected spans: what a machine reads, and a translation must repeat byte for byte.

A span travels through the model as a numbered placeholder, a character of Unicode's private use
area that every tokenizer makes a token of its own, and comes back in its place.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from nmt.spans.exact import PLACEHOLDER, SUSPICIOUS
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
from nmt.spans.patterns import APOSTROPHE, EMOJI, EMOTICON, IDENTIFIER, PATTERN
from nmt.text.scripts import FOREIGN_WORDS
from nmt.text.vocab import JOINT, PLACEHOLDERS

# Numbers take the last of them, other spans the first, as long as there are any: a model learns that 点 or 年 may
# follow a number, but not a name.
SPAN_PLACEHOLDERS, NUMBER_PLACEHOLDERS = PLACEHOLDERS[:5], PLACEHOLDERS[5:]

# Which numbers travel as placeholders. "long": of five digits and more, with commas, versions. "figures": also
# 600 million, decimals, and those of two digits or more, but for what is likely a year (1800 to 2099) or a time of day
# (10:30): their place among the other words of a date or a time is hard to tell without them. "all": every number.
Numbers = Literal["long", "figures", "all"]

_SPAN = f"{APOSTROPHE} | {PLACEHOLDER} | {PATTERN} | {LONG_NUMBER} | {IDENTIFIER} | {EMOJI} | {EMOTICON}"
_SPANS: dict[Numbers, str] = {
    "long": _SPAN,
    "figures": f"{SCALED_NUMBER} | {_SPAN} | {FIGURE}",
    "all": f"{SCALED_NUMBER} | {_SPAN} | {NUMBER}",
}
_APOSTROPHE = re.compile(APOSTROPHE, re.VERBOSE)
_WHOLE_NUMBER = re.compile(rf"{WHOLE_SCALED_NUMBER.pattern} | {NUMBER} \Z", re.VERBOSE)
_DIGIT = re.compile("[0-9]")
_SIGN = "\uffff"  # what stands for a term while spans are looked for
_MOST_TERMS = 7  # that are hidden in a line: other spans need placeholders too
_SPLIT = re.compile(f"({PLACEHOLDER})")
_RUN_TOGETHER = re.compile("[A-Za-z0-9]{2}")
_WORD = re.compile(r"\w")
_EMOTICON = re.compile(EMOTICON, re.VERBOSE)
_LONGEST_EMOTICON = 8  # characters, with the one before it
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
        pieces = _SPLIT.split(as_in_source(text, self.text, self.spans, self.elements))
        filled = joined(self._filled(piece) for piece in pieces)
        return with_emphasis(filled, self.text, self.spans, self.elements)

    def _filled(self, piece: str) -> str:
        span = self.spans.get(piece, "") if piece in PLACEHOLDERS else piece
        return piece if span in MARKS else span

    def intact_in(self, text: str) -> bool:
        """Whether each of the placeholders occurs exactly once in a text, and no other one does."""
        return sorted(re.findall(PLACEHOLDER, text)) == sorted(self.spans)


class Hidden(NamedTuple):
    """Words of a text, from one character to before another, and what stands for them in the translation."""

    start: int
    end: int
    text: str


Terms = Callable[[str], Sequence[Hidden]]  # the words of a text that a glossary has, in order


def replaced(text: str, hidden: Sequence[Hidden], by: Callable[[Hidden], str]) -> str:
    """A text with something else for each that is hidden, in the order of their places."""
    written, at = "", 0
    for each in hidden:
        written += text[at : each.start] + by(each)
        at = each.end
    return written + text[at:]


class MaskedPair(NamedTuple):
    """Both sides of a pair with placeholders, and what each of these stands for."""

    src: str
    tgt: str
    spans: dict[str, str]

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides as a model is trained with them."""
        return _APOSTROPHE.sub("'", self.src.replace(JOINT, " ")), self.tgt


def without_placeholders(text: str) -> str:
    """A text without its placeholders."""
    return re.sub(PLACEHOLDER, "", text)


def joined(pieces: Iterable[str]) -> str:
    """Texts, some of them spans, as one; a space sets letters and digits apart, and an emoticon from words."""
    parts: list[str] = []
    end = ""  # of what is joined: the whole of it, again and again, would take the square of its length
    for piece in pieces:
        part = f" {piece}" if _runs_together(end, piece) else piece
        parts.append(part)
        end = (end + part)[-_LONGEST_EMOTICON:]
    return "".join(parts)


def _runs_together(left: str, right: str) -> bool:
    is_emoticon = _WORD.match(left[-1:]) and _EMOTICON.fullmatch(right)
    is_behind_one = _WORD.match(right[:1]) and _ENDS_IN_EMOTICON.search(left)
    return bool(_RUN_TOGETHER.match(left[-1:] + right[:1]) or is_emoticon or is_behind_one)


def find(text: str, numbers: Numbers = "long") -> list[str]:
    """The protected spans of a text in order, `numbers` among them."""
    return _found(_pattern(numbers), text) if _may_have_spans(text, numbers) else []


@cache
def _pattern(numbers: Numbers, into_chinese: bool = False) -> re.Pattern[str]:
    """What spans are; with `into_chinese`, amounts that Chinese writes by rule are some: 300 CHF.

    Compiled when a text first needs it: that takes longer than to translate a line.
    """
    spans = _SPANS[numbers]
    if into_chinese and numbers != "long":
        spans = f"{AMOUNT} | {spans}"
    return re.compile(spans, re.VERBOSE)


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    """What a pattern finds in a text, without the apostrophes of words."""
    return [match[0] for match in pattern.finditer(text) if not _is_apostrophe(match)]


def _is_apostrophe(match: re.Match[str]) -> bool:
    return _APOSTROPHE.match(match.string, match.start()) is not None


def mask(
    text: str, numbers: Numbers = "long", into_chinese: bool = False, terms: Terms | None = None
) -> Masked:
    """Replace the spans of a text by placeholders: `numbers`, Markdown's emphasis and `terms` too.

    `into_chinese`: the text is English and becomes Chinese. Then words in other scripts than Latin are spans as well,
    and so are amounts of some currencies, which Chinese writes by rule: HK$5 million as 500万港元.

    The placeholder of 600 million stands for 6亿. What there is no placeholder for stays, unless it
    is one itself: numbers give way to other spans, and foreign words come last. don&#39;t is read as don't.
    """
    text = text.replace(JOINT, " ").replace(_SIGN, " ")
    free = deque(PLACEHOLDERS)
    hidden = terms(text)[:_MOST_TERMS] if terms is not None else []
    places = [free.popleft() for _ in hidden]
    text = replaced(text, hidden, lambda _: _SIGN)  # which no pattern takes for a letter
    is_foreign = into_chinese and FOREIGN_WORDS.search(text) is not None
    if not hidden and not is_foreign and not _may_have_spans(text, numbers):
        return Masked(text, {})
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

    masked = hide_all(_pattern(numbers, into_chinese), text)
    elements = tag_elements(spans)
    masked = _hide_emphasis(masked, free, spans, elements)
    if is_foreign:
        masked = hide_all(FOREIGN_WORDS, masked)
    for place, each in zip(places, hidden, strict=True):
        spans[place] = each.text
        masked = masked.replace(_SIGN, place, 1)
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

    pattern = _pattern(numbers)
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


def _may_have_spans(text: str, numbers: Numbers) -> bool:
    """Whether it is worth looking for them: most texts have none, and this is soon seen."""
    if numbers != "long" and _DIGIT.search(text) is not None:
        return True
    return SUSPICIOUS.search(text) is not None

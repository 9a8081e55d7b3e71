"""What two lines show at a glance: loops, copies of the source, lengths that cannot be right."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from nmt.spans.exact import with_letters_for_spans
from nmt.text.scripts import HAS_HAN

# A word or phrase that begins with a letter, and three more of it: 受伤, 受伤, 受伤, 受伤. Not 谢谢，谢谢.
_FOUR_IN_A_ROW = re.compile(r"([^\W\d].{0,59}?)([\s，,、。；！!]{0,2})(?:\1\2){2}\1")
_THREE_IN_A_ROW = re.compile(r"([^\W\d].{0,59}?)(?:\W{0,2}\1){2}", re.IGNORECASE)  # ha ha ha
# A word in small letters: neither a name nor part of an address.
_SMALL_WORD = re.compile(r"(?<![\w@#./:'-])[a-z]{2,}(?![\w@/:-]|\.\w)")
_QUOTED = re.compile(r"""[“"（(《][^“”"（）()《》]*[”"）)》]""")
_LONGEST_DETAIL = 40  # characters


def repeated(source: str, translation: str) -> list[str]:
    """What occurs four times in a row, if nothing in the source occurs three times in a row."""
    most = max(Counter(translation).values(), default=0)
    if most < 4:  # its first letter occurs four times: quicker to see than the whole
        return []
    found = _FOUR_IN_A_ROW.search(translation)
    if found is None or _THREE_IN_A_ROW.search(source):
        return []
    return [_shortened(found[1])]


def copied(source: str, translation: str) -> list[str]:
    """A translation without Chinese, or with half of the source's words as they were.

    A source so short that it may be a name is let pass, unless nothing of it changed. Protected spans are no words.
    """
    words = _small_words(source)
    if not words or not any(map(str.isalpha, translation)):
        return []
    if HAS_HAN.search(translation):
        is_copy = _is_half_kept(words, with_letters_for_spans(translation))
    else:
        is_copy = len(words) > 2 or translation == source
    return [_shortened(translation)] if is_copy else []


def _is_half_kept(words: Sequence[str], translation: str) -> bool:
    unquoted = _QUOTED.sub("", translation)  # a title may stay as it is
    said = _SMALL_WORD.findall(unquoted)
    if len(said) <= 2:  # names
        return False
    kept = Counter(words) & Counter(said)
    return kept.total() > 2 and 2 * kept.total() >= len(words)


@lru_cache(maxsize=1)  # a source may have the translations of several systems, one after the other
def _small_words(source: str) -> tuple[str, ...]:
    return tuple(_SMALL_WORD.findall(with_letters_for_spans(source)))


def blank(source: str, translation: str) -> list[str]:
    """The lengths, if there is no translation."""
    is_blank = bool(source.strip()) and not translation.strip()
    return [_lengths(source, translation)] if is_blank else []


def too_short(source: str, translation: str) -> list[str]:
    """The lengths, if no human reference of two test sets is so short, or there is no text."""
    if len(translation) < 0.12 * len(source) - 1:
        return [_lengths(source, translation)]
    return blank(source, translation)


def too_long(source: str, translation: str) -> list[str]:
    """The lengths, if no human reference of two test sets is so long."""
    if len(translation) > 1.3 * len(source) + 10:
        return [_lengths(source, translation)]
    return []


def _lengths(source: str, translation: str) -> str:
    return f"{len(translation)} characters for {len(source)}"


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_DETAIL:
        return text
    return f"{text[: _LONGEST_DETAIL - 1]}…"

"""Which pairs are not worth learning from: each rule is a named predicate, true of a pair that is to go.

The thresholds were set on 850,000 pairs of everyday, news, wiki, game and technical text, so that what is
doubtful stays: all rules together drop one in four thousand of them, nearly all rightly.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nmt.corpus.lines import SentencePair
from nmt.text.scripts import is_traditional


@dataclass(frozen=True)
class Limits:
    """What the predicates need to know beside the pair."""

    languages: tuple[str, str] = ("en", "zh")
    max_tokens: int = 250
    max_ratio: float = 2.5


Filter = Callable[[SentencePair, Limits], bool]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_KANA_OR_HANGUL = re.compile("[\u3041-\u30fa\u30fd-\u30ff\uac00-\ud7a3]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+|[^\w\s]")
_FREE = 12  # characters that each side gets for nothing, since short translations differ a lot in length

_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff]"
)
_MOJIBAKE = re.compile(
    "[ÂÃ][\u0080-\u00bf]"  # UTF-8 of Latin letters and signs, read as Latin-1 or Windows-1252
    "|â€|ã€|ï¼[\u0080-\u00bf\u0152-\u2122]"  # of “”, of 、。, of ，：
    "|(?:[ä-é][\u0080-\u00bf\u0152-\u2122]{2}){2}"  # of two Han characters
    "|\ufffd|锟斤拷|烫烫烫|屯屯屯"  # what could not be decoded, then read as GBK; uninitialised memory
    "|[鈥銆][\u4e00-\u9fff?]"  # UTF-8 of “。 read as GBK
    "|锛[?佷佸佹佺佽侀堜堝堟堢堣堥変夊夋夌夎夐屼屽屾岀岃岄氫氬氭氱氳氶"
    "涗涘涙涚涜涢熶熷熸熺熻熼]"  # of ！（），：；？ before a Han character
)
# The same by its first characters: a search for one set is several times faster than one for alternatives.
_MOJIBAKE_START = re.compile("[ÂÃâãïä-é\ufffd锟烫屯鈥銆锛]")
_TAG = (
    "a|abbr|b|big|blockquote|body|br|center|cite|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img|"
    "input|ins|kbd|label|li|link|meta|ol|option|p|pre|script|select|small|span|strike|strong|style|sub|sup|table|"
    "tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|var"
)
_MARKUP = re.compile(
    rf"(?i)<(?:{_TAG})(?:\s[^<>]*)?/?>|</\s?(?:{_TAG})\s?>|<!--|&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|apos|nbsp);"
)
_STAGE_NOTE = re.compile(
    r"[(\[（【]\s?(?:"
    r"(?i:laughter|laughs|laughing|applause|cheers|cheering|笑声|掌声|鼓掌|欢呼声?|众笑|大笑|笑)\s?[)\]）】]"
    r"|(?<=^.)(?i:music|video|audio|音乐|视频|录音)\s?[)\]）】]$)"
)


def empty(pair: SentencePair, limits: Limits) -> bool:
    """Whether a side has no letter, character or digit."""
    return not (any(map(str.isalnum, pair.src)) and any(map(str.isalnum, pair.tgt)))


def too_long(pair: SentencePair, limits: Limits) -> bool:
    """Whether a side has more than `max_tokens`, estimated without a tokenizer.

    A word, a punctuation mark and a Han character are one token each. (Chinese words are 1.6 characters on
    average, so that Chinese is overestimated.)
    """
    return any(len(side) > limits.max_tokens < len(_TOKEN.findall(side)) for side in pair)


def ratio(pair: SentencePair, limits: Limits) -> bool:
    """Whether a side is more than `max_ratio` times as long as the other.

    Lengths are in characters, a Han character counting as three, plus 12 for each side. Between English and
    Chinese the ratio is then 1.2 in the median; 2.5 drops one of 10,000 good pairs and 20 % of random ones.
    """
    src, tgt = (
        len(pair.src) + 2 * _han(pair.src) + _FREE,
        len(pair.tgt) + 2 * _han(pair.tgt) + _FREE,
    )
    return src > tgt * limits.max_ratio or tgt > src * limits.max_ratio


def identical(pair: SentencePair, limits: Limits) -> bool:
    """Whether both sides are the same up to case: the text was not translated."""
    return pair.src == pair.tgt or pair.src.casefold() == pair.tgt.casefold()


def wrong_script(pair: SentencePair, limits: Limits) -> bool:
    """Whether Chinese has no Han characters, or more kana or hangul; or most of English is not Latin."""
    sides = zip(pair, limits.languages, strict=True)
    return any(
        _WRONG_SCRIPT[language](text) for text, language in sides if language in _WRONG_SCRIPT
    )


def control(pair: SentencePair, limits: Limits) -> bool:
    """Whether there are control characters (but tabs and line ends), private-use or noncharacters: damage."""
    return not "".join(pair).isprintable() and any(_CONTROL.search(side) for side in pair)


def mojibake(pair: SentencePair, limits: Limits) -> bool:
    """Whether text was decoded with a wrong encoding: cafÃ©, itâ€™s, U+FFFD, 锟斤拷."""
    return any(
        _MOJIBAKE_START.search(side) and _MOJIBAKE.search(side)
        for side in pair
        if not side.isascii()
    )


def markup(pair: SentencePair, limits: Limits) -> bool:
    """Whether HTML tags or entities are left."""
    return any(_MARKUP.search(side) for side in pair if "<" in side or "&" in side)


def stage_note(pair: SentencePair, limits: Limits) -> bool:
    """Whether a subtitle speaks of sounds: (掌声), [Laughter], （笑声）."""
    return any(_STAGE_NOTE.search(side) for side in pair)


def traditional(pair: SentencePair, limits: Limits) -> bool:
    """Whether Chinese stands in Traditional characters."""
    return any(
        is_traditional(text) for text, of in zip(pair, limits.languages, strict=True) if of == "zh"
    )


def failed(pair: SentencePair, filters: Mapping[str, Filter], limits: Limits) -> str | None:
    """Name the first rule that drops the pair, if one does."""
    return next((name for name, drops in filters.items() if drops(pair, limits)), None)


def _han(text: str) -> int:
    return 0 if text.isascii() else sum(map(len, _HAN_RUN.findall(text)))


def _not_chinese(text: str) -> bool:
    han = _han(text)
    return not han or len(_KANA_OR_HANGUL.findall(text)) > han


def _not_english(text: str) -> bool:
    return not text.isascii() and 2 * len(_LATIN.findall(text)) < len(_LETTER.findall(text))


_WRONG_SCRIPT: dict[str, Callable[[str], bool]] = {"zh": _not_chinese, "en": _not_english}

# The first two look at the text as written, since normalisation would blur what they look for.
RAW_FILTERS: dict[str, Filter] = {"control": control, "mojibake": mojibake}
_RULES = (empty, too_long, identical, wrong_script, ratio, markup, stage_note, traditional)
FILTERS: dict[str, Filter] = {rule.__name__: rule for rule in _RULES}

"""Which pairs are not worth learning from: each rule is a named predicate, true of a pair to be dropped.

The thresholds were set on 850,000 pairs of everyday, news, wiki, game and technical text, so that doubtful pairs
stay: all rules together drop one in four thousand of them, nearly all rightly.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nmt.corpus.reading.pairs import SentencePair
from nmt.text.scripts import HAN, is_traditional


@dataclass(frozen=True)
class Limits:
    """What the predicates need to know besides the pair."""

    languages: tuple[str, str] = ("en", "zh")
    max_tokens: int = 250
    max_ratio: float = 2.5


Filter = Callable[[SentencePair, Limits], bool]

_HAN_RUN = re.compile(f"[{HAN}]+")
_KANA_OR_HANGUL = re.compile("[\u3041-\u30fa\u30fd-\u30ff\uac00-\ud7a3]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(
    rf"""
    [{HAN}]           # 茶
    | [^\W{HAN}]+     # tea, 42
    | [^\w\s]         # a punctuation mark
    """,
    re.VERBOSE,
)
_HAN_LENGTH = 3  # a Han character counts as this many letters
_ABBREVIATION = 4  # letters at most
_FREE_LENGTH = 12  # added to each side, since short translations differ a lot in length

_CONTROL = re.compile(
    "["
    "\x00-\x08\x0e-\x1b"  # control characters; tabs, line ends and separators (\x1c-\x1f) may stay
    "\x7f-\x84\x86-\x9f"  # the second set of them; \x85 is a line end
    "\ue000-\uf8ff"  # private use
    "\ufdd0-\ufdef\ufffe\uffff"  # never characters
    "]"
)
_MOJIBAKE = re.compile(
    r"""
    # UTF-8 read as Latin-1 or Windows-1252
    [ÂÃ] [\u0080-\u00bf]                           # cafÃ©: of Latin letters and signs
    | â€                                           # itâ€™s: of ’ “ ”
    | ã€                                           # ã€‚: of 。 、
    | ï¼ [\u0080-\u00bf\u0152-\u2122]              # ï¼Œ: of ， ：
    | (?: [ä-é] [\u0080-\u00bf\u0152-\u2122]{2} ){2}   # ä½\xa0å¥½: of two Han characters
    # UTF-8 read as GBK
    | [鈥銆] [\u4e00-\u9fff?]                       # 鈥淗: of “, and 銆? of 。
    | 锛 [?佷佸佹佺佽侀堜堝堟堢堣堥変夊夋夌夎夐屼屽屾岀岃岄氫氬氭氱氳氶涗涘涙涚涜涢熶熷熸熺熻熼]
                                                   # 锛屼: of ！（），：；？ before a Han character
    | 锟斤拷                                        # of \ufffd
    # neither
    | \ufffd                                       # what could not be decoded
    | 烫{4} | 屯{4}                                  # uninitialised memory; 烫烫烫！ is hot, hot, hot
    """,
    re.VERBOSE,
)
# The first characters of the above: searching for one set is several times faster than for alternatives.
_MOJIBAKE_START = re.compile("[ÂÃâãïä-é\ufffd锟烫屯鈥銆锛]")
_ALONE = frozenset({"br", "hr", "img", "input", "link", "meta"})  # tags that need not be closed
_TAG = """
    html | head | body | title | meta | link | style | script     # a page
    | p | br | hr | h[1-6] | div | center | blockquote | pre      # its blocks
    | ul | ol | li | dl | dt | dd                                 # lists
    | table | thead | tbody | tfoot | tr | th | td                # tables
    | form | input | label | select | option | textarea           # forms
    | a | iframe | img                                            # links, pictures
    | abbr | b | big | cite | code | em | font | i | ins          # words
    | kbd | small | span | strike | strong | sub | sup | tt | u | var
"""
_MARKUP = re.compile(
    rf"""
    < (?P<opened> {_TAG} )
      (?: \s [^<>=]* = [^<>]* | \s [a-z]+ )? \s? /? >             # <b>, <br/>, <a href="x">; not <b and b>
    | </ \s? (?P<closed> {_TAG} ) \s? >                            # </b>
    | (?P<other> <!--                                             # a comment
      | & (?: \#\d+ | \#x[\da-f]+ | amp | lt | gt | quot | apos | nbsp ) ;   # &#39; &#x27; &amp;
      )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STAGE_NOTE = re.compile(
    r"""
    [(\[（【]
    (?:
        \s?
        (?:
            (?i: laughter | laughs | laughing | applause | cheers | cheering )    # [Laughter]
            | 笑声 | 掌声 | 鼓掌 | 欢呼声? | 众笑 | 大笑 | 笑                        # （ 掌声 ）
        )
        \s? [)\]）】]
    |
        (?<= ^. )    # these only where they are all of the text
        (?: (?i: music | video | audio ) | 音乐 | 视频 | 录音 )                    # [Music]
        \s? [)\]）】] $
    )
    """,
    re.VERBOSE,
)


def empty(pair: SentencePair, limits: Limits) -> bool:
    """Whether a side has no letter, character or digit."""
    return not (any(map(str.isalnum, pair.src)) and any(map(str.isalnum, pair.tgt)))


def too_long(pair: SentencePair, limits: Limits) -> bool:
    """Whether a side has more than `max_tokens`, estimated without a tokenizer.

    A word, a punctuation mark and a Han character are one token each. (Chinese words are 1.6 characters on
    average, so that Chinese is overestimated.)
    """
    long_texts = [text for text in pair if len(text) > limits.max_tokens]  # others need no counting
    return any(len(_TOKEN.findall(text)) > limits.max_tokens for text in long_texts)


def identical(pair: SentencePair, limits: Limits) -> bool:
    """Whether both sides are the same up to case: the text was not translated."""
    return pair.src == pair.tgt or pair.src.casefold() == pair.tgt.casefold()


def wrong_script(pair: SentencePair, limits: Limits) -> bool:
    """Whether Chinese has no Han characters, or more kana or hangul; or most of English is not Latin.

    An abbreviation may stay: OK. is OK。 in Chinese.
    """
    for text, language in zip(pair, limits.languages, strict=True):
        has_wrong_script = _WRONG_SCRIPT.get(language)
        if has_wrong_script is not None and has_wrong_script(text):
            return not _is_abbreviation(pair)
    return False


def _is_abbreviation(pair: SentencePair) -> bool:
    src, tgt = ("".join(filter(str.isalnum, text)) for text in pair)
    return src == tgt and len(src) <= _ABBREVIATION


def _not_chinese(text: str) -> bool:
    han = _count_han(text)
    return han == 0 or len(_KANA_OR_HANGUL.findall(text)) > han


def _not_english(text: str) -> bool:
    if text.isascii():
        return False
    return 2 * len(_LATIN.findall(text)) < len(_LETTER.findall(text))


_WRONG_SCRIPT: dict[str, Callable[[str], bool]] = {"zh": _not_chinese, "en": _not_english}


def ratio(pair: SentencePair, limits: Limits) -> bool:
    """Whether a side is more than `max_ratio` times as long as the other.

    Lengths are in characters, a Han character counting as three, plus 12 for each side. Between English and
    Chinese the ratio is then 1.2 in the median; 2.5 drops one of 10,000 good pairs and 20 % of random ones.
    """
    src = _comparable_length(pair.src)
    tgt = _comparable_length(pair.tgt)
    return src > tgt * limits.max_ratio or tgt > src * limits.max_ratio


def _comparable_length(text: str) -> int:
    return len(text) + (_HAN_LENGTH - 1) * _count_han(text) + _FREE_LENGTH


def _count_han(text: str) -> int:
    if text.isascii():
        return 0
    return sum(map(len, _HAN_RUN.findall(text)))


def control(pair: SentencePair, limits: Limits) -> bool:
    """Whether there are control characters (except tabs and line ends), private-use or noncharacters."""
    if "".join(pair).isprintable():
        return False
    return any(map(_CONTROL.search, pair))


def mojibake(pair: SentencePair, limits: Limits) -> bool:
    """Whether text was decoded with a wrong encoding: cafÃ©, itâ€™s, U+FFFD, 锟斤拷."""
    return any(map(_is_mojibake, pair))


def _is_mojibake(text: str) -> bool:
    if text.isascii() or _MOJIBAKE_START.search(text) is None:
        return False
    return _MOJIBAKE.search(text) is not None


def markup(pair: SentencePair, limits: Limits) -> bool:
    """Whether HTML tags or entities are left that the other side has not, or tags that nothing closes."""
    if not any("<" in text or "&" in text for text in pair):
        return False
    src, tgt = map(_markup_in, pair)
    return src != tgt or not _is_closed(src)


def _markup_in(text: str) -> Counter[str]:
    """Tags by name, with / before those that close, and all else that is markup as it is written."""
    found: Counter[str] = Counter()
    for match in _MARKUP.finditer(text):
        if match["opened"]:
            is_alone = match[0].endswith("/>") or match["opened"].lower() in _ALONE
            found[match["opened"].lower() + ("/" if is_alone else "")] += 1
        elif match["closed"]:
            found["/" + match["closed"].lower()] += 1
        else:
            found[match["other"]] += 1
    return found


def _is_closed(found: Counter[str]) -> bool:
    """Whether as many tags of each name close as open."""
    names = {name.removeprefix("/") for name in found if name[0] not in "<&" and name[-1] != "/"}
    return all(found[name] == found[f"/{name}"] for name in names)


def stage_note(pair: SentencePair, limits: Limits) -> bool:
    """Whether a subtitle describes sounds: (掌声), [Laughter], （笑声）; but not both sides within a sentence."""
    notes = [_STAGE_NOTE.search(text) for text in pair]
    if not any(notes):
        return False
    return not all(note is not None and _is_within(note) for note in notes)


def _is_within(note: re.Match[str]) -> bool:
    """Whether there are words on both sides of a note."""
    before, behind = note.string[: note.start()], note.string[note.end() :]
    return any(map(str.isalnum, before)) and any(map(str.isalnum, behind))


def traditional(pair: SentencePair, limits: Limits) -> bool:
    """Whether Chinese is written in Traditional characters."""
    sides = zip(pair, limits.languages, strict=True)
    return any(is_traditional(text) for text, language in sides if language == "zh")


# These look at the text as written, since normalisation would blur what they look for.
RAW_FILTERS: dict[str, Filter] = {
    "control": control,
    "mojibake": mojibake,
}
FILTERS: dict[str, Filter] = {
    "empty": empty,
    "too_long": too_long,
    "identical": identical,
    "wrong_script": wrong_script,
    "ratio": ratio,
    "markup": markup,
    "stage_note": stage_note,
    "traditional": traditional,
}


def failed(pair: SentencePair, filters: Mapping[str, Filter], limits: Limits) -> str | None:
    """Name the first rule that drops the pair, if one does."""
    for name, drops in filters.items():
        if drops(pair, limits):
            return name
    return None

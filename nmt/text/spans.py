"""Protected spans: what a machine reads, and a translation must repeat byte for byte.

A span travels through the model as a numbered placeholder, a character of Unicode's private use
area that every tokenizer makes a token of its own, and comes back in its place.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.entities import name2codepoint
from typing import Literal, NamedTuple

from nmt.text.number_spans import (
    FIGURE,
    LONG_NUMBER,
    NUMBER,
    SCALED_NUMBER,
    WHOLE_SCALED_NUMBER,
    in_chinese,
)
from nmt.text.scripts import HAN

CHINESE = f"{HAN}（《〈【「『）》〉】」』，。；：？！、“”‘’…—"  # a neighbour of these is Chinese; they end a URL
PLACEHOLDERS = tuple(map(chr, range(0xE010, 0xE01A)))
# Numbers take the last of them, other spans the first, as long as there are any: a model learns that 点 or 年 may
# follow a number, but not a name.
SPAN_PLACEHOLDERS, NUMBER_PLACEHOLDERS = PLACEHOLDERS[:5], PLACEHOLDERS[5:]
_PLACEHOLDER = f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]"

# Which numbers travel as placeholders. "long": of five digits and more, with commas, versions. "figures": also
# 600 million, decimals, and those of two digits or more, but for what is likely a year (1800 to 2099) or a time of day
# (10:30): their place among the other words of a date or a time is hard to tell without them. "all": every number.
Numbers = Literal["long", "figures", "all"]

# The patterns are fragments for `re.VERBOSE` without groups of their own. Repetitions have bounds
# where a match could begin anywhere: otherwise the time would grow as the square of a line's length.
_CODE = r"""(?a:
    (?<![\w`])                                                  # not don`t
    (?: `{3} (?!\s) [^`]{1,999} (?<!\s) `{3}                    # ```x = f(y)```
      | `{2} (?!\s) [^`]{1,999} (?<!\s) `{2}                    # not ``so,'' he said, ``so''
      | ` (?!\s) [^`]{1,999} (?<!\s) `                          # not `so' and `so'
    )
    (?! ` | (?!s\b)\w )
)"""
_ENTITY_NAMES = "|".join(sorted(name2codepoint, key=len, reverse=True))  # not R&D;
_MARKUP = rf"""
    </? [A-Za-z] [^<>]* >                                       # <b class="x">, </b>
  | <!-- .{{0,999}}? -->
  | <% .{{0,999}}? %>                                             # <%= name %>
  | & (?: \#\d{{1,9}} | \#x[\da-fA-F]{{1,9}} | {_ENTITY_NAMES} ) ; # &#39; &#x27; &nbsp;
"""
_FORMAT = r"""
    \{{2,3} [^{}]{1,99} \}{2,3}                                 # {{count}}, {{ user.name }}
  | [$\#%]? \{ [^{}\s]* \}                                      # {0}, ${HOME}, #{name}
  | \{ (?: [ ]? \w{1,99} , [^{}]{1,99} | [ ] [\w.]{1,99} [ ] ) \} # {0, number}, { name }
  | % \( \w+ \) [-+ #0]{0,5} \d{0,5} (?: \.\d{1,5} )? [a-zA-Z]  # %(name)d
  | %%
  | (?<!\d) % (?: \d{1,2} \$ )? [-+#0]{0,5} \d{0,5} (?: \.\d{1,5} )?
    (?: hh? | ll? | [zjtL] )? [sdiufgxXcn@] (?! [A-Za-z]{3} )    # %s, %.2f, %1$s, %lu, %dpx
  | (?<!\d) % L? [1-9] \d? (?! [\w$] | \.\d )                   # %1, as Qt has it
"""
_URL = rf"""
    (?: (?<![A-Za-z]) [A-Za-z][A-Za-z\d+.-]{{0,30}} ://          # https://a.org/b
      | (?<![A-Za-z\d]) (?i:www)\. (?=[A-Za-z\d])              # www.a.org, not Awww...
      | mailto:                                                 # mailto:a@b.org
    )
    (?: [^\s<>"(){CHINESE}] | \( [^\s<>"(){CHINESE}]{{0,99}} \) )+
    (?<! [.,;:!?\]'] )
"""
_EMAIL = r"""(?a:
    (?<![\w.+-]) [\w.+-]{1,64} @
    [A-Za-z\d-]{1,63} (?: \.[A-Za-z\d-]{1,63} )+
)"""
_PATH = r"""(?a:
    (?<![A-Za-z\d.])
    (?! (?<=\d[ ]) / [a-z]{1,99} (?! [\w/\\] | \.\w ) )          # not $10 /month
    (?: [A-Za-z]:\\                                             # C:\Users\me
      | \.{0,2}/                                                # /usr/lib, ./run.sh, ../a
      | ~/                                                      # ~/notes
    )
    [\w.~@%+=/\\-]* [\w/\\]
)"""
_MENTION = r"(?a: (?<![\w@#]) [@#] [A-Za-z_]\w* )"  # @tom, #topic
_OPTION = rf"""(?a:
    (?<! [^\s(\["'|/={CHINESE}] ) (?<! [^\s(\[]["'] )            # not 'so'--said he
    (?: --[a-z] [\w-]* (?: = [\w./:@%+,~-]{{0,99}} [\w/] )?      # --config=a.yaml
      | -[A-Za-z] (?![\w'’-])                                    # -v
    )
)"""
_SETTING = r"""(?a: (?<![\w-]) [A-Za-z_] [\w-]{0,99} = "[^"]{0,99}" )"""  # name="value"
_TOP_LEVEL = "com|org|net|edu|gov|io|cn|uk|de|fr|jp|ru|info|dev|app"
_SHORT_ENDING = r"(?<=\w\w\.)[ch]|py|js|jsx|ts|tsx|go|rs|rb|kt|cc|cs|sh|md|gz|xz|7z|db"
_LONG_ENDING = """
    ipynb|vue|json|xml|html?|s?css|php|sql|java|swift|lua|cpp|hpp|bat|ps1
  | ya?ml|toml|ini|cfg|conf|lock|log|txt|rst|tex|csv|tsv
  | pdf|docx?|xlsx?|pptx?|odt|ods|rtf|epub|jpe?g|png|gif|svg|webp|bmp|ico|psd
  | mp[34]|wav|flac|ogg|avi|mov|mkv|webm|zip|tgz|tar|bz2|rar
  | exe|dll|msi|iso|dmg|apk|jar|deb|rpm|whl|sqlite
"""
_DOMAIN_OR_FILE = rf"""(?a:
    (?<![\w-]) [\w-]{{1,63}} (?: \.[\w-]{{1,63}} ){{0,9}} \.
    (?: (?: {_TOP_LEVEL} ) \b (?: \.[a-z]{{2}} \b )?            # example.org, example.com.au
        (?: :\d{{1,5}} \b )?                                    # example.org:8080
        (?: / (?: [\w.~%+=/-]{{0,999}} [\w~%+=/-] )? )?            # example.org/a
      | [a-z]{{2,6}} / [\w.~%+=/-]{{0,999}} [\w~%+=/-]           # youtu.be/a
      | (?: {_SHORT_ENDING} | {_LONG_ENDING}                     # data.tar.gz
          | {_LONG_ENDING.upper()} ) \b (?!\()                  # PHOTO.JPG
    )
)"""
_CALL = r"(?a: \b \w{1,99} (?: (?: :: | -> | \. ) \w{1,99} ){0,9} \(\) )"  # os.path.join()
# Kinds that begin alike stand in the order in which they are to be tried.
PATTERN = f"""
    {_CODE}
  | {_MARKUP}
  | {_FORMAT}
  | {_URL}
  | {_EMAIL}
  | {_PATH}
  | {_OPTION}
  | {_SETTING}
  | {_MENTION}
  | {_DOMAIN_OR_FILE}
  | {_CALL}
"""
_LATIN = r"\w\u00c0-\u024f"  # of a word, also where \w is ASCII
_SNAKE = r"_{0,2} [A-Za-z] [A-Za-z\d]{0,99} (?: _{1,2} [A-Za-z\d]{1,99} ){1,20} _{0,2}"  # not _well_, is____a
_IDENTIFIER = rf"""(?a:
    (?<! [{_LATIN}.,:/+-] )
    (?: (?! \w{{1,99}} \d s \b | (?: [cdkm]?m | ft | in | yd ) [23] \b )  # not MP3s, km2
        [A-Za-z]{{1,31}} \d [A-Za-z\d]{{0,63}} (?: -\d{{1,9}} )?           # Int32, i18n, x86-64
      | (?: [A-Za-z]\w{{0,99}} (?: \. | :: | -> ) ){{0,9}}
        {_SNAKE}                                                # max_tokens, os.path_of, __init_subclass__
        (?: (?: \. | :: | -> ) [A-Za-z_]\w{{0,99}} ){{0,9}}
    )
    (?! [{_LATIN}] | [.,:/-]\d )
)"""
_PICTURES = "\u2600-\u27bf\U0001f1e6-\U0001faff"
_EMOJI = f"(?: [{_PICTURES}] [\ufe0f\u200d\U0001f3fb-\U0001f3ff]* )+"
_CHINESE_WORDS = re.compile(f"《 [{HAN}]+ 》 | [{HAN}]+", re.VERBOSE)  # 《红楼梦》, 北京

_SPAN = re.compile(
    f"{_PLACEHOLDER} | {PATTERN} | {LONG_NUMBER} | {_IDENTIFIER} | {_EMOJI}", re.VERBOSE
)
_SPAN_OR_FIGURE = re.compile(f"{SCALED_NUMBER} | {_SPAN.pattern} | {FIGURE}", re.VERBOSE)
_SPAN_OR_NUMBER = re.compile(f"{SCALED_NUMBER} | {_SPAN.pattern} | {NUMBER}", re.VERBOSE)
_PATTERNS: dict[Numbers, re.Pattern[str]] = {
    "long": _SPAN,
    "figures": _SPAN_OR_FIGURE,
    "all": _SPAN_OR_NUMBER,
}
_EXACT_SPAN = re.compile(f"{_PLACEHOLDER} | {PATTERN} | {_EMOJI}", re.VERBOSE)
_CUT = re.compile(f"({_EXACT_SPAN.pattern})", re.VERBOSE)
_WHOLE_NUMBER = re.compile(rf"{WHOLE_SCALED_NUMBER.pattern} | {NUMBER} \Z", re.VERBOSE)
# Without any of these a text has no span: most have none of them, and this is soon seen.
_SUSPICIOUS = re.compile(
    rf"""
    [`<&{{%/@#\\(+{_PICTURES}]
  | \d[\d,.-]+\d
  | [.:-]\w
  | ="
  | [A-Za-z]\d
  | \w_\w
  | 0x
  | {_PLACEHOLDER}
    """,
    re.VERBOSE,
)
# A model knows words as they stand behind a space. So in a masked source one stands between a tag and a word that
# touches it; white space that no line has otherwise tells that the line has none there.
JOINT = "\x1f"
_TAG = re.compile(r"< (/?) ([A-Za-z][^\s/>]*) [^<>]*? (/?) > \Z", re.VERBOSE)
_TOUCHED = re.compile(f"({_PLACEHOLDER}){JOINT}")
_DIGIT = re.compile("[0-9]")
_SPLIT = re.compile(f"({_PLACEHOLDER})")
_RUN_TOGETHER = re.compile("[A-Za-z0-9]{2}")


@dataclass(frozen=True)
class Masked:
    """A text with placeholders, and what each of these stands for, in order."""

    text: str
    spans: dict[str, str]

    def fill(self, text: str) -> str:
        """Put the spans into a text that has placeholders.

        Letters and digits beside a span are set apart from its own by a space. A placeholder that
        stands for nothing is left out. A closing tag before its opening one changes places with it, and
        what follows a tag touches it where that is so in the source.
        """
        touched = set(_TOUCHED.findall(self.text))
        filled = before = ""
        for piece in _SPLIT.split(self._nested(text)):
            written = self.spans.get(piece, "") if piece in PLACEHOLDERS else piece
            if before in touched:
                written = written.lstrip()
            filled = beside(filled, written)
            before = piece
        return filled

    def _nested(self, text: str) -> str:
        """A text with each opening tag before its closing one."""
        for opening, closing in _elements(self.spans):
            if -1 < text.find(closing) < text.find(opening):
                text = text.translate({ord(opening): closing, ord(closing): opening})
        return text

    def intact_in(self, text: str) -> bool:
        """Whether each of the placeholders stands exactly once in a text, and no other one does."""
        return sorted(re.findall(_PLACEHOLDER, text)) == sorted(self.spans)


class MaskedPair(NamedTuple):
    """Both sides of a pair with placeholders, and what each of these stands for."""

    src: str
    tgt: str
    spans: dict[str, str]

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides as a model is trained with them."""
        return self.src.replace(JOINT, " "), self.tgt


def without_placeholders(text: str) -> str:
    """A text without its placeholders."""
    return re.sub(_PLACEHOLDER, "", text)


def without_chinese(text: str) -> str:
    """A text without its Chinese words."""
    return _CHINESE_WORDS.sub("", text)


def beside(left: str, right: str) -> str:
    """Two texts, one of them a span, as one; letters and digits are set apart by a space."""
    space = " " if _RUN_TOGETHER.match(left[-1:] + right[:1]) else ""
    return left + space + right


def cut(text: str) -> list[str]:
    """A text cut at what has to come through byte for byte: text, span, text, span, text, some of them empty."""
    return _CUT.split(text)


def find(text: str, numbers: Numbers = "long") -> list[str]:
    """The protected spans of a text in order, `numbers` among them."""
    return _PATTERNS[numbers].findall(text) if _may_have_spans(text, numbers) else []


def mask(text: str, numbers: Numbers = "long", chinese: bool = False) -> Masked:
    """Replace the spans of a text, `numbers` among them, and its Chinese words if asked for, by placeholders.

    The placeholder of 600 million stands for 6亿. What there is no placeholder for stays, unless it
    is one itself: numbers give way to other spans, and Chinese words come last.
    """
    chinese = chinese and _CHINESE_WORDS.search(text) is not None
    if not chinese and not _may_have_spans(text, numbers):
        return Masked(text, {})
    free = deque(PLACEHOLDERS)
    spans: dict[str, str] = {}

    def hide_all(pattern: re.Pattern[str], text: str) -> str:
        placeholders = iter(_take(free, pattern.findall(text)))

        def hide(match: re.Match[str]) -> str:
            placeholder = next(placeholders)
            if placeholder is None:
                return "" if match[0] in PLACEHOLDERS else match[0]
            spans[placeholder] = in_chinese(match[0])
            return placeholder

        return pattern.sub(hide, text)

    masked = hide_all(_PATTERNS[numbers], text)
    if chinese:
        masked = hide_all(_CHINESE_WORDS, masked)
    return Masked(_set_apart(masked, spans), spans)


def _set_apart(text: str, spans: dict[str, str]) -> str:
    """A masked source with a joint between each tag and the word that touches it."""
    tags = "".join(placeholder for placeholder, span in spans.items() if _TAG.match(span))
    return re.sub(rf"(?<=[{tags}])(?=[^\W_])", JOINT, text) if tags else text


def _elements(spans: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The placeholders of each opening tag and its closing one."""
    opened: list[tuple[str, str]] = []  # placeholder, name
    for placeholder, span in spans.items():
        tag = _TAG.match(span)
        if tag is None or tag[3]:  # <br/>
            continue
        if not tag[1]:
            opened.append((placeholder, tag[2]))
        elif opened and opened[-1][1] == tag[2]:
            yield opened.pop()[0], placeholder


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
    src: str, tgt: str, first: int, numbers: Numbers = "long", chinese: bool = False
) -> MaskedPair | None:
    """Replace what stands once on each side by the same placeholder on both; None if nothing does.

    That is spans, `numbers` among them, and, if asked for, the Chinese words of the source, which come last. `first`
    is any number: it says which of the placeholders comes first.
    """
    free = deque(_from(SPAN_PLACEHOLDERS, first) + _from(NUMBER_PLACEHOLDERS, first))
    shared = _shared_spans(src, tgt, numbers)
    both = zip(shared, _take(free, shared), strict=True)
    placeholders = {span: placeholder for span, placeholder in both if placeholder is not None}
    if placeholders:

        def hide(match: re.Match[str]) -> str:
            return placeholders.get(match[0], match[0])

        pattern = _PATTERNS[numbers]
        src, tgt = pattern.sub(hide, src), pattern.sub(hide, tgt)
    words = _CHINESE_WORDS.findall(src) if chinese else []
    for word in [word for word in words if src.count(word) == 1]:
        # Counted anew: a word before may have taken a part of it, as 北京 does of 京城 in 北京城.
        if free and tgt.count(word) == 1:
            placeholder = placeholders[word] = free.popleft()
            src, tgt = src.replace(word, placeholder), tgt.replace(word, placeholder)
    if not placeholders:
        return None
    spans = {place: span for span, place in placeholders.items()}
    return MaskedPair(_set_apart(src, spans), tgt, spans)


def _from(placeholders: tuple[str, ...], first: int) -> tuple[str, ...]:
    """All of them, in a circle."""
    turn = first % len(placeholders)
    return placeholders[turn:] + placeholders[:turn]


def _shared_spans(src: str, tgt: str, numbers: Numbers) -> list[str]:
    """What stands once on each side, in the order of the source."""
    src_counts = Counter(find(src, numbers))
    if not src_counts:
        return []
    tgt_counts = Counter(find(tgt, numbers))
    return [span for span, count in src_counts.items() if count == tgt_counts[span] == 1]


def lost(source: str, translation: str) -> list[str]:
    """The spans of a source that its translation does not have as often, in order.

    Long numbers and identifiers are not among them: they may be written otherwise.
    """
    counts = _exact_spans(source)
    return [span for span, count in counts.items() if translation.count(span) < count]


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

"""Which pairs are not worth learning from: each rule is a named predicate, true of a pair that is to go.

The thresholds were set on 850,000 pairs of everyday, news, wiki, game and technical text, so that what is
doubtful stays: all rules together drop one in four thousand of them, nearly all rightly.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nmt.corpus.lines import SentencePair


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

_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff]")
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
    rf"<(?:{_TAG})(?:\s[^<>]*)?/?>|</\s?(?:{_TAG})\s?>|<!--|&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|apos|nbsp);",
    re.IGNORECASE,
)
_STAGE_NOTE = re.compile(
    r"[(\[（【]\s?(?:"
    r"(?i:laughter|laughs|laughing|applause|cheers|cheering|笑声|掌声|鼓掌|欢呼声?|众笑|大笑|笑)\s?[)\]）】]"
    r"|(?<=^.)(?i:music|video|audio|音乐|视频|录音)\s?[)\]）】]$)"
)
# The 500 most frequent characters that Simplified text does not have (OpenCC's tables, less GB 2312): 92 % of
# all occurrences, so that hardly a sentence has none. What both scripts use, as 著 乾 後, is not among them.
_TRADITIONAL_ONLY = re.compile(
    "["
    "們個這國來為會時對將發說從華過亞與動開裏爲並間進經沒現長麼機給當樣學無見應兒車實業員嗎關説設約數種話"
    "兩內電頭點還問場體項該湯門爾區議裡請帶圖選產許資羅標馬隊網務計聯據領權認聽邊題備戰處歡別記條書義報類"
    "確結變隻讓導擊觀論總離運統達強證組顯決單賽軍萬語氣樂護聖愛裝視東獻蘭幾續風創號親濟瑪稱眾聲術樹張碼傳"
    "維寫戶試轉惡預線參調穌級舉遠獲難願際協隨製準團識倫節遊質歐紅滿卻圍規幫驗擇猶連殺況輕訴婦須納爭銀週費"
    "園衛飛則羣價織師劃構極專營錄屬誰醫響歸辦幣佈夠斷環滅測輛責僕廣臨復覺靈貢錯錢習歲臺農畫頓麗終勢絡隱薩"
    "紀絕謝獨狀衆熱買孫編賜採藍細僅讀繼塊禮適奧興黨財擔層館輸險榮築評減頂覽庫敗雙監郵尋盤諾歷態牆審鐘鐵壇"
    "訓綠嚴敵職負載執檢壞戲魚掃傷寶黃潔講腦蓋堅腳訪喫燈燒貨陽賬棄優誤毀換剛勝淨壓積緊樓災衝頁誌頻儘帳談擁"
    "攝億儲驚盡鳥島較鍵雲騎麥討藝鏡養廳劇鎖課筆輯勞範閉飾瀏繫軟彈啓餘係貿烏擴趕魯飯額貓顧餅雖補簡龍刪紙髮"
    "萊購佔複慮蘇豈輪礎釋臉療穩奪觸舊異鮮練鏈櫃勵駛脫雜稅擺訂順針競貼鬥籤廠葉聞媽贖灘懷牀諸慶藥貧損亂獎側"
    "貝掛債賣虛揮罰廚階鋼窮銷詞夢陸殘礦讚鑑貴蟲禱檔幹違溫嘗廢寬蹤懼橋槍陣圓誠緣雞獸漸宮紹閱駕搖簽銅曠註禍"
    "]"
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
    src, tgt = len(pair.src) + 2 * _han(pair.src) + _FREE, len(pair.tgt) + 2 * _han(pair.tgt) + _FREE
    return src > tgt * limits.max_ratio or tgt > src * limits.max_ratio


def identical(pair: SentencePair, limits: Limits) -> bool:
    """Whether both sides are the same up to case: the text was not translated."""
    return pair.src == pair.tgt or pair.src.casefold() == pair.tgt.casefold()


def wrong_script(pair: SentencePair, limits: Limits) -> bool:
    """Whether Chinese has no Han characters, or more kana or hangul; or most of English is not Latin."""
    sides = zip(pair, limits.languages, strict=True)
    return any(_WRONG_SCRIPT[language](text) for text, language in sides if language in _WRONG_SCRIPT)


def control(pair: SentencePair, limits: Limits) -> bool:
    """Whether there are control characters (but tabs and line ends), private-use or noncharacters: damage."""
    return any(not side.isprintable() and _CONTROL.search(side) is not None for side in pair)


def mojibake(pair: SentencePair, limits: Limits) -> bool:
    """Whether text was decoded with a wrong encoding: cafÃ©, itâ€™s, U+FFFD, 锟斤拷."""
    return any(_MOJIBAKE_START.search(side) and _MOJIBAKE.search(side) for side in pair if not side.isascii())


def markup(pair: SentencePair, limits: Limits) -> bool:
    """Whether HTML tags or entities are left."""
    return any(_MARKUP.search(side) for side in pair if "<" in side or "&" in side)


def stage_note(pair: SentencePair, limits: Limits) -> bool:
    """Whether a subtitle speaks of sounds: (掌声), [Laughter], （笑声）."""
    return any(_STAGE_NOTE.search(side) for side in pair)


def traditional(pair: SentencePair, limits: Limits) -> bool:
    """Whether Chinese stands in Traditional characters."""
    sides = zip(pair, limits.languages, strict=True)
    return any(is_traditional(text) for text, language in sides if language == "zh")


def is_traditional(text: str) -> bool:
    """Whether a character stands in the text that only Traditional Chinese has."""
    return _TRADITIONAL_ONLY.search(text) is not None


def failed(pair: SentencePair, filters: Mapping[str, Filter], limits: Limits) -> str | None:
    """Name the first rule that drops the pair, if one does."""
    for name, drops in filters.items():
        if drops(pair, limits):
            return name
    return None


def _han(text: str) -> int:
    return 0 if text.isascii() else sum(map(len, _HAN_RUN.findall(text)))


def _not_chinese(text: str) -> bool:
    if _KANA_OR_HANGUL.search(text) is None:
        return _HAN_RUN.search(text) is None
    return len(_KANA_OR_HANGUL.findall(text)) > _han(text)


def _not_english(text: str) -> bool:
    return not text.isascii() and 2 * len(_LATIN.findall(text)) < len(_LETTER.findall(text))


_WRONG_SCRIPT: dict[str, Callable[[str], bool]] = {"zh": _not_chinese, "en": _not_english}

# The first two look at the text as written, since normalisation would blur what they look for.
RAW_FILTERS: dict[str, Filter] = {"control": control, "mojibake": mojibake}
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

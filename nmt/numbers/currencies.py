"""Currencies: how English marks an amount of one, and what Chinese calls it (GB/T 12406, ISO 4217)."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Currency(NamedTuple):
    """The signs and codes that stand beside its figures, its names in Chinese, the usual one first, and in English."""

    signs: tuple[str, ...]
    names: tuple[str, ...]
    words: tuple[str, ...] = ()  # in the plural

    def is_named_in(self, chinese: str) -> bool:
        """Whether a line of Chinese has one of its names; the 元 of 欧元 is none of a dollar."""
        for name in self.names:
            if name == "元":
                chinese = _OTHER_YUAN.sub("", chinese)
            if name in chinese:
                return True
        return False


_OTHER_YUAN = re.compile("[欧日韩澳加港新]元|新西兰元")

# What a model sees all the time: it puts their names into Chinese by itself.
COMMON = (
    Currency(("$",), ("美元", "美金", "元", "刀", "块", "比索", "美分", "USD", "$")),
    Currency(("£", "GBP"), ("英镑", "镑", "GBP", "£")),
    Currency(("€", "EUR"), ("欧元", "EUR", "€")),
    Currency(
        ("¥", "￥"), ("日元", "日圆", "元", "円", "圆", "块", "人民币", "JPY", "CNY", "¥", "￥")
    ),
)
# Others: their amounts are written by rule.
OTHERS = (
    Currency(("US$", "USD"), ("美元", "美金", "USD", "US$", "元"), ("US dollars",)),
    Currency(("A$", "AU$", "AUD"), ("澳元", "澳大利亚元", "澳币", "AUD"), ("Australian dollars",)),
    Currency(("C$", "CA$", "CAD"), ("加元", "加拿大元", "加币", "CAD"), ("Canadian dollars",)),
    Currency(("NZ$", "NZD"), ("新西兰元", "纽元", "NZD"), ("New Zealand dollars",)),
    Currency(("HK$", "HKD"), ("港元", "港币", "HKD"), ("Hong Kong dollars",)),
    Currency(("S$", "SGD"), ("新加坡元", "新元", "坡币", "SGD"), ("Singapore dollars",)),
    Currency(("NT$", "TWD"), ("新台币", "台币", "元", "TWD")),
    Currency(("R$", "BRL"), ("雷亚尔", "BRL")),
    Currency(("JPY",), ("日元", "日圆", "JPY"), ("Japanese yen",)),
    Currency(("CNY", "RMB"), ("元人民币", "人民币", "元", "CNY", "RMB")),
    Currency(("CHF",), ("瑞士法郎", "瑞郎", "CHF"), ("Swiss francs",)),
    Currency(("SEK",), ("瑞典克朗", "SEK"), ("Swedish kronor", "Swedish krona")),
    Currency(("NOK",), ("挪威克朗", "NOK"), ("Norwegian kroner",)),
    Currency(("DKK",), ("丹麦克朗", "DKK"), ("Danish kroner",)),
    Currency(("₹", "INR", "Rs.", "Rs"), ("卢比", "INR", "₹"), ("rupees",)),
    Currency(("₩", "KRW"), ("韩元", "韩圆", "KRW"), ("Korean won", "won")),
    Currency(("₽", "RUB"), ("卢布", "RUB"), ("roubles", "rubles")),
    Currency(("₺", "TRY"), ("土耳其里拉", "里拉", "TRY"), ("Turkish lira",)),
    Currency(("₪", "ILS"), ("新谢克尔", "谢克尔", "ILS"), ("shekels",)),
    Currency(("₱", "PHP"), ("菲律宾比索", "比索", "PHP")),
    Currency(("₦", "NGN"), ("奈拉", "NGN")),
    Currency(("₴", "UAH"), ("格里夫纳", "UAH")),
    Currency(("฿", "THB"), ("泰铢", "THB"), ("baht",)),
    Currency(("₫", "VND"), ("越南盾", "VND")),
    Currency(("IDR", "Rp"), ("印尼盾", "印尼卢比", "IDR"), ("rupiah",)),
    Currency(("MYR",), ("林吉特", "马来西亚令吉", "令吉", "MYR"), ("ringgit",)),
    Currency(("MXN",), ("墨西哥比索", "比索", "MXN"), ("Mexican pesos",)),
    Currency(("ZAR",), ("南非兰特", "兰特", "ZAR"), ("rand",)),
    Currency(("PLN",), ("波兰兹罗提", "兹罗提", "PLN"), ("zlotys", "zloty")),
    Currency(("CZK",), ("捷克克朗", "CZK")),
    Currency(("HUF",), ("匈牙利福林", "福林", "HUF"), ("forints", "forint")),
    Currency(("AED",), ("阿联酋迪拉姆", "迪拉姆", "AED")),
    Currency(("SAR",), ("沙特里亚尔", "里亚尔", "SAR")),
    Currency(("KSh", "KES"), ("肯尼亚先令", "KES"), ("Kenyan shillings",)),
    Currency(("CLP",), ("智利比索", "CLP"), ("Chilean pesos",)),
    Currency(("COP",), ("哥伦比亚比索", "COP"), ("Colombian pesos",)),
    Currency(("ARS",), ("阿根廷比索", "ARS"), ("Argentine pesos",)),
    Currency(("PEN",), ("秘鲁索尔", "索尔", "PEN")),
    Currency(("EGP",), ("埃及镑", "EGP"), ("Egyptian pounds",)),
    Currency(("PKR",), ("巴基斯坦卢比", "PKR"), ("Pakistani rupees",)),
    Currency(("LKR",), ("斯里兰卡卢比", "LKR")),
    Currency(("BDT",), ("孟加拉塔卡", "塔卡", "BDT"), ("taka",)),
    Currency(("KWD",), ("科威特第纳尔", "第纳尔", "KWD"), ("Kuwaiti dinars",)),
    Currency(("QAR",), ("卡塔尔里亚尔", "里亚尔", "QAR")),
    Currency(("OMR",), ("阿曼里亚尔", "里亚尔", "OMR")),
    Currency(("JOD",), ("约旦第纳尔", "第纳尔", "JOD")),
    Currency(("MAD",), ("摩洛哥迪拉姆", "迪拉姆", "MAD")),
    Currency(("GHS",), ("加纳塞地", "塞地", "GHS"), ("cedis",)),
    Currency(("UGX",), ("乌干达先令", "UGX")),
    Currency(("TZS",), ("坦桑尼亚先令", "TZS")),
    Currency(("ETB",), ("埃塞俄比亚比尔", "比尔", "ETB"), ("birr",)),
    Currency(("ISK",), ("冰岛克朗", "ISK")),
    Currency(("RON",), ("罗马尼亚列伊", "列伊", "RON")),
    Currency(("BGN",), ("保加利亚列弗", "列弗", "BGN")),
    Currency(("KZT",), ("坚戈", "KZT"), ("tenge",)),
    Currency(("GEL",), ("格鲁吉亚拉里", "拉里", "GEL")),
)
_ALL = (*COMMON, *OTHERS)
BY_SIGN = {sign: currency for currency in _ALL for sign in (*currency.signs, *currency.words)}


def _one_of(signs: Iterable[str]) -> str:
    """A pattern of signs, the longest first; codes only as words."""
    longest_first = sorted(signs, key=len, reverse=True)
    return "|".join(
        rf"\b{re.escape(sign)}" if sign[0].isalpha() else re.escape(sign) for sign in longest_first
    )


_SIGNS = [sign for currency in OTHERS for sign in currency.signs]
_WORDS = [word for currency in OTHERS for word in currency.words if word != "won"]
CODES = [sign for sign in _SIGNS if sign.isalpha() and sign.isupper()]
_WON = r"(?: (?<= llion[ ] ) | (?<= usand[ ] ) ) won (?! [ ] (?: the | a | an | by | it | his | her | over ) \b )"
BEFORE_FIGURES = f"(?: {_one_of(_SIGNS)} )"
BEHIND_FIGURES = f"(?: {_one_of([*CODES, *_WORDS])} | {_WON} )"
SIGNS = tuple(sign for currency in _ALL for sign in currency.signs)
ANY_SIGN = f"(?: {_one_of(SIGNS)} )"
_LONE_SIGNS = "".join(sign for sign in SIGNS if len(sign) == 1)
_DIGIT = re.compile("[0-9]")
_AMOUNT = re.compile(
    rf"""(?a:
    (?= [A-Z] | [^\w\s] ) (?P<before> {ANY_SIGN} ) [ ]? (?= \d )
  | (?<= [\dnd][ ] ) (?P<behind> EUR | GBP | {BEHIND_FIGURES} ) \b          # 5 CHF, 5 million CHF, 5 thousand CHF
  | (?<! [\w$^.,] ) \d [\d.,]{{0,20}} [ ]? (?P<sign> [{_LONE_SIGNS}] ) (?! [ ]? \d | [\w$-] )    # 5 €
    )""",
    re.VERBOSE,
)


def currencies(text: str) -> Iterator[tuple[str, Currency]]:
    """The currencies of the amounts of a line of English, with their sign, code or name, in order."""
    if _DIGIT.search(text) is None:
        return
    for match in _AMOUNT.finditer(text):
        sign = match["before"] or match["behind"] or match["sign"]
        yield sign, BY_SIGN[sign]

"""Currencies: how English marks an amount of one, and what Chinese calls it (GB/T 12406, ISO 4217)."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Currency(NamedTuple):
    """The signs and codes that stand beside its figures, and its names in Chinese, the usual one first."""

    signs: tuple[str, ...]
    names: tuple[str, ...]

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
    Currency(("¥", "￥"), ("元", "円", "圆", "块", "人民币", "JPY", "CNY", "¥", "￥")),
)
# Others: their amounts are written by rule.
OTHERS = (
    Currency(("US$", "USD"), ("美元", "美金", "USD", "US$", "元")),
    Currency(("A$", "AU$", "AUD"), ("澳元", "澳大利亚元", "澳币", "AUD")),
    Currency(("C$", "CA$", "CAD"), ("加元", "加拿大元", "加币", "CAD")),
    Currency(("NZ$", "NZD"), ("新西兰元", "纽元", "NZD")),
    Currency(("HK$", "HKD"), ("港元", "港币", "HKD")),
    Currency(("S$", "SGD"), ("新加坡元", "新元", "坡币", "SGD")),
    Currency(("NT$", "TWD"), ("新台币", "台币", "元", "TWD")),
    Currency(("R$", "BRL"), ("雷亚尔", "BRL")),
    Currency(("JPY",), ("日元", "日圆", "JPY")),
    Currency(("CNY", "RMB"), ("元人民币", "人民币", "元", "CNY", "RMB")),
    Currency(("CHF",), ("瑞士法郎", "瑞郎", "CHF")),
    Currency(("SEK",), ("瑞典克朗", "SEK")),
    Currency(("NOK",), ("挪威克朗", "NOK")),
    Currency(("DKK",), ("丹麦克朗", "DKK")),
    Currency(("₹", "INR", "Rs.", "Rs"), ("卢比", "INR", "₹")),
    Currency(("₩", "KRW"), ("韩元", "韩圆", "KRW")),
    Currency(("₽", "RUB"), ("卢布", "RUB")),
    Currency(("₺", "TRY"), ("土耳其里拉", "里拉", "TRY")),
    Currency(("₪", "ILS"), ("新谢克尔", "谢克尔", "ILS")),
    Currency(("₱", "PHP"), ("菲律宾比索", "比索", "PHP")),
    Currency(("₦", "NGN"), ("奈拉", "NGN")),
    Currency(("₴", "UAH"), ("格里夫纳", "UAH")),
    Currency(("฿", "THB"), ("泰铢", "THB")),
    Currency(("₫", "VND"), ("越南盾", "VND")),
    Currency(("IDR",), ("印尼盾", "印尼卢比", "IDR")),
    Currency(("MYR",), ("林吉特", "马来西亚令吉", "令吉", "MYR")),
    Currency(("MXN",), ("墨西哥比索", "比索", "MXN")),
    Currency(("ZAR",), ("南非兰特", "兰特", "ZAR")),
    Currency(("PLN",), ("波兰兹罗提", "兹罗提", "PLN")),
    Currency(("CZK",), ("捷克克朗", "CZK")),
    Currency(("HUF",), ("匈牙利福林", "福林", "HUF")),
    Currency(("AED",), ("阿联酋迪拉姆", "迪拉姆", "AED")),
    Currency(("SAR",), ("沙特里亚尔", "里亚尔", "SAR")),
)
BY_SIGN = {sign: currency for currency in (*COMMON, *OTHERS) for sign in currency.signs}


def _one_of(signs: Iterator[str]) -> str:
    """A pattern of signs, the longest first; codes only as words."""
    longest_first = sorted(signs, key=len, reverse=True)
    return "|".join(
        rf"\b{re.escape(sign)}" if sign[0].isalpha() else re.escape(sign) for sign in longest_first
    )


_OTHER_SIGNS = [sign for currency in OTHERS for sign in currency.signs]
OTHER_SIGN = f"(?: {_one_of(iter(_OTHER_SIGNS))} )"
OTHER_CODE = f"(?: {'|'.join(sign for sign in _OTHER_SIGNS if sign.isalpha() and sign.isupper())} )"
ANY_SIGN = f"(?: {_one_of(iter(BY_SIGN))} )"
_FIGURES = r"\d[\d,]{0,20} (?: \.\d{1,9} )?"
_AMOUNT = re.compile(
    rf"(?a: (?P<sign> {ANY_SIGN} ) [ ]? (?={_FIGURES}) | (?<= \d[ ] ) (?P<code> [A-Z]{{3}} ) \b )",
    re.VERBOSE,
)


def currencies(text: str) -> Iterator[tuple[str, Currency]]:
    """The currencies of the amounts of a line of English, with their sign or code, in order."""
    for match in _AMOUNT.finditer(text):
        sign = match["sign"] or match["code"]
        if sign in BY_SIGN:
            yield sign, BY_SIGN[sign]

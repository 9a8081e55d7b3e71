"""Numbers that travel as placeholders: what they look like, and how Chinese writes 600 million.

The patterns are fragments for `re.VERBOSE` without groups of their own.
"""

import re
from decimal import Decimal

from nmt.numbers.currencies import BEFORE_FIGURES, BEHIND_FIGURES, BY_SIGN
from nmt.numbers.english import english
from nmt.numbers.fractions import FIGURES

LONG_NUMBER = r"""(?a:
    (?<![\w.,:/+-])
    (?: \+? \d{1,4} (?: [ -]\d{3,4} ){2,4}      # +86 138 0013 8000
      | \d{1,3} (?: ,\d{3} )+ (?: \.\d+ )?      # 1,234,567.89
      | \d{1,3} (?: \.\d{1,3} ){3} :\d{1,5}     # 192.168.0.1:8080
      | \d{5,}                                  # 20191121
      | 0x[\da-fA-F]{1,64}                      # 0xff
      | \#\d{2,}                                # #8427
      | \d{1,2} / \d{1,2} / (?: 19 | 20 )\d\d    # 03/04/2025: March or April
      | [A-Z]{2,9} - \d+                        # UTF-8
      | (?: v\d+ (?: \.\d+ )+                   # v1.2
          | \d+ (?: \.\d+ ){2,}                 # 3.11.4
        )
        (?: - (?!to-|and-) (?= [\w.-]{0,63}\d ) [a-z][\w.-]{0,63} (?<=\w)  # 2.0.0-rc.1
          | - (?i: alpha | beta | rc | dev | pre | preview | snapshot | nightly | canary | stable | lts )
        )?
    )
    (?! \w | [.,:/-]\d )
)"""
NUMBER_STARTS = r"(?<![\w.,:/+#-])"
# Before an ending or a hyphen: 37 of 37-year-old, 10 of 10th.
NUMBER_ENDS = r"(?!(?!(?:st|nd|rd|th|s)\b)\w|-(?![a-z]{3})|[.,:/]\d)"
_NO_SCALE = "(?! [百千万亿] )"  # not 3000 of 3000万
NUMBER = rf"(?a: {NUMBER_STARTS} \d+ (?: [.,:]\d+ )* {NUMBER_ENDS} {_NO_SCALE} )"
_YEAR = r"(?: 1[89] | 20 ) \d\d (?! \d | [.,]\d )"
_AFTER_BETWEEN = r"(?: (?<= etween[ ] ) | (?<= etween[ ][$£€] ) )"


_SCALES = r"(?: [ \xa0-] (?i: (?: hundred | thousand | million | billion | trillion ) s? ) \b )"


def _scaled_number(before_and: str) -> str:
    """A pattern of 600 million, 3 hundred thousand, 10 to 20 million, and 5 and $6 billion after `before_and`."""
    return rf"""(?a:
        {NUMBER_STARTS}
        (?: (?! {_YEAR} ) {FIGURES} (?: [ ] (?: to | or ) [ ] | [-–] ) [$£€]?
          | {before_and} {FIGURES} [ ] and [ ] [$£€]?
        )?
        {FIGURES} {_SCALES}+
    )"""


SCALED_NUMBER = _scaled_number(_AFTER_BETWEEN)
FIGURE = rf"""(?a:                             # 42, 3.5, 10 of 10th, but not 1984, 10:30
    {NUMBER_STARTS} (?! {_YEAR} )
    (?: \d{{2,}} | \d (?= [.,]\d ) ) (?: [.,]\d+ )* {NUMBER_ENDS} {_NO_SCALE}
)"""
_QUANTITY = f"{FIGURES} {_SCALES}{{0,3}}"
_AMOUNT_ENDS = r"(?! \w | [.,:/]\d | [ ]?[-–][ ]?\d )"
AMOUNT = rf"""(?a:                             # HK$5 million, 300 CHF; $, £, € and ¥ stay outside
    (?<! [\w.,:/+$-] ) {BEFORE_FIGURES} [ ]? {_QUANTITY} {_AMOUNT_ENDS}
  | {NUMBER_STARTS} {_QUANTITY} [ ] (?! [A-Z]{{3}} [ ]? \d ) {BEHIND_FIGURES} \b
)"""
_PARTS_OF_AMOUNT = re.compile(
    rf"(?a: (?P<before> [^\d\s]* ) [ ]? (?P<quantity> {_QUANTITY} ) [ ]? (?P<behind> .* ) ) \Z",
    re.VERBOSE,
)
WHOLE_AMOUNT = re.compile(rf"{AMOUNT} \Z", re.VERBOSE)
_CHINESE_JOINTS = {" to ": "到", " or ": "或", " and ": "和"}
_CHINESE_SCALES = {"万亿": 12, "亿": 8, "万": 4}  # zeros of each
WHOLE_SCALED_NUMBER = re.compile(rf"{_scaled_number('')} \Z", re.VERBOSE)


def in_chinese(span: str, with_amounts: bool = False) -> str:
    """600 million as 6亿, 10 to 20 million as 1000万到2000万; other spans as they are.

    `with_amounts`: HK$5 million as 500万港元.
    """
    if with_amounts and WHOLE_AMOUNT.match(span):
        return _amount(span)
    if WHOLE_SCALED_NUMBER.match(span) is None:
        return span
    joint = next((chinese for word, chinese in _CHINESE_JOINTS.items() if word in span), "到")
    return joint.join(_counted(number.values[0]) for number in english(span) if number.digits)


def _amount(span: str) -> str:
    parts = _PARTS_OF_AMOUNT.match(span)
    assert parts is not None  # noqa: S101 - it has the same pattern
    quantity = in_chinese(parts["quantity"])
    return quantity + BY_SIGN[parts["before"] or parts["behind"]].names[0]


def _counted(value: Decimal) -> str:
    """600,000,000 as 6亿."""
    for scale, zeros in _CHINESE_SCALES.items():
        if value >= 10**zeros:
            return f"{value.scaleb(-zeros).normalize():f}{scale}"
    return f"{value.normalize():f}"

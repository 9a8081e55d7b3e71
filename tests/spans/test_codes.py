"""Codes and formulas: each is one span wherever it stands, and what only looks like one is text."""

import random
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nmt.checks.faults import ENGLISH_TO_CHINESE, damage
from nmt.spans import exact
from nmt.spans.exact import lost
from nmt.spans.masking import find, mask

CODES = [
    # banks, taxes, people
    "DE89 3704 0044 0532 0130 00",
    "GB29 NWBK 6016 1331 9268 19",
    "FR14 2004 1010 0505 0001 3M02 606",
    "4111 1111 1111 1111",
    "3782 822463 10005",
    "20-44-51 12345678",
    "GB 123 4567 89",
    "CHE-123.456.789",
    "NL0042667788B01",
    "225/45R17 94W",
    "left != right",
    "0000-0002-1825-0097",
    "0000-0002-1694-233X",
    # telephones and places
    "+44 20 7946 0958",
    "+1 (555) 010-9999",
    "+49 30 901820",
    "+4915112345678",
    "(555) 010-9999",
    "020 7946 0958",
    "01 23 45 67 89",
    "415.555.0172",
    "07911 123456",
    "030/901820",
    "030/2093-70333",
    "555-0199",
    "+44 20 7946 0958 ext. 12",
    "SW1A 1AA",
    "K1A 0B1",
    "D08 X4N7",
    "VLT 1512",
    "6093 LKJ",
    "tom.b47@okbank",
    "**** **** **** 5083",
    "20500-0003",
    "40.7128° N, 74.0060° W",
    "48°51'24\"N 2°21'03\"E",
    "51.5074, -0.1278",
    # papers and books
    "978-3-16-148410-0",
    "0-306-40615-2",
    "doi:10.1000/xyz123",
    "10.1038/s41586-020-2649-2",
    "arXiv:1706.03762v5",
    "hep-th/9904187",
    "US 10,482,917 B2",
    "WO 2021/184730 A1",
    "ISO/IEC 27001:2022",
    "RAL 6005",
    "14.582.309-K",
    "304-7719283-5502146",
    # machines
    "urn:uuid:550e8400-e29b-41d4-a716-446655440000",
    "sha256:b29814cf5792e684",
    "SHA256:+pRkhrADmoIRlEo80NO+X9MrraZOPkOpHRPj5R0pfMw",
    "::ffff:198.51.100.23",
    ">=1.19.2,<2.0",
    "28-0316a279c4ff",
    "550e8400-e29b-41d4-a716-446655440000",
    "3f2a9c1",
    "d41d8cd98f00b204e9800998ecf8427e",
    "00:1B:44:11:3A:B7",
    "001b.4411.3ab7",
    "192.168.0.1",
    "192.168.0.1:8080",
    "10.0.0.0/8",
    "2001:db8::ff00:42:8329",
    "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "::1",
    "fe80::1/64",
    "[::1]:8080",
    "#1a2b3c",
    "rgb(255, 0, 0)",
    # things
    "CVE-2021-44228",
    "VK7JG-NPHTM-C97JM-9MPGT-3V66T",
    "PO-2024-0117",
    "2:23-cv-04816",
    "74HC595",
    "1N4148",
    "MLX90614ESF-BAA-000-TU",
    "1HGCM82633A004352",
    "BA2490",
    # times
    "2024-03-05T14:30:00Z",
    "2024-03-05 14:30:00",
    "2025-01-14 03:12:44 +0545",
    "14:00 UTC+8",
    "UTC+08:00",
    # chess and formulas
    "1. e4 e5 2. Nf3 Nc6",
    "Qxf7#",
    "O-O-O",
    "8/8/4k3/2p1P1p1/2P3P1/4K3/8/8 w - - 0 51",
    "x >= 3",
    "y < 5",
    "x + y > 4",
    "a != b",
    "n^2 + 1",
    "E = mc^2",
    "p < 0.05",
    "2 + 2 = 4",
    "x^2 - 5x + 6 = 0",
    "y = 2x + 1",
    "(a + b)^2 = c",
    "f(x) = x^2",
    "a^2 + b^2 = c^2",
    "R² = 0.87",
    "60×40×12",
    "x≤5",
    "n≠−1",
    "GDP=−3",
    "a - b",
    "±0.5",
    "a[i] <= a[i+1]",
    "2H2 + O2 -> 2H2O",
    "HA ⇌ A",
]
# Parts of which texts are made that have spans, and some that have only what begins like one.
PARTS = [
    *"1 x A.:(=×≥−→²|-~",
    "25",
    "US",
    "SAE ",
    "BIC ",
    "NDEASESS",
    "::",
    " || ",
    " and ",
    "，",
    "a1b2C3",
]


@pytest.mark.parametrize(
    "line", ["{}", "The {} is here.", "It is {}.", "Use ({}), or", "See {}: yes"]
)
@pytest.mark.parametrize("code", CODES)
def test_a_code_is_one_span_wherever_it_stands(code: str, line: str) -> None:
    assert find(line.format(code)) == [code]
    masked = mask(line.format(code), numbers="figures", into_chinese=True)
    assert list(masked.spans.values()) == [code]


@given(st.lists(st.sampled_from(PARTS), max_size=7).map("".join))
@settings(max_examples=2000)
@example("SAE 30")
@example("≥60")
@example("5×5的网格")
def test_no_span_passes_the_quick_look_unseen(text: str) -> None:
    exact._exact_spans.cache_clear()
    found = lost(text, "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "SUSPICIOUS", re.compile(""))
        exact._exact_spans.cache_clear()
        assert found == lost(text, "")


def test_behind_its_label_a_code_may_look_like_a_word_or_like_years() -> None:
    assert find("BIC NDEASESSXXX (BIC OKOYFIHH), ISSN 2049-3630") == [
        "NDEASESSXXX",
        "OKOYFIHH",
        "2049-3630",
    ]
    assert find("NDEASESSXXX, 2049-3630") == []


@pytest.mark.parametrize(
    "text",
    [
        "in 1998 300 people died",
        "from 2019-2020 it grew, and in 1990-91",
        "File > Open",
        "I = me",
        "and / or",
        "at 10:30 on 3 May",
        "10-12 people",
        "3 x 4",
        "won 3-2 6-4",
        "the years 1990 2000 2010",
        "20 30 40 50 60",
        "17 002 187 people",
        "On 2019-03-04 it rained",
        "a 4-3-3 formation",
        "9-to-5, 1990-to-2000",
        "a 3m48s video",
        "on 24-Dec-2025",
        "south of 15°S",
        "Option A = good",
        "90 % < half",
        "the 24-hour 80-20 rule",
        "a level B1 course",
        "the 2018 NFL draft, GSM / LTE, Ctrl+C or CTRL+C",
        "a 20x66mm slug on a 2x4",
        "the == operator, if == is used, and == in it",
        "±3 million people, ±5–10 mm",
        "in 500 BCE, FIFA 2022, CES 2024, at 1500 MHZ or 2400 DPI, meet@noon",
    ],
)
def test_what_people_read_is_no_code(text: str) -> None:
    assert lost(text, "") == []


def test_a_code_may_have_other_spaces() -> None:
    assert lost("Only if x = 1.", "只有x=1。") == []
    assert lost("Only if x = 1.", "只有x=7。") == ["x = 1"]


@pytest.mark.parametrize("code", [code for code in CODES if sum(map(str.isdecimal, code)) > 3])
def test_a_code_that_is_changed_moved_or_doubled_is_lost(code: str) -> None:
    source = f"It is {code} now."
    digit = next(place for place, character in enumerate(code) if character.isdecimal())
    other = code[:digit] + str((int(code[digit]) + 1) % 10) + code[digit + 1 :]
    assert lost(source, f"现在是{code}。") == []
    assert lost(source, f"现在是{other}。") == [code]
    assert [fault.kind for fault in damage(source, "现在是。", ENGLISH_TO_CHINESE)][-1:] == [
        "span mangled"
    ]


@given(st.lists(st.sampled_from(CODES), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_codes_among_words_come_back_in_their_order(
    codes: list[str], chance: random.Random
) -> None:
    words = [chance.choice(["please", "the", "Peter", "and so on", "see"]) for _ in codes]
    line = ", ".join(f"{word} {code}" for word, code in zip(words, codes, strict=True))
    masked = mask(line)
    assert list(masked.spans.values()) == codes
    assert masked.fill(masked.text) == line


UNITS = [
    "1 ",
    "1-",
    "A-",
    "a:",
    "(1",
    "+1 ",
    "x + ",
    "x < ",
    "e4 ",
    "1. e4 ",
    "f0",
    "10.1000/",
    "51.50, ",
    "1° N, ",
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_line_takes_time_in_proportion(unit: str) -> None:
    start = time.process_time()
    find(unit * (100_000 // len(unit)))
    assert time.process_time() - start < 5

"""Markup around words: tags and emphasis stay, the words in them are read as any others."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numbered import assert_masked

from nmt.spans.masking import find, mask, mask_pair
from nmt.text.normalize import normalize


def test_a_word_that_touches_a_tag_is_set_apart_for_the_model_alone() -> None:
    masked = mask('A <b>red</b>ish <i>"fox"</i><br/>ran')
    bold, end, italic, end_italic, line = masked.spans
    assert normalize(masked.text, "en") == (
        f'A {bold} red{end} ish {italic}"fox"{end_italic}{line} ran'
    )
    assert masked.fill(masked.text) == 'A <b>red</b>ish <i>"fox"</i><br/>ran'
    translated = f"{bold} 红{end} 色的{italic}“狐狸”{end_italic}{line} 跑"
    assert masked.fill(translated) == "<b>红</b>色的<i>“狐狸”</i><br/>跑"
    assert mask("a <b> red </b> fox").fill(f"{bold} 红{end} 狐狸") == "<b> 红</b> 狐狸"
    assert mask("R&#38;D {0}s").text == f"R{bold}D {end}s"


def test_a_word_that_touches_a_tag_is_set_apart_in_training() -> None:
    masked = mask_pair("A <b>red</b> fox", "一只<b>红</b>狐狸", 0)
    assert masked is not None
    bold, end = masked.spans
    assert masked.sides == (f"A {bold} red{end} fox", f"一只{bold}红{end}狐狸")


# Source, translation with the number of a place for each, and what it becomes.
FILLED = [
    # a tag that opens stands before the one that closes
    ("<b>a</b>", "10", "<b></b>"),
    ("<b>a</b> <i>b</i>", "1032", "<b></b><i></i>"),
    ("<b><i>a</i></b>", "3210", "<b><i></i></b>"),
    ("<b>a</b> <b>b</b>", "2301", "<b></b><b></b>"),
    ("</b>a<b>", "10", "<b></b>"),
    ("<br/>a</br>", "10", "</br><br/>"),
    ("<a href='x'>a</a>", "10", "<a href='x'></a>"),
    ("<b>a</i>", "10", "</i><b>"),
    ("<b>a<br>b</b>", "210", "<b><br></b>"),
    ("<p>See <img src='x'> now</p>", "210", "<p><img src='x'></p>"),
    ("<B>a</b>", "10", "<B></b>"),
    ("<b>a</b> <i>b</i>", "0213", "<b><i></i></b>"),
    ("<b>a</b>", "1", "</b>"),
    ("<b>a</b>", "0", "<b>"),
    # emphasis is Markdown in the translation
    ("**a** b", "0 甲 1 乙", "**甲** 乙"),
    ("**a** b", "1甲0乙", "**甲**乙"),
    ("**a:** b", "0甲：1乙", "**甲：** 乙"),
    ('b **"a"** b', "乙0“甲”1乙", "乙 **“甲”** 乙"),
    ("**a** b", "乙01。", "乙。"),
    ("**a** b", "01 乙", "乙"),
    ("b **a** b", "乙 01 乙", "乙 乙"),
    ("*a* and **b**", "02乙31", "***乙***"),
    ("Read _this_ now.", "现在读0这个1吧。", "现在读 _这个_ 吧。"),
    ("Do __not do__ this.", "0不要1这样做。", "__不要__ 这样做。"),
    ("**a** **b**", "0甲12乙3", "**甲** **乙**"),
    ("**a:** https://a.org", "1甲：20", "**甲：** https://a.org"),
    ("b **max_a** b", "乙102乙", "乙**max_a**乙"),
    ("*a* and **b**", "0甲2乙1丙3", "*甲**乙**丙*"),
    ("*a* and **b**", "2乙3和0甲1", "**乙**和*甲*"),
]


@pytest.mark.parametrize(("source", "translated", "filled"), FILLED)
def test_markup_stands_in_the_translation_as_it_should(
    source: str, translated: str, filled: str
) -> None:
    masked = mask(source)
    places = list(masked.spans)
    text = "".join(places[int(each)] if each.isdigit() else each for each in translated)
    assert masked.fill(text) == filled


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("**Note:** the *disk* is full.", "0=Note:1 the 2=disk3 is full."),
        ("A ***very ~~old~~*** fox", "A 0=very 2=old31 fox"),
        ("__Do not__ read _this_ (_or that_).", "0=Do not1 read 2=this3 (4=or that5)."),
        ("a **bold *and thin* text** here", "a 0=bold 2=and thin3 text1 here"),
        ("**`x`** and **{y}**", "203 and 415"),
    ],
)
def test_emphasis_is_masked_as_two_spans(text: str, seen: str) -> None:
    assert_masked(text, seen)


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4",
        "a*b*c and 2**3**4",
        "*args and **kwargs",
        "* one * two",
        "s*** and f**k and d**n",
        "snow_white_ or _x",
        r"\*not this\*",
        "____ and ____",
        "5 ~ 6 ~ 7",
        "Price* and tax* rise.",
    ],
)
def test_what_only_looks_like_emphasis_is_text(text: str) -> None:
    assert not set(mask(text).spans.values()) & {"*", "**", "***", "_", "__", "___", "~~"}


def test_a_name_between_double_underscores_is_a_span_of_its_own() -> None:
    assert find("Call __init__ and __so_on__.") == ["__init__", "__so_on__"]


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from(
            [*"ab1 *_~.<>/中，“”(\x1f", "**", "~~", "<b>", "</b>", "<br>", "&#39;", " {0} "]
        ),
        max_size=16,
    )
)
def test_any_markup_comes_back_from_masking(parts: list[str]) -> None:
    text = "".join(parts)
    masked = mask(text, into_chinese=True)
    plain = re.sub("(?<=[a-z])&#39;(?=[a-z])", "'", text).replace("\x1f", " ")
    assert masked.fill(masked.text) in (plain, text)


def test_a_pair_is_masked_where_one_mark_stands_once_on_each_side() -> None:
    masked = mask_pair("**Do** not *read* *this*.", "**不要**读*这个*。", 0)
    assert masked is not None
    opening, closing = masked.spans
    assert masked.sides == (
        f"{opening} Do{closing} not *read* *this*.",
        f"{opening}不要{closing}读*这个*。",
    )
    assert masked.spans == {opening: "**", closing: "**"}

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.text.normalize import normalize

NASTY = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            "\u200b\u00ad\ufeff\u2028\u2029\x85\x0b\x0c\x1c\u3000\u00a0 \t▁‘’“”e\u0301\u0308茶，\u200d"
        ),
    )
)
LANGUAGES = st.sampled_from(["zh", "en", "de"])


@given(NASTY, LANGUAGES)
def test_normalizing_twice_is_normalizing_once(text: str, language: str) -> None:
    once = normalize(text, language)
    assert normalize(once, language) == once


@given(NASTY, LANGUAGES)
def test_the_result_is_one_line_in_nfc_with_single_spaces(text: str, language: str) -> None:
    clean = normalize(text, language)
    assert unicodedata.is_normalized("NFC", clean)
    assert all(c == " " or not c.isspace() for c in clean)
    assert clean.split(" ") == clean.split() or clean == ""
    assert "▁" not in clean


@given(
    st.text(
        st.characters(
            categories=["L", "M", "N", "P", "S"], exclude_characters="▁\u115f\u1160\u3164\uffa0"
        )
    )
)
def test_letters_marks_numbers_punctuation_and_symbols_are_kept_in_chinese(text: str) -> None:
    assert normalize(text, "zh") == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "text",
    [
        "你好，世界！你在吗？好；是：（对）。、《书》「话」……——",
        "“你好”，他说：‘再见’。",
        "ＡＢＣ１２３　".strip("\u3000"),
        "今天10:30见，A.B.C，3.14",
        "👨\u200d👩\u200d👧 क\u094d\u200dष",
        "①②③ ㎏ ﬁ ½",
    ],
)
def test_chinese_is_kept_as_it_is_written(text: str) -> None:
    assert normalize(text, "zh") == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("“Don’t,” she said. ‘Go!’", "\"Don't,\" she said. 'Go!'"),
        ("„Ja“", '"Ja"'),
        ("rock ‛n’ roll", "rock 'n' roll"),
        ("Full，width stays", "Full，width stays"),
    ],
)
def test_other_languages_get_straight_quotes(text: str, clean: str) -> None:
    assert normalize(text, "en") == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        (" \t\u3000\u00a0 ", ""),
        ("  a \t b\u3000c  ", "a b c"),
        ("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg", "a b c d e f g"),
        ("a\r", "a"),
        ("\ufeffa\u200bb\u00adc\u2060d", "abcd"),
        ("\u202eabc\u202c\u2066d\u2069\u200e\u200f", "abcd"),
        ("a\x00b\x07c\x7fd\x9fe", "abcde"),
        ("\x1b[1;31mred\x1b[0m \x1b[K\x1b[?25l[31m", "red [31m"),
        ("cafe\u0301", "café"),
        ("e\u200b\u0301", "é"),
        ("\u212b", "Å"),
        ("a▁b", "a_b"),
    ],
)
def test_white_space_invisible_characters_and_forms_are_cleaned(text: str, clean: str) -> None:
    assert normalize(text, "zh") == normalize(text, "en") == clean


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_gives_what_the_long_way_gives(text: str) -> None:
    assert normalize(text + "茶", "en").removesuffix("茶").rstrip() == normalize(text, "en")


@pytest.mark.parametrize(
    "invisible",
    [*"\u061c\u180e\ufff9\ufffa\ufffb\u115f\u1160\u3164\uffa0\U000e0001", "\U000e0041\U000e0042"],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_nobody_sees_is_removed(invisible: str, language: str) -> None:
    assert normalize(f"a{invisible}b", language) == "ab"


def test_the_flag_of_england_keeps_its_tags() -> None:
    england = "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng") + "\U000e007f"
    assert normalize(f"Go {england}!", "en") == f"Go {england}!"

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.translate.segments import split_long

NASTY = "ab .,!?…;:\"')]。！？，；：、中文-_3\U0001f600é"
LIMIT = st.integers(1, 12)


def line(alphabet: str) -> st.SearchStrategy[str]:
    """A normalised line: not blank, single spaces, none at the ends."""
    return (
        st.text(alphabet, max_size=80)
        .map(lambda text: re.sub(" +", " ", text).strip())
        .filter(bool)
    )


def within(limit: int, text: str) -> list[str]:
    return split_long(text, lambda part: len(part) <= limit)


@given(line(NASTY), LIMIT)
def test_parts_fit_and_drop_nothing_but_spaces_between_them(text: str, limit: int) -> None:
    parts = within(limit, text)
    assert all(0 < len(part) <= limit for part in parts)
    assert all(part.strip() for part in parts)
    assert re.fullmatch(" ?".join(map(re.escape, parts)), text)


@given(line(NASTY))
def test_a_line_that_fits_stays_whole(text: str) -> None:
    assert within(len(text), text) == [text]


@given(line(NASTY), LIMIT)
def test_whatever_fits_means_the_parts_do(text: str, limit: int) -> None:
    # tokens do not grow with characters one for one: here a vowel is free and a space costs two
    def fits(part: str) -> bool:
        return sum({"a": 0, "é": 0, " ": 2}.get(character, 1) for character in part) <= limit

    parts = split_long(text, fits)
    assert all(map(fits, parts))
    assert re.fullmatch(" ?".join(map(re.escape, parts)), text)


@given(
    st.lists(st.text("abc,3.", min_size=1, max_size=6), min_size=1, max_size=30), st.integers(6, 12)
)
def test_no_word_that_fits_is_cut(words: list[str], limit: int) -> None:
    assert " ".join(within(limit, " ".join(words))) == " ".join(words)


SENTENCE = st.builds(
    str.__add__, st.text("abc ,", max_size=8).map(lambda s: f"x{s}x"), st.sampled_from(".!?…")
)


@given(
    st.lists(SENTENCE.map(lambda s: re.sub(" +", " ", s)), min_size=1, max_size=10),
    st.integers(12, 40),
)
def test_a_line_that_does_not_fit_is_split_into_its_sentences(
    sentences: list[str], limit: int
) -> None:
    parts = within(limit, " ".join(sentences))
    assert " ".join(parts) == " ".join(sentences)
    assert all(part.endswith((".", "!", "?", "…")) for part in parts)
    assert parts == ([" ".join(sentences)] if len(" ".join(sentences)) <= limit else sentences)


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("One two. Three four.", 12, ["One two.", "Three four."]),
        ("A b. C d. E f.", 10, ["A b.", "C d.", "E f."]),
        ("A b. C d. E f.", 15, ["A b. C d. E f."]),
        ('He said "Go." Then left.', 14, ['He said "Go."', "Then left."]),
        ("(It was late.) He left.", 16, ["(It was late.)", "He left."]),
        ("What?! No… Yes.", 6, ["What?!", "No…", "Yes."]),
        ("It costs 3.14, or 10:30.", 20, ["It costs 3.14,", "or 10:30."]),
        ("one, two; three: four", 10, ["one, two;", "three:", "four"]),
        ("one two three", 8, ["one two", "three"]),
        ("我来了。你走吧！好吗？", 5, ["我来了。", "你走吧！", "好吗？"]),
        ("我来了。你走吧！好吗？", 8, ["我来了。", "你走吧！", "好吗？"]),
        ("我说OK. 你走吧！好吗？", 10, ["我说OK.", "你走吧！", "好吗？"]),
        ("我来了，你走吧", 4, ["我来了，", "你走吧"]),
        ("abcdefgh", 4, ["abcd", "efgh"]),
        ("Go. abcdefgh now.", 4, ["Go.", "abcd", "efgh", "now."]),
    ],
)
def test_a_line_is_split_where_a_reader_would_pause(
    text: str, limit: int, parts: list[str]
) -> None:
    assert within(limit, text) == parts


def test_a_very_long_line_is_split_with_few_questions() -> None:
    asked = 0

    def fits(part: str) -> bool:
        nonlocal asked
        asked += 1
        return len(part) <= 100

    text = "word, " * 20_000
    parts = split_long(text.strip(), fits)
    assert " ".join(parts) == text.strip()
    assert asked < 3 * 20_000

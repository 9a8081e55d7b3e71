"""Tokens are found where they stand in the line as it was written."""

import functools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.spans.masking import mask
from nmt.text.normalize import normalize
from nmt.text.offsets import Range, places
from nmt.text.pieces import SentencePiece, train_sentencepiece, with_words
from nmt.text.reading import ReadingSettings, as_written, reading_for
from nmt.text.side import Side
from nmt.text.tokenizers import TOKENIZERS, Tokenizer
from nmt.text.vocab import PLACEHOLDERS, Vocab

LETTERS = "abcé天地玄黄ZoëẞſΣς한글"
# Spaces, invisible characters, what normalising changes, decomposed letters, a character of two UTF-16 units.
NASTY = " \t\u3000\u200b\ufeff\xad\x07▁’“”，。1２ｆe\u0301o\u0308\U00020000\U0001f600Å\u212b"
TEXT = st.text(LETTERS + NASTY, max_size=30)


@functools.cache
def tokenizer(name: str) -> Tokenizer:
    if name != "sentencepiece":
        return TOKENIZERS[name]()
    lines = ["the cat sat on the mat", "天地玄黄，宇宙洪荒。", "abc abd abe"] * 20
    return SentencePiece(train_sentencepiece(lines, 320))


def side(name: str, language: str = "en", lowercase: bool = False) -> Side:
    words = ["cat", "天地", "<B>c", "<M>a", "<E>t", "a", *PLACEHOLDERS]
    vocab = Vocab(words, [1] * len(words))
    return Side(
        language,
        tokenizer(name),
        vocab,
        str.lower if lowercase else as_written,
        never_unknown=True,
        identity="",
    )


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", ["whitespace", "plain", "char", "sentencepiece"])
@pytest.mark.parametrize("lowercase", [False, True])
@settings(max_examples=60)
@given(line=TEXT)
def test_what_stands_in_a_range_is_the_token(name: str, lowercase: bool, line: str) -> None:
    here = side(name, lowercase=lowercase)
    found = places(here, line)
    assert found is not None
    written = [squeezed(normalize(line[p.range.start : p.range.end], "en")) for p in found]
    whole = squeezed(normalize(line, "en"))
    if lowercase:  # casefold: a sigma in lower case depends on what follows
        written = [text.casefold() for text in written]
        whole = whole.casefold()
    assert "".join(written) == whole
    assert [i for place in found for i in place.ids] == here.encode(line)


@settings(max_examples=300)
@given(line=st.text(max_size=40))
def test_ranges_are_in_the_line_and_in_order_whatever_it_holds(line: str) -> None:
    for name in ("whitespace", "char"):
        found = places(side(name, lowercase=True), line)
        assert found is not None
        starts = [place.range.start for place in found]
        assert all(0 <= p.range.start <= p.range.end <= len(line) for p in found)
        if not any(map(is_mark, line)):  # marks may change places
            assert starts == sorted(starts)


def is_mark(character: str) -> bool:
    import unicodedata

    return any(map(unicodedata.combining, unicodedata.normalize("NFD", character)))


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("whitespace", "  Tom's   cat.", ["Tom", "'s", "cat", "."]),
        ("whitespace", "ca\u200bfe\u0301 x", ["ca\u200bfe\u0301", "x"]),
        ("char", "天\u3000地", ["天", "", "地"]),
        ("jieba", "我们喜欢北京。", ["我们", "喜欢", "北京", "。"]),
    ],
)
def test_tokens_and_where_they_stand(name: str, line: str, expected: list[str]) -> None:
    found = places(side(name), line)
    assert found is not None
    assert [line[p.range.start : p.range.end].strip() for p in found] == expected


def test_the_bytes_of_a_character_are_one_token() -> None:
    model = tokenizer("sentencepiece")
    assert isinstance(model, SentencePiece)
    vocab = Vocab(model.pieces(), [1] * len(model.pieces()))
    here = Side("en", model, vocab, as_written, never_unknown=True, identity="")
    found = places(here, "abc 龘龘é")
    assert found is not None
    of_bytes = [(p.range, len(p.ids)) for p in found if p.range.start >= 4]
    assert of_bytes == [(Range(4, 5), 3), (Range(5, 6), 3), (Range(6, 7), 2)]


def test_a_word_that_is_recased_stands_where_it_was_written() -> None:
    lines = ["the cat sat on the mat T H E C A"] * 20
    model = SentencePiece(with_words(train_sentencepiece(lines, 320), ["▁the", "▁cat"]))
    vocab = Vocab(model.pieces(), [1] * len(model.pieces()))
    reading = reading_for(model, ReadingSettings(recase=True))
    here = Side("en", model, vocab, reading, never_unknown=True, identity="")
    plain = replace(here, reading=as_written)
    assert places(here, " THE CAT") == places(plain, " the cat") != places(plain, " THE CAT")


def test_two_tokens_of_one_character_stand_in_the_same_place() -> None:
    found = places(side("char", lowercase=True), "aİb")  # İ in lower case is an i with a mark
    assert found is not None
    assert [p.range for p in found] == [Range(0, 1), Range(1, 2), Range(1, 2), Range(2, 3)]


def test_a_spelled_word_is_one_token_of_several_ids() -> None:
    here = side("whitespace")
    found = places(here, "cat cta")
    assert found is not None
    assert [len(place.ids) for place in found] == [1, 3]
    assert [place.range for place in found] == [Range(0, 3), Range(4, 7)]


def test_spans_stand_where_they_are_in_the_line_that_has_them() -> None:
    first, second = PLACEHOLDERS[:2]
    whole = "See http://a.org/b,  then {0}!"
    masked = f"See {first},  then {second}!"
    found = places(side("whitespace"), masked, {first: "http://a.org/b", second: "{0}"})
    assert found is not None
    texts = [whole[place.range.start : place.range.end] for place in found]
    assert texts == ["See", "http://a.org/b", ",", "then", "{0}", "!"]


def test_a_word_that_touches_a_tag_stands_where_it_was_written() -> None:
    line = "Click <b>Save</b>, then <i>go</i>."
    masked = mask(line)
    found = places(side("sentencepiece"), masked.text, masked.spans)
    assert found is not None
    texts = [line[place.range.start : place.range.end] for place in found]
    assert "".join(texts) == line.replace(" ", "")
    assert "<b>" in texts

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from texts import LINES, NASTY

from nmt.errors import ModelError
from nmt.text.normalize import normalize
from nmt.text.pieces import SentencePiece, train_sentencepiece
from nmt.text.tokenizers import TOKENIZERS, Char, Plain, Tokenizer, Whitespace, load_tokenizer

LOSSLESS = sorted({*TOKENIZERS, "sentencepiece"} - {"whitespace", "plain"})


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    made: dict[str, Tokenizer] = {name: kind() for name, kind in TOKENIZERS.items()}
    made["sentencepiece"] = SentencePiece(train_sentencepiece(LINES * 3, 400))
    return made


# --- the law ---


@pytest.mark.parametrize("name", LOSSLESS)
@given(text=NASTY, language=st.sampled_from(["zh", "en"]))
@example(text=" ▁ <B>x <unk> </s>", language="zh")
@example(text="👨\u200d👩\u200d👧 a\u2028b 한e\u0301 𠮷野家 ⁇", language="zh")
def test_decoding_what_was_encoded_gives_the_normalised_text(
    name: str, tokenizers: dict[str, Tokenizer], text: str, language: str
) -> None:
    clean = normalize(text, language)
    tokenizer = tokenizers[name]
    assert tokenizer.decode(tokenizer.encode(clean)) == clean


@pytest.mark.parametrize("name", ["whitespace", "plain"])
@given(text=NASTY)
@example(text='" " a " b "" c')
def test_languages_with_spaces_keep_everything_but_spaces(
    name: str, tokenizers: dict[str, Tokenizer], text: str
) -> None:
    clean = normalize(text, "en")
    tokenizer = tokenizers[name]
    assert tokenizer.decode(tokenizer.encode(clean)).replace(" ", "") == clean.replace(" ", "")


@given(text=NASTY)
def test_plain_text_comes_back_whole(text: str) -> None:
    clean = normalize(text, "en")
    assert Plain().decode(Plain().encode(clean)) == clean


@pytest.mark.parametrize("name", [*TOKENIZERS, "sentencepiece"])
@given(text=NASTY, language=st.sampled_from(["zh", "en"]))
def test_no_token_is_empty_or_holds_white_space(
    name: str, tokenizers: dict[str, Tokenizer], text: str, language: str
) -> None:
    """The encoded store and the vocabulary file put a space, a tab or a line end between two tokens."""
    for piece in tokenizers[name].encode(normalize(text, language)):
        assert piece.split() == [piece]


@pytest.mark.parametrize("name", [*TOKENIZERS, "sentencepiece"])
def test_of_nothing_there_are_no_tokens(name: str, tokenizers: dict[str, Tokenizer]) -> None:
    assert tokenizers[name].encode("") == []
    assert tokenizers[name].decode([]) == ""


# --- English ---


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't go!", "Do n't go !"),
        ("Tom's cat can't.", "Tom 's cat ca n't ."),
        (
            "I'd've said we're sure you'll see I'm it.",
            "I 'd 've said we 're sure you 'll see I 'm it .",
        ),
        ("CAN'T WON'T TOM'S", "CA N'T WO N'T TOM 'S"),
        (
            "1,000 people at 10:30 paid 3.14, or 1,234,567.89.",
            "1,000 people at 10:30 paid 3.14 , or 1,234,567.89 .",
        ),
        ("Version 2.5x", "Version 2 . 5x"),
        ("the 1990s, the 21st of 3rds", "the 1990 s , the 21 st of 3rds"),
        ("He paid $5 (or 50%).", "He paid $ 5 ( or 50 % ) ."),
        ('"Yes," she said.', '" Yes , " she said .'),
        ("rock'n'roll o'clock", "rock ' n ' roll o ' clock"),
        ("well-known", "well - known"),
        ("Wait...", "Wait . . ."),
        ("naïve café", "naïve café"),
        ("a_b", "a_b"),
    ],
)
def test_english_words_part_from_punctuation_and_contractions_in_two(
    text: str, tokens: str
) -> None:
    assert Whitespace().encode(text) == tokens.split(" ")


@pytest.mark.parametrize(
    "text",
    [
        "Don't go!",
        "Tom's cat can't, won't and didn't; it's his.",
        "I'd've said we're sure you'll see I'm it.",
        "He paid $5 (or 50%) [sic].",
        '"Yes," she said, "at 10:30."',
        'He said "hi" and "bye" to 1,000 people: all of them?',
        "Wait...",
        "Is it 3.14? No!",
        "In the 1990s, on October 10th.",
    ],
)
def test_english_is_written_as_english_attaches_its_punctuation(text: str) -> None:
    assert Whitespace().decode(Whitespace().encode(text)) == text


@pytest.mark.parametrize(
    ("text", "tokens"), [("Don't go , please .", ["Don't", "go", ",", "please", "."]), (" ", [])]
)
def test_plain_splits_at_spaces_alone(text: str, tokens: list[str]) -> None:
    assert Plain().encode(text) == tokens


# --- Chinese ---


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我喜欢喝茶。", ["我", "喜欢", "喝茶", "。"]),
        ("我在 Python 里", ["我", "在", "▁", "Python", "▁", "里"]),
        ("今天10:30见", ["今天", "10", ":", "30", "见"]),
    ],
)
def test_jieba_finds_words_and_marks_spaces(
    text: str, tokens: list[str], tokenizers: dict[str, Tokenizer]
) -> None:
    assert tokenizers["jieba"].encode(text) == tokens


def test_char_gives_every_character() -> None:
    assert Char().encode("我a 1") == ["我", "a", "▁", "1"]


# --- loading ---


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_is_loaded_by_its_name(name: str) -> None:
    assert type(load_tokenizer(name, Path("unused"))) is TOKENIZERS[name]


def test_a_saved_sentencepiece_model_tokenises_as_before(
    tokenizers: dict[str, Tokenizer], tmp_path: Path
) -> None:
    path = tmp_path / "pieces.model"
    path.write_bytes(train_sentencepiece(LINES * 3, 400))
    loaded = load_tokenizer("sentencepiece", path)
    assert loaded.encode(LINES[0]) == tokenizers["sentencepiece"].encode(LINES[0])


def test_a_missing_sentencepiece_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"pieces\.model: missing; restore it from a copy, or run nmt build-vocab"
    ):
        load_tokenizer("sentencepiece", tmp_path / "pieces.model")

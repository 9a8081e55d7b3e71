import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nmt.errors import ConfigError, ModelError
from nmt.text.normalize import normalize
from nmt.text.tokenizers import (
    TOKENIZERS,
    Char,
    Plain,
    SentencePiece,
    Whitespace,
    load_tokenizer,
    train_sentencepiece,
)

LINES = [
    "我喜欢喝茶，你呢？",
    "今天 10:30 在火车站见。",
    "汤姆说：“别忘了带伞！”",
    "I like tea, and you?",
    "<B>x <unk> </s> <0x41>",
    "2024 年有 366 天（闰年）。",
]
PARTS = [
    *" ▁_我们喜欢喝茶，。！？（）“”…—·、的了Tom's cAn't10:30.5%<>#@\u200d\u2028e\u0301\u0e33क\u094d한𠮷",
    *(
        "<B>",
        "<unk>",
        "</s>",
        "<0x41>",
        "👨\u200d👩\u200d👧",
        "🇨🇳",
        "1\ufe0f\u20e3",
        "مرحبا",
        "e\u0302\u0301",
        "n't",
        " ⁇ ",
    ),
]
NASTY = st.lists(st.sampled_from(PARTS) | st.characters(exclude_categories=["Cs"])).map("".join)
LOSSLESS = ["jieba", "char", "sentencepiece"]


@pytest.fixture(scope="module")
def pieces() -> SentencePiece:
    return SentencePiece(train_sentencepiece(LINES * 3, 400))


@pytest.fixture(scope="module")
def tokenizers(pieces) -> dict:
    return {name: kind() for name, kind in TOKENIZERS.items()} | {"sentencepiece": pieces}


# --- the law ---


@pytest.mark.parametrize("name", LOSSLESS)
@given(text=NASTY, language=st.sampled_from(["zh", "en"]))
@example(text=" ▁ <B>x <unk> </s>", language="zh")
@example(text="👨\u200d👩\u200d👧 a\u2028b 한e\u0301 𠮷野家 ⁇", language="zh")
def test_decoding_what_was_encoded_gives_the_normalised_text(name, tokenizers, text, language):
    clean = normalize(text, language)
    tokenizer = tokenizers[name]
    assert tokenizer.decode(tokenizer.encode(clean)) == clean


@pytest.mark.parametrize("name", ["whitespace", "plain"])
@given(text=NASTY)
@example(text='" " a " b "" c')
def test_languages_with_spaces_keep_everything_but_spaces(name, tokenizers, text):
    clean = normalize(text, "en")
    tokenizer = tokenizers[name]
    assert tokenizer.decode(tokenizer.encode(clean)).replace(" ", "") == clean.replace(" ", "")


@given(text=NASTY)
def test_plain_text_comes_back_whole(text):
    clean = normalize(text, "en")
    assert Plain().decode(Plain().encode(clean)) == clean


@pytest.mark.parametrize("name", [*TOKENIZERS, "sentencepiece"])
@given(text=NASTY, language=st.sampled_from(["zh", "en"]))
def test_no_token_is_empty_or_holds_white_space(name, tokenizers, text, language):
    """The encoded store and the vocabulary file put a space, a tab or a line end between two tokens."""
    for piece in tokenizers[name].encode(normalize(text, language)):
        assert piece.split() == [piece]


@pytest.mark.parametrize("name", [*TOKENIZERS, "sentencepiece"])
def test_of_nothing_there_are_no_tokens(name, tokenizers):
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
def test_english_words_part_from_punctuation_and_contractions_in_two(text, tokens):
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
def test_english_is_written_as_english_attaches_its_punctuation(text):
    assert Whitespace().decode(Whitespace().encode(text)) == text


@pytest.mark.parametrize(
    ("text", "tokens"), [("Don't go , please .", ["Don't", "go", ",", "please", "."]), (" ", [])]
)
def test_plain_splits_at_spaces_alone(text, tokens):
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
def test_jieba_finds_words_and_marks_spaces(text, tokens, tokenizers):
    assert tokenizers["jieba"].encode(text) == tokens


def test_jieba_cuts_as_jieba_itself(tokenizers):
    import jieba

    jieba.setLogLevel(60)
    for line in LINES:
        assert [word.replace("▁", " ") for word in tokenizers["jieba"].encode(line)] == jieba.lcut(
            line
        )


def test_jieba_does_not_trust_a_dictionary_that_lies_in_the_shared_temporary_folder(tmp_path):
    """Its own cache would be read from there: a marshalled dictionary that anybody can have put."""
    (tmp_path / "jieba.cache").write_bytes(b"not a dictionary")
    code = (
        "import tempfile, jieba; from nmt.text.tokenizers import Jieba; "
        "jieba.Tokenizer.initialize = None; print(*Jieba().encode('我喜欢喝茶'))"
    )
    environment = {"TMPDIR": str(tmp_path), "PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "我 喜欢 喝茶\n"
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.cache"]


def test_char_gives_every_character():
    assert Char().encode("我a 1") == ["我", "a", "▁", "1"]


# --- sentencepiece ---


def test_sentencepiece_takes_digits_apart_however_often_they_stand_together():
    model = SentencePiece(train_sentencepiece(["2024 年", "2024 366 2024", "天 2024"] * 20, 400))
    assert not [
        piece for piece in model.pieces() if sum(map(str.isdigit, piece)) > 1 and "<0x" not in piece
    ]


def test_sentencepiece_folds_no_width(pieces):
    assert pieces.decode(pieces.encode("２０２4，（１）")) == "２０２4，（１）"


def test_sentencepiece_spells_unknown_characters_in_bytes(pieces):
    assert pieces.encode("\U0001f600")[-4:] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]


@given(text=NASTY)
def test_every_token_of_sentencepiece_is_among_its_pieces(pieces, text):
    assert set(pieces.encode(normalize(text, "zh"))) <= set(pieces.pieces())


def test_sentencepiece_lists_each_piece_once_and_no_special(pieces):
    listed = pieces.pieces()
    assert len(set(listed)) == len(listed) <= 400
    assert not {"<unk>", "<s>", "</s>", "<pad>"} & set(listed)
    assert {f"<0x{byte:02X}>" for byte in range(256)} <= set(listed)


def test_sentencepiece_trains_to_the_same_bytes(pieces):
    assert train_sentencepiece(LINES, 400) == train_sentencepiece(LINES, 400)


def test_two_processes_draw_the_same_lines_of_a_corpus_too_large_to_train_on_all():
    chance = random.Random(1)
    lines = ["".join(chance.choices("天地人和上下左右", k=8)) for _ in range(600)]
    code = (
        "import hashlib, sys; from nmt.text import tokenizers; tokenizers.SAMPLED_LINES = 150; "
        "print(hashlib.sha256(tokenizers.train_sentencepiece(sys.stdin.read().split(), 300)).hexdigest())"
    )
    command = [sys.executable, "-X", "utf8", "-c", code]
    hashes = {
        subprocess.run(
            command,
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        ).stdout
        for _ in range(2)
    }
    assert len(hashes) == 1


def test_a_vocabulary_too_small_for_the_characters_is_refused_with_the_size_that_would_do():
    with pytest.raises(
        ConfigError, match=r"vocab_size=100 is too small.*set vocab_size=(\d+)"
    ) as refusal:
        train_sentencepiece(LINES, 100)
    least = int(str(refusal.value).split("set vocab_size=")[1].split()[0])
    assert train_sentencepiece(LINES, least)
    with pytest.raises(ConfigError, match="too small"):
        train_sentencepiece(LINES, least - 1)


# --- loading ---


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_is_loaded_by_its_name(name):
    assert type(load_tokenizer(name, Path("unused"))) is TOKENIZERS[name]


def test_a_saved_sentencepiece_model_tokenises_as_before(pieces, tmp_path):
    path = tmp_path / "pieces.model"
    path.write_bytes(train_sentencepiece(LINES * 3, 400))
    assert load_tokenizer("sentencepiece", path).encode(LINES[0]) == pieces.encode(LINES[0])


def test_a_missing_sentencepiece_model_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"pieces\.model: missing; run nmt build-vocab"):
        load_tokenizer("sentencepiece", tmp_path / "pieces.model")


@given(st.binary(min_size=1, max_size=200))
@settings(max_examples=30)
def test_what_is_no_sentencepiece_model_is_refused(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pieces.model"
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"pieces\.model: not a sentencepiece model"):
            load_tokenizer("sentencepiece", path)

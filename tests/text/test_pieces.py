import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import LINES, NASTY

from nmt.errors import ConfigError, ModelError
from nmt.text import pieces as pieces_module
from nmt.text.normalize import normalize
from nmt.text.pieces import SentencePiece, train_sentencepiece, with_symbols, with_words
from nmt.text.tokenizers import load_tokenizer


@pytest.fixture(scope="module")
def pieces() -> SentencePiece:
    return SentencePiece(train_sentencepiece(LINES * 3, 400))


def test_sentencepiece_takes_digits_apart_however_often_they_stand_together() -> None:
    model = SentencePiece(train_sentencepiece(["2024 年", "2024 366 2024", "天 2024"] * 20, 400))
    assert not [
        piece for piece in model.pieces() if sum(map(str.isdigit, piece)) > 1 and "<0x" not in piece
    ]


def test_sentencepiece_folds_no_width(pieces: SentencePiece) -> None:
    assert pieces.decode(pieces.encode("２０２4，（１）")) == "２０２4，（１）"


def test_sentencepiece_spells_unknown_characters_in_bytes(pieces: SentencePiece) -> None:
    assert pieces.encode("\U0001f600")[-4:] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]


@given(text=NASTY)
def test_every_token_of_sentencepiece_is_among_its_pieces(pieces: SentencePiece, text: str) -> None:
    assert set(pieces.encode(normalize(text, "zh"))) <= set(pieces.pieces())


def test_sentencepiece_lists_each_piece_once_and_no_special(pieces: SentencePiece) -> None:
    listed = pieces.pieces()
    assert len(set(listed)) == len(listed) <= 400
    assert not {"<unk>", "<s>", "</s>", "<pad>"} & set(listed)
    assert {f"<0x{byte:02X}>" for byte in range(256)} <= set(listed)


def test_sentencepiece_trains_to_the_same_bytes(pieces: SentencePiece) -> None:
    assert train_sentencepiece(LINES, 400) == train_sentencepiece(LINES, 400)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores are chosen as on Linux")
def test_a_large_corpus_gives_the_same_bytes_in_every_process_on_any_number_of_cores() -> None:
    chance = random.Random(1)
    lines = ["".join(chance.choices("天地人和上下左右", k=8)) for _ in range(600)]
    code = (
        "import hashlib, os, sys; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES]); "
        "from nmt.text import pieces; pieces.SAMPLED_LINES = 150; "
        "print(hashlib.sha256(pieces.train_sentencepiece(sys.stdin.read().split(), 300)).hexdigest())"
    )
    hashes = set()
    for cores in ("1", "2", "None"):
        command = [sys.executable, "-X", "utf8", "-c", code.replace("CORES", cores)]
        done = subprocess.run(
            command,
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        hashes.add(done.stdout)
    assert len(hashes) == 1


def test_a_large_corpus_is_trained_with_a_sample_of_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces_module, "SAMPLED_LINES", 300)
    lines = [f"{'甲' * 5}{i % 10}" for i in range(1000)] + [
        f"{'乙' * 5}{i % 10}" for i in range(1000)
    ]
    listed = SentencePiece(train_sentencepiece(lines, 300)).pieces()
    assert {"甲", "乙"} <= {piece[-1] for piece in listed}
    assert train_sentencepiece(lines, 300) == train_sentencepiece(lines, 300)


def test_a_vocabulary_too_small_for_the_characters_is_refused_with_the_size_that_would_do() -> None:
    with pytest.raises(
        ConfigError, match=r"vocab_size=100 is too small.*set it to (\d+)"
    ) as refusal:
        train_sentencepiece(LINES, 100)
    least = int(str(refusal.value).split("set it to ")[1].split()[0])
    assert train_sentencepiece(LINES, least)
    with pytest.raises(ConfigError, match="too small"):
        train_sentencepiece(LINES, least - 1)


@given(st.binary(min_size=1, max_size=200))
@settings(max_examples=30)
def test_what_is_no_sentencepiece_model_is_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pieces.model"
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"pieces\.model: not a sentencepiece model"):
            load_tokenizer("sentencepiece", path)


# --- pieces added to a model ---


def test_added_symbols_are_pieces_wherever_they_stand() -> None:
    model = train_sentencepiece(LINES * 3, 400)
    before, after = SentencePiece(model), SentencePiece(with_symbols(model, ["\ue010", "\ue011"]))
    assert after.pieces() == [*before.pieces(), "\ue010", "\ue011"]
    assert {"\ue010", "\ue011"} < set(after.encode("tea\ue010s and \ue011."))
    assert after.decode(after.encode("tea\ue010s and \ue011.")) == "tea\ue010s and \ue011."


def test_added_words_are_taken_whole_and_change_nothing_else() -> None:
    model = train_sentencepiece(LINES * 3, 400)
    before, after = SentencePiece(model), SentencePiece(with_words(model, ["▁zyxwvut", "库贝"]))
    assert len(before.encode("zyxwvut")) > 2
    assert after.encode("zyxwvut") == ["▁zyxwvut"]
    assert after.encode("zyxwvuts")[0] == "▁zyxwvut"
    assert "库贝" in after.encode("用库贝来")
    for line in LINES:
        assert after.encode(line) == before.encode(line)


def test_a_long_piece_keeps_its_length_in_the_model_file() -> None:
    model = train_sentencepiece(LINES * 3, 400)
    word = "库" * 100  # 300 bytes: a length of two bytes
    assert SentencePiece(with_words(model, [word])).pieces()[-1] == word

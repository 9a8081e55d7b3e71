from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.config.load import load_config
from nmt.errors import ModelError
from nmt.run.folder import RunDir
from nmt.run.sides import load_side
from nmt.text.normalize import normalize
from nmt.text.pieces import SentencePiece, train_sentencepiece
from nmt.text.reading import as_written
from nmt.text.side import Side
from nmt.text.tokenizers import TOKENIZERS
from nmt.text.vocab import Vocab, build_vocab

LINES = ["汤姆 喜欢 Python。", "我不喜欢喝茶！", "今天10:30见（好吗？）", "Tom 说：“你好”。"]
CHARACTERS = "".join(sorted(set("".join(LINES))))


def put_side(run: RunDir, tokenizer: str, counts: Counter[str] | None = None) -> None:
    """A run's files for its target side, as build-vocab leaves them."""
    if tokenizer == "sentencepiece":
        run.path.mkdir(exist_ok=True)
        run.pieces("tgt").write_bytes(model := train_sentencepiece(LINES * 3, 320))
        counts = Counter(SentencePiece(model).pieces())
    if counts is None:
        counts = Counter(" ".join(TOKENIZERS[tokenizer]().encode(" ".join(LINES))).split())
    build_vocab(counts, 400, 1, spells=False).save(run.vocab("tgt"))


def side_of(run: RunDir, tokenizer: str, *overrides: str) -> Side:
    return load_side(load_config(None, [f"tgt.tokenizer={tokenizer}", *overrides]), run, "tgt")


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir(tmp_path / "run")


@pytest.mark.parametrize("tokenizer", ["jieba", "char", "sentencepiece"])
def test_text_of_known_tokens_goes_to_ids_and_back(tokenizer: str, run: RunDir) -> None:
    put_side(run, tokenizer)
    side = side_of(run, tokenizer)
    for line in LINES:
        assert side.decode(side.encode(line)) == line


@given(st.text(CHARACTERS))
def test_any_text_of_known_characters_comes_back_normalised(text: str) -> None:
    side = Side(
        "zh",
        TOKENIZERS["char"](),
        Vocab([*CHARACTERS, "▁"], [1] * (len(CHARACTERS) + 1)),
        as_written,
        True,
        "",
    )
    assert side.decode(side.encode(text)) == normalize(text, "zh")


def test_sentencepiece_knows_every_text_by_its_bytes(run: RunDir) -> None:
    put_side(run, "sentencepiece")
    side = side_of(run, "sentencepiece")
    for text in ("👨\u200d👩\u200d👧 <unk> </s>", "ﷺ𠮷 <B>x"):
        assert side.decode(side.encode(text)) == text


def test_encoding_normalises_and_lowers_first(run: RunDir) -> None:
    put_side(run, "whitespace", Counter(["don", "do", "n't", "tea"]))
    side = side_of(run, "whitespace", "src.language=zh", "tgt.language=en", "tgt.lowercase=true")
    assert side.tokens(" DON’T\u200b  Tea ") == ["do", "n't", "tea"]
    assert side.encode("Don’t tea") == side.encode("do n't TEA")
    assert replace(side, reading=as_written).tokens("DON’T") == ["DO", "N'T"]


def test_a_prefix_is_part_of_what_decides_the_ids_and_has_to_be_listed(run: RunDir) -> None:
    build_vocab(Counter(["tea", ">>x<<"]), 400, 1, spells=False).save(run.vocab("src"))
    without, with_prefix = (
        load_side(load_config(None, overrides), run, "src")
        for overrides in ([], ["src.prefix=['>>x<<']"])
    )
    assert with_prefix.encode("tea") == [without.vocab.ids[">>x<<"], *without.encode("tea")]
    assert with_prefix.fingerprint() != without.fingerprint()
    with pytest.raises(ModelError, match=r"src\.prefix: .*vocab\.src\.tsv does not list >>z<<"):
        load_side(load_config(None, ["src.prefix=['>>z<<']"]), run, "src")


def test_ids_that_frame_a_sentence_are_not_read_out() -> None:
    side = Side("en", TOKENIZERS["whitespace"](), Vocab(["tea", "!"], [1, 1]), as_written, True, "")
    assert side.decode([2, 4, 5, 3, 0, 0]) == "tea!"


def test_a_side_is_as_the_configuration_says(run: RunDir) -> None:
    put_side(run, "char")
    spelling, plain = (
        side_of(run, "char", f"tgt.unknown={unknown}") for unknown in ("spell", "unk")
    )
    assert (spelling.language, spelling.reading, spelling.never_unknown, plain.never_unknown) == (
        "zh",
        as_written,
        True,
        False,
    )


def test_the_fingerprint_is_the_same_wherever_the_run_lies(run: RunDir, tmp_path: Path) -> None:
    other = RunDir(tmp_path / "copy")
    for place in (run, other):
        put_side(place, "sentencepiece")
    assert (
        side_of(run, "sentencepiece").fingerprint() == side_of(other, "sentencepiece").fingerprint()
    )


@pytest.mark.parametrize(
    "override", ["tgt.lowercase=true", "tgt.language=ja", "tgt.tokenizer=jieba"]
)
def test_the_fingerprint_changes_with_all_that_changes_ids(override: str, run: RunDir) -> None:
    put_side(run, "char")
    assert side_of(run, "char").fingerprint() != side_of(run, "char", override).fingerprint()


def test_the_fingerprint_changes_with_vocabulary_and_sentencepiece_model(run: RunDir) -> None:
    put_side(run, "sentencepiece")
    before = side_of(run, "sentencepiece")
    longer = Vocab([*before.vocab.tokens[4:], "new"], [*before.vocab.counts[4:], 0])
    assert replace(before, vocab=longer).fingerprint() != before.fingerprint()
    run.pieces("tgt").write_bytes(train_sentencepiece(LINES[::-1] + ["茶茶茶"] * 9, 320))
    assert side_of(run, "sentencepiece").fingerprint() != before.fingerprint()


@pytest.mark.parametrize("missing", ["vocab", "pieces"])
def test_a_file_that_is_missing_is_named(missing: str, run: RunDir) -> None:
    put_side(run, "sentencepiece")
    path = getattr(run, missing)("tgt")
    path.unlink()
    with pytest.raises(
        ModelError, match=f"{path.name}: missing; restore it from a copy, or run nmt build-vocab"
    ):
        side_of(run, "sentencepiece")

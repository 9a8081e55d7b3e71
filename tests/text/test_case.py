from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_of_pieces import side_that_knows

from nmt.config.load import load_config
from nmt.errors import ConfigError
from nmt.run.folder import RunDir
from nmt.text.pieces import SPACE, SentencePiece, train_sentencepiece
from nmt.text.reading import KnownCase, ReadingSettings, as_written, reading_for
from nmt.text.tokenizers import Whitespace

PIECES = [f"{SPACE}{word}" for word in ("Hello", "tea", "don", "NASA", "the", "The")] + [
    "tea",
    "t",
    "'",
]
SMALL = train_sentencepiece(["Hello tea T E A L O H"] * 9, 300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", "Hello"),
        ("HELLO", "Hello"),
        ("Tea, hello", "tea, Hello"),
        ("The tea", "The tea"),  # each is a piece
        ("THE TEA", "the tea"),
        ("(Tea)", "(tea)"),  # no space before it: the piece without one
        ("(hello)", "(hello)"),  # has no piece without a space
        ("DON'T", "don't"),
        ("Don't", "don't"),
        ("nasa", "NASA"),
        ("'HELLO TEA'", "'HELLO tea'"),  # " Hello" is a piece, "Hello" is none
        ("'Tea'", "'tea'"),
        ("send HELLO", "send HELLO"),  # capitals that mean something
        ("tEa hELLO", "tEa hELLO"),
        ("Tea_pot a.Tea Tea:x Tea=1 Tea(x) $Tea", "Tea_pot a.Tea Tea:x Tea=1 Tea(x) $Tea"),
        ("Tea: Tea. Tea", "tea: tea. tea"),
        ("Coffee", "Coffee"),
        ("", ""),
    ],
)
def test_a_word_is_written_in_a_case_that_is_a_piece(text: str, expected: str) -> None:
    assert KnownCase(PIECES)(text) == expected


@given(st.text("Tea'Helo TEAheßİ.(Ψσς"))
def test_only_the_case_changes_and_only_once(text: str) -> None:
    recase = KnownCase([*PIECES, f"{SPACE}SS", f"{SPACE}ΨΣ"])
    found = recase(text)
    assert len(found) == len(text)
    assert found.lower().replace("ς", "σ") == text.lower().replace("ς", "σ")
    assert recase(found) == found


def test_the_rule_is_what_the_settings_say() -> None:
    pieces = SentencePiece(SMALL)
    recased = ReadingSettings(recase=True)
    assert reading_for(pieces, ReadingSettings()) is as_written
    assert reading_for(pieces, ReadingSettings(lowercase=True))("Tea") == "tea"
    assert isinstance(reading_for(pieces, recased), KnownCase)
    assert reading_for(Whitespace(), recased) is as_written


english_side = partial(side_that_knows, SMALL, ["Hello", "tea"])


def test_a_side_that_recases_gives_equal_ids_for_all_cases(tmp_path: Path) -> None:
    plain = english_side(RunDir(tmp_path))
    recased = english_side(RunDir(tmp_path), "src.recase=true")
    assert f"{SPACE}Hello" in plain.vocab.ids
    assert plain.encode("HELLO") != plain.encode("Hello") == recased.encode("HELLO")
    assert recased.encode("hello  Tea") == plain.encode("Hello tea")
    assert plain.fingerprint() != recased.fingerprint()


@pytest.mark.parametrize("overrides", [[], ["src.tokenizer=sentencepiece", "src.lowercase=true"]])
def test_recase_needs_pieces_and_case(overrides: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"src\.recase=true needs src\.tokenizer=sentencepiece"):
        load_config(None, ["src.recase=true", *overrides])


def test_the_target_has_no_recase() -> None:
    with pytest.raises(ConfigError, match=r"tgt\.recase"):
        load_config(None, ["tgt.recase=true"])

"""Where words begin: behind a mark that opens at a word, pieces would be those of a word's end."""

import time
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
from nmt.text.reading import ReadingSettings, as_written, detached, reading_for
from nmt.text.tokenizers import Whitespace

SMALL = train_sentencepiece(['she said ("so") and [it] is'] * 20, 300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Cancel]", "[ Cancel]"),
        ('He said, "Go!" (twice).', 'He said, " Go!" ( twice).'),
        ('("Well") {name}', '(" Well") { name}'),
        ("\"I'm here\" and 'A dog'", "\" I'm here\" and ' A dog'"),
        ('print(("hello")) a[["b"]]', None),
        ("f(x), file(s), it's, don't, 5'' and (a), [x], (2)", None),
        ('so" far) as] it goes', None),
        ("[ Cancel ]", None),
    ],
)
def test_a_word_is_set_apart_from_the_mark_that_opens_before_it(
    text: str, expected: str | None
) -> None:
    assert detached(text) == (expected or text)


def test_a_long_line_of_marks_takes_no_time() -> None:
    start = time.process_time()
    for marks in ("(" * 100_000, "\"' " * 50_000):
        assert detached(marks) == marks
    assert time.process_time() - start < 2  # in the square of the length it would be minutes


@given(st.text("ab \"'()[]{}.“é中", max_size=30))
def test_only_spaces_are_added_and_only_once(text: str) -> None:
    found = detached(text)
    assert found.replace(" ", "") == text.replace(" ", "")
    assert detached(found) == found


def test_pieces_alone_need_that() -> None:
    detach = ReadingSettings(detach=True)
    lower = ReadingSettings(lowercase=True, detach=True)
    assert reading_for(SentencePiece(SMALL), detach)('"So"') == '" So"'
    assert reading_for(SentencePiece(SMALL), lower)('"So"') == '" so"'
    assert reading_for(SentencePiece(SMALL), ReadingSettings()) is as_written
    assert reading_for(Whitespace(), detach) is as_written


english_side = partial(side_that_knows, SMALL, ["Cancel", "so"])


def test_a_side_that_detaches_knows_the_word(tmp_path: Path) -> None:
    plain = english_side(RunDir(tmp_path))
    detaching = english_side(RunDir(tmp_path), "src.detach=true")
    assert f"{SPACE}Cancel" not in plain.tokens("[Cancel]")
    assert f"{SPACE}Cancel" in detaching.tokens("[Cancel]")
    assert plain.tokens("so [so") != detaching.tokens("so [so") == plain.tokens("so [ so")
    assert plain.fingerprint() != detaching.fingerprint()


def test_a_word_is_recased_as_it_stands_once_detached(tmp_path: Path) -> None:
    both = english_side(RunDir(tmp_path), "src.detach=true", "src.recase=true")
    assert f"{SPACE}Cancel" in both.tokens("[CANCEL]")


def test_detaching_needs_pieces_and_a_source() -> None:
    with pytest.raises(ConfigError, match=r"src\.detach=true needs src\.tokenizer=sentencepiece"):
        load_config(None, ["src.detach=true"])
    with pytest.raises(ConfigError, match=r"tgt\.detach"):
        load_config(None, ["tgt.detach=true"])

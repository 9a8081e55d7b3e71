"""The keys of train: written beside its text, looked up by an evaluation."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.identity import train_keys
from nmt.corpus.identity.dedupe import side_key
from nmt.corpus.identity.train_keys import lines_in_train, writing_keys
from nmt.corpus.reading.pairs import SentencePair

TRAIN = [
    SentencePair(
        f"Sentence number {n} of all that were trained on.", f"这是训练语料的第{n}个句子，很长。"
    )
    for n in range(50)
]


def write(path: Path, pairs: list[SentencePair]) -> Path:
    with writing_keys(path) as append:
        for pair in pairs:
            append(side_key(pair.src), side_key(pair.tgt))
    return path


def test_a_pair_takes_16_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "keys", TRAIN).stat().st_size == 16 * len(TRAIN)


def test_lines_are_found_by_either_side_and_however_they_are_punctuated(tmp_path: Path) -> None:
    path = write(tmp_path / "keys", TRAIN)
    test = [
        SentencePair("Something new altogether, and long.", "完全是新的东西，而且很长。"),
        TRAIN[7],
        SentencePair(TRAIN[8].src.upper(), "另一种译法"),
        SentencePair("Another source", "这是训练语料的第 9 个句子 ，很长"),
    ]
    assert lines_in_train(path, test) == [2, 3, 4]


def test_short_lines_are_not_told(tmp_path: Path) -> None:
    short = SentencePair("Good luck.", "祝你好运。")
    assert lines_in_train(write(tmp_path / "keys", [short]), [short]) == []


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert lines_in_train(tmp_path / "missing", TRAIN) is None
    assert lines_in_train(tmp_path, TRAIN) is None


def test_a_file_of_many_blocks_or_one_that_is_cut_off_is_read_as_far_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_keys, "_READ_AT_ONCE", 6)
    monkeypatch.setattr(train_keys, "_WRITTEN_AT_ONCE", 6)
    path = write(tmp_path / "keys", TRAIN)
    assert lines_in_train(path, TRAIN) == list(range(1, len(TRAIN) + 1))
    path.write_bytes(path.read_bytes()[:-9])  # the last source is whole, its target is not
    assert lines_in_train(path, TRAIN[:-1]) == list(range(1, len(TRAIN)))


@given(st.lists(st.integers(0, 49), max_size=20), st.lists(st.integers(0, 49), max_size=20))
def test_the_lines_found_are_those_that_were_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[int], asked: list[int]
) -> None:
    path = tmp_path_factory.mktemp("keys") / "keys"
    write(path, [TRAIN[n] for n in written])
    expected = [place for place, n in enumerate(asked, 1) if n in written]
    assert lines_in_train(path, [TRAIN[n] for n in asked]) == expected

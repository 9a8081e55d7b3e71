"""The pairs of a translation memory, wherever they are."""

import gzip
import json
from pathlib import Path

import pytest

from nmt.errors import DataError
from nmt.neighbours.memory_pairs import memory_pairs
from nmt.run.folder import RunDir

PAIRS = [("one", "一"), ("two three", "二三")]
LANGUAGES = ("en", "zh")


def test_the_ending_of_a_file_says_how_it_is_read(tmp_path: Path) -> None:
    columns = "".join(f"{src}\t{tgt}\n" for src, tgt in PAIRS)
    objects = "".join(json.dumps({"en": src, "zh": tgt}) + "\n" for src, tgt in PAIRS)
    for name, text in (("a.tsv", columns), ("a.jsonl", objects)):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        zipped = tmp_path / f"{name}.gz"
        zipped.write_bytes(gzip.compress(text.encode()))
        assert list(memory_pairs(file, LANGUAGES)) == PAIRS
        assert list(memory_pairs(zipped, LANGUAGES)) == PAIRS


def test_a_run_has_the_pairs_that_it_was_trained_on(trained: RunDir) -> None:
    english = trained.text("train", "en").read_text(encoding="utf-8").splitlines()
    found = list(memory_pairs(trained.path, LANGUAGES))
    assert [pair.src for pair in found] == english
    [checkpoint, *_] = trained.steps()
    assert list(memory_pairs(checkpoint, LANGUAGES)) == found


@pytest.mark.parametrize("name", ["a.txt", "nowhere", "a.tsv.zip"])
def test_what_is_no_memory_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=rf"{name}: not a translation memory; give a .tsv"):
        memory_pairs(tmp_path / name, LANGUAGES)


def test_a_folder_without_the_text_of_train_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no text of train"):
        memory_pairs(tmp_path, LANGUAGES)

"""The corpora in data/ are what data/README.md says of them."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.corpus.lines import read_lines

DATA = Path(__file__).resolve().parents[1] / "data"
README = (DATA / "README.md").read_text()
CORPORA = ["toy", "tatoeba"]
SPLITS = ["train", "dev", "test"]


def lines(corpus: str, split: str, language: str) -> Iterator[str]:
    (path,) = (DATA / corpus).glob(f"{split}.{language}*")
    return read_lines(path)


def letters(text: str) -> str:
    """What stays of a sentence without capitals, widths, punctuation and spaces."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_of_dev_or_test_is_in_train(corpus: str, language: str) -> None:
    train = {letters(line) for line in lines(corpus, "train", language)}
    for split in ("dev", "test"):
        assert not [line for line in lines(corpus, split, language) if letters(line) in train]


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_files_are_line_aligned_and_as_long_as_the_readme_says(corpus: str) -> None:
    _, _, section = README.partition(f"## {corpus}/")
    for split in SPLITS:
        stated = re.search(rf"^\| `{split}\.en\S*` .*?\| ([\d,]+) \|", section, re.MULTILINE)
        counts = {len(list(lines(corpus, split, language))) for language in ("en", "zh")}
        assert stated
        assert counts == {int(stated[1].replace(",", ""))}

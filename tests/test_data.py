"""The corpora in data/ are what data/README.md says of them."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.config.schema import Config
from nmt.corpus.cleaning.prepare import prepare
from nmt.corpus.identity.contamination import load_keys, public_tests
from nmt.corpus.identity.dedupe import side_key
from nmt.corpus.reading.lines import read_lines
from nmt.run.folder import RunDir

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


PHRASES = sorted((DATA / "phrases").glob("*.tsv"))


@pytest.mark.slow
def test_all_phrases_are_fit_to_train_on_and_as_many_as_the_readme_says(tmp_path: Path) -> None:
    corpora = [{"name": path.stem, "tsv": str(path)} for path in PHRASES]
    settings = {"dev_size": 0, "test_size": 0, "augment": {"masked": 0}}
    config = Config.model_validate({"data": {"corpora": corpora}, "prepare": settings})
    report = prepare(config, RunDir(tmp_path))
    _, _, section = README.partition("## phrases/")
    for entry in report["corpora"]:
        stated = re.search(rf"^\| `{entry['name']}\.tsv` \| ([\d,]+) \|", section, re.MULTILINE)
        assert stated
        assert int(stated[1].replace(",", "")) == entry["read"] == entry["kept"]
        assert entry["mended"] == 0


def test_no_phrase_is_a_sentence_that_is_read_to_judge_a_model() -> None:
    """Those of docs/lab/graded but for lines with figures, and short ones, which any phrase book has."""
    folder = DATA.parent / "docs" / "lab" / "graded"
    rows = [row for name in ("everyday", "software") for row in read_lines(folder / f"{name}.tsv")]
    judged = {letters(row.split("\t")[0]) for row in rows} - {"source"}  # the head of each file
    phrases = {letters(line.split("\t")[0]) for path in PHRASES for line in read_lines(path)}
    assert len(judged) == 200
    assert not judged & phrases


@pytest.mark.parametrize("name", ["wikipedia_web", "wikipedia_web_2"])
def test_the_translated_sentences_are_aligned_and_none_is_in_a_public_test_set(name: str) -> None:
    folder = DATA / "translated"
    sides = [list(read_lines(folder / f"{name}.{language}.gz")) for language in ("en", "zh")]
    _, _, section = README.partition("## translated/")
    stated = re.search(rf"`{name}\.zh\.gz`\s\(([\d,]+)\)", section)
    assert stated
    assert [len(side) for side in sides] == 2 * [int(stated[1].replace(",", ""))]
    known = {int(key) for test in public_tests() for key in load_keys(test)}
    english, chinese = sides
    long = [line for line in english if len(line.split()) > 4]  # shorter ones anybody may say
    long += [line for line in chinese if len(letters(line)) > 7]
    assert [line for line in long if side_key(line) in known] == []

"""Public test sets: their sentences are known by keys, and short ones are left alone."""

import subprocess
import sys
import tomllib
import unicodedata
from hashlib import blake2b
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import FOLDER as REAL
from real_data import needs_real_data

from nmt.config.kinds import PublicTest
from nmt.corpus.identity.contamination import (
    FOLDER,
    Contamination,
    contamination_line,
    is_telling,
    keys_of,
    letters,
    load_keys,
    public_tests,
    recognised,
)
from nmt.corpus.identity.dedupe import side_key
from nmt.corpus.reading.lines import read_lines
from nmt.corpus.reading.pairs import SentencePair, read_pairs
from nmt.text.normalize import normalize

LONG = SentencePair(
    "This sentence is in a test set that everybody knows.", "这个句子在一个大家都知道的测试集里。"
)
SCRIPT = Path(__file__).parents[3] / "scripts" / "fingerprint.py"


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two little sets in the place of those that are shipped: `one` and `two`."""
    monkeypatch.setattr("nmt.corpus.identity.contamination.FOLDER", tmp_path)
    np.save(tmp_path / "one.npy", keys_of([*LONG, "Good luck.", "祝你好运。"]))
    np.save(tmp_path / "two.npy", keys_of([LONG.src, "Another sentence that is long enough, too."]))
    return tmp_path


# --- keys ---


def key_by_the_book(text: str) -> int:
    """As the keys of the shipped sets were described: the first 15 hexadecimal digits of a keyed BLAKE2b."""

    def stripped(text: str) -> str:
        """Without punctuation, separators, control and format characters of the basic plane."""
        return "".join(
            char
            for char in text
            if ord(char) > 0xFFFF
            or not (
                unicodedata.category(char)[0] in "PZ" or unicodedata.category(char) in ("Cc", "Cf")
            )
        )

    folded = stripped(unicodedata.normalize("NFKC", stripped(text))).casefold() or text
    return int(blake2b(folded.encode(), digest_size=8, key=bytes(8)).hexdigest()[:15], 16)


@given(st.text() | st.text("Ａa１1，, 。.“”ßİé̈ﬁ　\u200b\t天氣"))
def test_the_keys_are_those_that_the_shipped_sets_were_made_with(text: str) -> None:
    assert side_key(text) == key_by_the_book(text)


def test_the_keys_have_not_changed_since_the_shipped_sets_were_made() -> None:
    # By the code of commit f7962a8, which made the shipped files.
    assert f"{side_key('Thank you.'):015x}" == "7e4260ebcba1a61"
    assert f"{side_key('Ｉ like, TEA!'):015x}" == "42ab058b6cb3d38"
    assert f"{side_key('他说：“好的……”'):015x}" == "bf47a2514f02591"
    assert f"{side_key('—'):015x}" == "778fbafc5f19653"


@pytest.mark.parametrize("name", public_tests())
def test_a_shipped_set_is_rising_numbers_of_60_bits(name: str) -> None:
    keys = load_keys(name)
    assert keys.dtype == np.uint64
    assert (keys[1:] > keys[:-1]).all()
    assert keys[-1] < 2**60


def test_the_setting_knows_the_sets_that_are_shipped() -> None:
    assert sorted(get_args(PublicTest)) == public_tests()


def test_all_sets_together_take_half_a_megabyte() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 500_000


def test_the_package_takes_the_sets_along() -> None:
    project = tomllib.loads((SCRIPT.parents[1] / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["nmt"]
    taken = [path for pattern in patterns for path in (SCRIPT.parents[1] / "nmt").glob(pattern)]
    assert {path.stem for path in taken if path.suffix == ".npy"} == {*public_tests()}


@needs_real_data("news/newstest2019.en")
def test_a_set_holds_the_lines_of_its_texts_and_no_others() -> None:
    texts = [REAL / "news" / f"newstest2019.{language}" for language in ("en", "zh")]
    lines = [normalize(line, "zh") for text in texts for line in read_lines(text)]
    assert np.array_equal(keys_of(lines), load_keys("newstest2019"))


# --- what a match tells ---


@pytest.mark.parametrize(
    ("text", "count"),
    [("Good luck!", 8), ("祝你好运。", 12), ("2019年", 7), ("", 0), ("用 Python 写", 12)],
)
def test_letters_and_digits_count_and_a_han_character_counts_three(text: str, count: int) -> None:
    assert letters(text) == count


@pytest.mark.parametrize(
    ("sides", "telling"),
    [
        ([], False),
        (["It's a matter of life and death."], False),
        (["Best of luck to you.", "祝你好运。"], False),
        (["The chancellor met the ministers on Monday."], True),
        (["总理周一会见了各位部长。"], True),
        (["The chancellor was in Rome.", "总理在罗马。"], True),
    ],
)
def test_a_match_is_telling_if_the_sides_that_match_are_long_enough(
    sides: list[str], telling: bool
) -> None:
    assert is_telling(sides) == telling


@needs_real_data("tatoeba/train.en")
def test_everyday_sentences_that_also_stand_in_test_sets_are_no_contamination() -> None:
    """All matches in Tatoeba were read: short sentences in common use, none from a test set."""
    found = Contamination()
    matches = 0
    for src, tgt in read_pairs(REAL / "tatoeba" / "train.en", REAL / "tatoeba" / "train.zh"):
        if found.may_have(side_key(src), side_key(tgt)):
            matches += 1
            assert not found.has("tatoeba", src, tgt), src
    assert matches == 32


@needs_real_data("news/newstest2019.en")
def test_nearly_all_pairs_of_a_test_set_are_contamination_and_so_are_its_single_sides() -> None:
    pairs = list(read_pairs(REAL / "news" / "newstest2019.en", REAL / "news" / "newstest2019.zh"))
    found = Contamination()
    both = sum(found.has("", src, tgt) for src, tgt in pairs)
    source = sum(found.has("", src, "") for src, _ in pairs)
    target = sum(found.has("", "", tgt) for _, tgt in pairs)
    assert both / len(pairs) > 0.98
    assert source / len(pairs) > 0.94
    assert target / len(pairs) > 0.95


# --- finding and counting ---


def test_pairs_are_counted_by_set_and_corpus(sets: Path) -> None:
    found = Contamination()
    assert found.has("news", *LONG)
    assert found.has("news", LONG.src, "别的译文")
    assert found.has("web", "别的", LONG.tgt)
    assert not found.has("web", "Good luck.", "祝你好运。")
    assert found.entry() == {"one": {"news": 2, "web": 1}, "two": {"news": 2}}


def test_an_allowed_set_is_not_looked_for(sets: Path) -> None:
    found = Contamination(allowed=["one"])
    assert not found.may_have(side_key("Good luck."), side_key(LONG.tgt))
    assert not found.has("web", "another source", LONG.tgt)
    assert found.has("web", LONG.src, "")


def test_whatever_may_not_stand_in_a_set_does_not(sets: Path) -> None:
    found = Contamination()
    assert found.may_have(side_key("good luck"), 0)
    assert found.may_have(0, side_key(LONG.tgt))
    assert not found.may_have(side_key("unheard of"), side_key("没听说过"))


def test_a_line_says_which_sets_stand_in_which_corpora(sets: Path) -> None:
    report = {"public_tests": {"one": {"news": 1200, "web": 1}, "two": {"news": 2}}}
    line = contamination_line(report, "drop")
    assert line is not None
    assert "one (news 1,200, web 1), two (news 2)" in line
    assert "prepare.allowed_tests=[one,two]" in line
    assert "kept" in str(contamination_line(report, "keep"))
    assert contamination_line({"public_tests": {}}, "drop") is None


def test_a_file_is_recognised_if_nearly_all_of_its_lines_are_of_one_set(sets: Path) -> None:
    assert recognised([*LONG, "good luck", ""]) == "one"
    assert recognised([*LONG, "Something", "else"]) is None
    assert recognised([]) is None


# --- the script that makes fingerprints ---


def test_the_script_writes_the_keys_of_texts_and_of_keys_alike(
    sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(SCRIPT.parent)
    from fingerprint import keys_of_hexadecimal, keys_of_texts

    (tmp_path / "a.en").write_text(f"{LONG.src}\n\nGood  luck\n", encoding="utf-8")
    (tmp_path / "a.zh").write_text(f"{LONG.tgt}\n祝你好运。\n", encoding="utf-8")
    found = keys_of_texts([tmp_path / "a.en", tmp_path / "a.zh"])
    assert np.array_equal(found, load_keys("one"))
    (tmp_path / "a.keys").write_text("".join(f"{key:015x}\n" for key in found.tolist()))
    assert np.array_equal(keys_of_hexadecimal(tmp_path / "a.keys"), found)


def test_the_script_says_what_it_needs() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "name"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--keys" in done.stderr

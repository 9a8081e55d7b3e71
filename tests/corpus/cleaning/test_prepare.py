import gzip
import json
import os
import sys
import tracemalloc
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.config.schema import Config
from nmt.corpus.cleaning import clean
from nmt.corpus.cleaning.prepare import is_current, prepare, why_stale
from nmt.corpus.identity import contamination
from nmt.corpus.identity.contamination import keys_of
from nmt.corpus.identity.dedupe import side_key
from nmt.errors import ConfigError, DataError
from nmt.files import read_json
from nmt.machine import workers
from nmt.run.folder import SPLITS, RunDir
from nmt.spans.masking import SPAN_PLACEHOLDERS

Pairs = list[tuple[str, str]]
NO_SPLITS = {"dev_size": 0, "test_size": 0}
BAD: Pairs = [
    ("", "空"),
    ("Untranslated.", "Untranslated."),
    ("(Laughter)", "（笑声）"),
    ("A &amp; B", "甲和乙"),
]


def sentences(count: int, start: int = 0) -> Pairs:
    numbers = range(start, start + count)
    return [
        (f"I have {n} apples, she has {n % 7} pears.", f"我有{n}个苹果，她有{n % 7}个梨。")
        for n in numbers
    ]


def write_corpus(folder: Path, name: str, pairs: Iterable[tuple[str, str]]) -> Path:
    folder.mkdir(exist_ok=True)
    for language, side in zip(("en", "zh"), zip(*pairs, strict=True), strict=True):
        (folder / f"{name}.{language}").write_text(
            "".join(f"{line}\n" for line in side), encoding="utf-8"
        )
    return folder


def aligned(folder: Path, name: str, **settings: Any) -> dict[str, Any]:
    return {"name": name, "src": f"{folder}/{name}.en", "tgt": f"{folder}/{name}.zh", **settings}


def prepared(
    run: Path, data: dict[str, Any], **settings: Any
) -> tuple[dict[str, Any], dict[str, Pairs]]:
    """The report, and the pairs that were written."""
    config = Config.model_validate({"data": data, "prepare": settings})
    return prepare(config, RunDir(run)), {split: written(run, split) for split in SPLITS}


def written(run: Path, split: str) -> Pairs:
    sides = [
        (run / "data" / f"{split}.{language}").read_text("utf-8").split("\n")
        for language in ("en", "zh")
    ]
    assert all(side.pop() == "" for side in sides)
    return list(zip(*sides, strict=True))


def bytes_of(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()
    }


def essence(text: str) -> str:
    """Letters and digits, without case and width."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


@pytest.fixture
def mixed(tmp_path: Path) -> dict[str, Any]:
    """Two corpora that hold good pairs, bad pairs, duplicates, and sentences that look alike."""
    one = sentences(300) + BAD + sentences(20)
    shouted = [(src.upper().replace(",", " ;"), f"「{tgt}」") for src, tgt in sentences(300)]
    folder = write_corpus(tmp_path / "in", "one", one)
    write_corpus(folder, "two", shouted[::3] + BAD + sentences(200, 250))
    return {"corpora": [aligned(folder, "one"), aligned(folder, "two", weight=3)]}


def test_every_pair_read_is_accounted_for(tmp_path: Path, mixed: dict[str, Any]) -> None:
    report, splits = prepared(tmp_path / "run", mixed, dev_size=20, test_size=30)
    assert [corpus["read"] for corpus in report["corpora"]] == [324, 304]
    for entry in (*report["corpora"], report["totals"]):
        kept = entry["kept"] + entry["dev"] + entry["test"]
        assert entry["read"] == kept + sum(entry["dropped"].values())
    assert report["totals"]["read"] == 628
    assert {split: report[split]["pairs"] for split in SPLITS} == {
        k: len(v) for k, v in splits.items()
    }
    assert (len(splits["dev"]), len(splits["test"])) == (20, 30)
    assert report == read_json(tmp_path / "run" / "prepare.json")


def test_no_sentence_of_dev_or_test_stands_in_train(tmp_path: Path, mixed: dict[str, Any]) -> None:
    report, splits = prepared(tmp_path / "run", mixed, dev_size=20, test_size=30)
    for side in range(2):
        train, dev, test = ({essence(pair[side]) for pair in splits[split]} for split in SPLITS)
        assert train.isdisjoint(dev | test)
        assert dev.isdisjoint(test)
    assert report["totals"]["dropped"]["in_dev_or_test"] > 0


@pytest.mark.parametrize(
    "alike",
    [
        ("i LIKE tea", "喝茶好"),
        ("Ｉ like, tea!!!", "喝茶好"),
        ("«I like tea»", "喝茶好"),
        ("Tea is fine.", "我 喜欢 茶！"),
        ("Tea is fine.", "“我喜欢茶”"),
    ],
)
def test_a_pair_goes_if_either_side_stands_in_a_given_split(
    tmp_path: Path, alike: tuple[str, str]
) -> None:
    folder = write_corpus(tmp_path / "in", "train", [alike, ("I like coffee.", "我喜欢咖啡。")])
    write_corpus(folder, "dev", [("I like tea.", "我喜欢茶。")])
    report, splits = prepared(tmp_path / "run", {"path": str(folder)}, **NO_SPLITS)
    assert splits["train"] == [("I like coffee.", "我喜欢咖啡。")]
    assert report["totals"]["dropped"] == {"in_dev_or_test": 1}


def test_given_splits_are_normalised_and_nothing_else(tmp_path: Path) -> None:
    held_out = [*BAD, ("I  like\ttea.", "我喜欢茶。"), ("I like tea.", "我喜欢茶。"), ("", "")]
    folder = write_corpus(tmp_path / "in", "train", sentences(10))
    write_corpus(folder, "dev", held_out)
    write_corpus(folder, "test", held_out)
    report, splits = prepared(tmp_path / "run", {"path": str(folder)})
    assert splits["dev"] == splits["test"] == [*BAD, *[("I like tea.", "我喜欢茶。")] * 2, ("", "")]
    assert report["dev"] == report["test"] == {"given": True, "pairs": 7}


def test_the_same_corpora_give_the_same_bytes(tmp_path: Path, mixed: dict[str, Any]) -> None:
    prepared(tmp_path / "a", mixed, dev_size=20, test_size=20)
    prepared(tmp_path / "b", mixed, dev_size=20, test_size=20)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    assert len(bytes_of(tmp_path / "a")) == 8  # two sides of three splits, keys, and the report


def test_the_number_of_workers_changes_nothing(
    tmp_path: Path, mixed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CHUNK", 50)
    monkeypatch.setattr(workers, "_WORTH_IT", 100)
    prepared(tmp_path / "one", mixed, dev_size=20, test_size=20, workers=1)
    prepared(tmp_path / "two", mixed, dev_size=20, test_size=20, workers=2)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")


def test_the_seed_decides_which_pairs_are_drawn_and_no_new_pair_reshuffles_them(
    tmp_path: Path, mixed: dict[str, Any]
) -> None:
    splits = {
        seed: prepared(tmp_path / str(seed), mixed, test_size=20, seed=seed)[1] for seed in (1, 2)
    }
    assert splits[1]["test"] != splits[2]["test"]
    write_corpus(tmp_path / "in", "three", sentences(20, 1000))
    more = {"corpora": [*mixed["corpora"], aligned(tmp_path / "in", "three")]}
    again = prepared(tmp_path / "again", more, test_size=20, seed=1)[1]
    assert len(set(again["test"]) & set(splits[1]["test"])) >= 15


def test_a_split_takes_at_most_a_tenth_of_a_small_corpus(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "train", sentences(50))
    report, splits = prepared(tmp_path / "run", {"path": str(folder)}, dev_size=1000, test_size=3)
    assert report["dev"] == {"given": False, "asked": 1000, "pairs": 5}
    assert report["test"] == {"given": False, "asked": 3, "pairs": 3}
    assert sorted(splits["train"] + splits["dev"] + splits["test"]) == sorted(sentences(50))


def test_of_equal_pairs_the_first_stays(tmp_path: Path) -> None:
    pairs = sentences(3)
    folder = write_corpus(
        tmp_path / "in", "train", [*pairs, (" " + pairs[0][0], pairs[0][1]), pairs[2]]
    )
    report, splits = prepared(tmp_path / "run", {"path": str(folder)}, **NO_SPLITS)
    assert splits["train"] == pairs
    assert report["totals"]["dropped"] == {"duplicate": 2}


def test_rules_and_deduplication_can_be_switched_off(tmp_path: Path) -> None:
    pairs = [*BAD, *sentences(30), *sentences(30)]
    folder = write_corpus(tmp_path / "in", "train", pairs)
    off = {"filters": False, "deduplicate": False}
    report, splits = prepared(tmp_path / "run", {"path": str(folder)}, **off, **NO_SPLITS)
    assert splits["train"] == pairs
    report, splits = prepared(
        tmp_path / "run", {"path": str(folder)}, **off, dev_size=2, test_size=2
    )
    drawn = splits["dev"] + splits["test"]
    again = [pair for pair in drawn if pairs.count(pair) == 2]
    assert report["totals"]["dropped"] == {"in_dev_or_test": len(again)}
    assert Counter(splits["train"] + drawn + again) == Counter(pairs)


def test_a_pair_may_be_longer_than_a_line_of_a_corpus(tmp_path: Path) -> None:
    """Staged, a pair is one line with both its sides, and the target before it was repaired."""
    pairs = [("word " * 300_000, "词" * 500_000)]
    folder = write_corpus(tmp_path / "in", "train", pairs)
    off = {"filters": False, "deduplicate": False}
    _, splits = prepared(tmp_path / "run", {"path": str(folder)}, **off, **NO_SPLITS)
    assert [len(side) for side in splits["train"][0]] == [1_499_999, 500_000]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_file_whose_name_is_not_utf8_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xd3\xef.tsv")).write_text("One.\t一。\n")
    with pytest.raises(DataError, match=r"\\xd3\\xef.tsv: its name is not UTF-8; rename the file"):
        prepared(tmp_path / "run", {"corpora": [{"tsv": f"{tmp_path}/*.tsv"}]})


def test_a_weight_repeats_a_corpus_in_train(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "one", sentences(30))
    write_corpus(folder, "two", sentences(40, 20))
    corpora = [aligned(folder, "one"), aligned(folder, "two", weight=3)]
    report, splits = prepared(tmp_path / "run", {"corpora": corpora}, dev_size=4, test_size=4)
    drawn = set(splits["dev"] + splits["test"])
    assert len(drawn) == 8
    assert len(splits["dev"] + splits["test"]) == 8
    times = {
        pair: 1 if number < 30 else 3
        for number, pair in enumerate(sentences(60))
        if pair not in drawn
    }
    assert Counter(splits["train"]) == times
    assert report["train"]["pairs"] == sum(times.values())


@pytest.mark.parametrize("weight", [0.3, 2.5])
def test_a_weight_that_is_no_whole_number_takes_a_share_of_the_pairs(
    tmp_path: Path, weight: float
) -> None:
    folder = write_corpus(tmp_path / "in", "one", sentences(1000))
    data = {"corpora": [aligned(folder, "one", weight=weight)]}
    sizes = {"dev_size": 0, "test_size": 0, "augment": {"masked": 0, "tagged": 0.5}}
    report, splits = prepared(tmp_path / "run", data, **sizes)
    (corpus,) = report["corpora"]
    plain = [pair for pair in splits["train"] if pair in set(sentences(1000))]
    times = Counter(plain)
    assert set(times.values()) == ({1} if weight < 1 else {2, 3})
    assert weight - 0.05 < len(plain) / 1000 < weight + 0.05
    assert corpus["kept"] == len(times)
    assert corpus["dropped"].get("below_weight", 0) == 1000 - len(times)
    assert 0.4 < corpus["variants"]["tagged"] / (len(times) * max(1, weight)) < 0.6
    assert report["train"]["pairs"] == len(splits["train"])
    assert prepared(tmp_path / "again", data, **sizes)[1] == splits


def test_a_weight_multiplies_the_shares_of_variants(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "one", sentences(200))
    write_corpus(folder, "two", sentences(200, 200))
    corpora = [aligned(folder, "one"), aligned(folder, "two", weight=3)]
    augment = {"masked": 0, "tagged": 1, "joined": 0.25, "unpunctuated": 0.25}
    report, splits = prepared(
        tmp_path / "run", {"corpora": corpora}, dev_size=0, test_size=0, augment=augment
    )
    once, thrice = (corpus["variants"] for corpus in report["corpora"])
    assert (once["tagged"], thrice["tagged"]) == (200, 600)
    for kind in ("joined", "unpunctuated"):
        assert 25 < once[kind] < 75
        assert 125 < thrice[kind] < 175
    assert (
        report["train"]["pairs"]
        == len(splits["train"])
        == 800 + sum(once.values()) + sum(thrice.values())
    )


def test_no_switched_variant_is_a_sentence_of_test_but_for_the_placeholder(tmp_path: Path) -> None:
    train = [("It is very hot today.", "今天非常热。"), ("very", "非常")]
    folder = write_corpus(tmp_path / "in", "c", train)
    write_corpus(folder, "held", [("It is hot today.", "今天很热。")])
    data = {"corpora": [aligned(folder, "c")], "test": aligned(folder, "held")}
    augment = {"masked": 0, "switched": 2}
    report, splits = prepared(tmp_path / "run", data, augment=augment, **NO_SPLITS)
    assert splits["train"] == train
    assert report["corpora"][0]["variants"] == {}


def test_a_word_is_switched_whose_translation_another_corpus_has(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "sentences", [("He lives in Boston.", "他住在波士顿。")])
    write_corpus(folder, "words", [("boston", "波士顿")])  # after what it is used for
    corpora = [aligned(folder, "sentences"), aligned(folder, "words")]
    augment = {"masked": 0, "switched": 2}
    report, splits = prepared(
        tmp_path / "run", {"corpora": corpora}, dev_size=0, test_size=0, augment=augment
    )
    assert sum(src[12:13] in SPAN_PLACEHOLDERS for src, _ in splits["train"]) == 2
    assert [corpus["variants"] for corpus in report["corpora"]] == [{"switched": 2}, {}]


def counted_cats(numbers: Iterable[int]) -> Pairs:
    return [(f"I see {n} cats.", f"我看见{n}只猫。") for n in numbers]


@pytest.mark.parametrize("split", ["dev", "test"])
def test_no_variant_is_a_sentence_of_dev_or_test(tmp_path: Path, split: str) -> None:
    """All that `renumbered` can make of a number of one digit, and what `joined` makes of both sentences."""
    train = [*counted_cats([5]), ("She sleeps.", "她睡觉。")]
    others = counted_cats(n for n in range(2, 10) if n != 5)
    joined = ("I see 5 cats. She sleeps.", "我看见5只猫。她睡觉。")
    folder = write_corpus(tmp_path / "in", "c", train)
    write_corpus(folder, "held", [*others, joined])
    data = {"corpora": [aligned(folder, "c")], split: aligned(folder, "held")}
    augment = {"masked": 0, "renumbered": 40, "joined": 1, "upper": 1}
    report, splits = prepared(tmp_path / "run", data, augment=augment, **NO_SPLITS)
    assert {src.capitalize() for src, _ in splits["train"]} == {"I see 5 cats.", "She sleeps."}
    assert report["corpora"][0]["variants"] == {"upper": 2}
    assert report["train"]["pairs"] == len(splits["train"]) == 4


@pytest.mark.parametrize(("public_tests", "expected"), [("drop", 0), ("keep", 30)])
def test_no_variant_is_a_sentence_of_a_public_test_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, public_tests: str, expected: int
) -> None:
    others = counted_cats(n for n in range(2, 10) if n != 5)
    test_set = [side for pair in others for side in pair]
    monkeypatch.setattr(contamination, "public_tests", lambda: ["made"])
    monkeypatch.setattr(contamination, "load_keys", lambda name: keys_of(test_set))
    folder = write_corpus(tmp_path / "in", "c", counted_cats([5]))
    augment = {"masked": 0, "renumbered": 40}
    report, _ = prepared(
        tmp_path / "run",
        {"corpora": [aligned(folder, "c")]},
        augment=augment,
        public_tests=public_tests,
        **NO_SPLITS,
    )
    made = report["corpora"][0]["variants"].get("renumbered", 0)
    assert made == 0 if not expected else made >= expected
    assert report["public_tests"] == {}


def test_all_formats_give_the_same_text(tmp_path: Path) -> None:
    pairs = sentences(40)
    folder = write_corpus(tmp_path / "in", "x", pairs)
    write_corpus(folder, "part1", pairs[:15])
    write_corpus(folder, "part2", pairs[15:])
    rows = "".join(f"{src}\t{tgt}\tCC-BY\n" for src, tgt in pairs)
    (folder / "x.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    (folder / "x.jsonl").write_text(
        "\n".join(json.dumps({"en": src, "zh": tgt}) for src, tgt in pairs)
    )
    for side in ("en", "zh"):
        (folder / f"x2.{side}.gz").write_bytes(gzip.compress((folder / f"x.{side}").read_bytes()))
    corpora = [
        aligned(folder, "x"),
        {"src": f"{folder}/x2.en.gz", "tgt": f"{folder}/x2.zh.gz"},
        {"src": f"{folder}/part*.en", "tgt": f"{folder}/part*.zh"},
        {"tsv": f"{folder}/x.tsv.gz"},
        {"jsonl": f"{folder}/*.jsonl"},
    ]
    texts = [
        prepared(tmp_path / "run", {"corpora": [corpus]}, test_size=4)[1] for corpus in corpora
    ]
    assert len(texts[0]["train"]) == 32
    assert all(text == texts[0] for text in texts)


def test_paths_are_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "in", "train", sentences(5))
    monkeypatch.chdir(tmp_path)
    assert prepared(Path("run"), {"path": "in"})[1]["train"] == sentences(5)
    assert prepared(Path("run"), {"corpora": [{"src": "in/*.en", "tgt": "in/*.zh"}]})[1][
        "train"
    ] == sentences(5)


def test_a_folder_may_hold_zipped_files(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "train", sentences(5))
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert prepared(tmp_path / "run", {"path": str(folder)})[1]["train"] == sentences(5)


TRADITIONAL = ("We came from there.", "我們從那裡來。")


@pytest.mark.parametrize(
    ("choice", "train"),
    [
        ("keep", [TRADITIONAL]),
        ("drop", []),
        ("convert", [(TRADITIONAL[0], "我们从那里来。")]),
    ],
)
def test_traditional_characters_are_kept_dropped_or_converted(
    tmp_path: Path, choice: str, train: Pairs
) -> None:
    pytest.importorskip("opencc")
    folder = write_corpus(tmp_path / "in", "train", [*sentences(2), TRADITIONAL])
    splits = prepared(tmp_path / "run", {"path": str(folder)}, traditional=choice, **NO_SPLITS)[1]
    assert splits["train"] == [*sentences(2), *train]


def test_conversion_without_opencc_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    clean.converter.cache_clear()
    folder = write_corpus(tmp_path / "in", "train", sentences(2))
    with pytest.raises(ConfigError, match=r"pip install opencc"):
        prepared(tmp_path / "run", {"path": str(folder)}, traditional="convert")


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({}, ConfigError, "no corpus to read; give a configuration with --config FILE"),
        ({"path": "IN/nowhere"}, DataError, "IN/nowhere: no such folder"),
        ({"path": "IN/bare"}, DataError, "IN/bare: it needs train.en and train.zh, plain or .gz"),
        ({"path": "IN/half"}, DataError, "IN/half/train.en has no partner: IN/half/train.zh"),
        (
            {"path": "IN/void"},
            DataError,
            "train (IN/void/train.en, IN/void/train.zh): no pairs in it",
        ),
        ({"path": "IN/bad"}, DataError, "4 pairs read, 0 kept; dropped: "),
        ({"path": "IN/bad"}, DataError, "or relax the rule in the prepare section"),
        (
            {"path": "IN/same"},
            DataError,
            "dropped: in_dev_or_test 20; these sentences are also in dev",
        ),
        (
            {"path": "IN/same"},
            DataError,
            "or give no dev and test, so that they are drawn from train",
        ),
        (
            {"path": "IN/unequal"},
            DataError,
            "train.zh ends at line 1 but IN/unequal/train.en has 2 lines",
        ),
        ({"corpora": [{"tsv": "IN/x.tsv"}]}, DataError, "IN/x.tsv: no such file"),
        ({"corpora": [{"jsonl": "IN/*.jsonl"}]}, DataError, "IN/*.jsonl: no such file"),
        (
            {"corpora": [{"name": "c", "src": "IN/*/train.en", "tgt": "IN/*/train.zh"}]},
            DataError,
            "corpus c: IN/half/train.en has no partner in IN/*/train.zh; files belong together where",
        ),
    ],
)
def test_corpora_that_cannot_be_used_give_one_line_that_says_why(
    tmp_path: Path, data: dict[str, Any], error: type[Exception], message: str
) -> None:
    (tmp_path / "bare").mkdir()
    write_corpus(tmp_path / "half", "train", sentences(1))
    (tmp_path / "half" / "train.zh").unlink()
    write_corpus(tmp_path / "void", "train", sentences(1))
    (tmp_path / "void" / "train.en").write_bytes(b"")
    (tmp_path / "void" / "train.zh").write_bytes(b"")
    write_corpus(tmp_path / "bad", "train", BAD)
    for split in ("train", "dev"):
        write_corpus(tmp_path / "same", split, sentences(20))
    write_corpus(tmp_path / "unequal", "train", sentences(1))
    (tmp_path / "unequal" / "train.en").write_bytes(b"a\nb\n")
    there = json.loads(json.dumps(data).replace("IN", str(tmp_path)))
    with pytest.raises(error) as caught:
        prepared(tmp_path / "run", there)
    assert message.replace("IN", str(tmp_path)) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_files_of_two_patterns_are_paired_by_name(tmp_path: Path) -> None:
    """a.en would go with a.zh.gz in sorted order, but so would b.en with b2.zh."""
    for name, first in (("b", 0), ("b2", 10), ("a/x", 20)):
        folder = (tmp_path / f"{name}.en").parent
        write_corpus(folder, name.split("/")[-1], sentences(10, first))
    (tmp_path / "b2.zh").rename(tmp_path / "B2.zh")
    (tmp_path / "b2.en").rename(tmp_path / "B2.en")
    corpus = {"src": f"{tmp_path}/**/*.en", "tgt": f"{tmp_path}/**/*.zh"}
    _, splits = prepared(tmp_path / "run", {"corpora": [corpus]}, dev_size=0, test_size=0)
    assert sorted(splits["train"]) == sorted(sentences(30))
    (tmp_path / "b.zh").rename(tmp_path / "c.zh")  # still as many
    with pytest.raises(DataError, match=r"b\.en has no partner in .*\*\.zh; files belong together"):
        prepared(tmp_path / "again", {"corpora": [corpus]})


@pytest.mark.parametrize("change", ["rules", "test sets"])
def test_text_is_stale_when_the_rules_or_the_public_tests_have_changed(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_corpus(tmp_path / "in", "train", sentences(30))
    config = Config.model_validate({"data": {"path": str(folder)}})
    run = RunDir(tmp_path / "run")
    prepare(config, run)
    assert why_stale(config, run) is None
    module = "nmt.corpus.cleaning.prepare"
    if change == "rules":
        monkeypatch.setattr(f"{module}._RULES", 99)
    else:
        monkeypatch.setattr(f"{module}.public_tests", lambda: ["wmt99"])
    expected = "it was prepared with other settings, rules or test sets, or from other files"
    assert why_stale(config, run) == expected


def test_a_run_that_fails_leaves_the_earlier_result(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "train", sentences(30))
    prepared(tmp_path / "run", {"path": str(folder)})
    before = bytes_of(tmp_path / "run")
    (folder / "train.zh").write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"train\.zh:1: not UTF-8"):
        prepared(tmp_path / "run", {"path": str(folder)})
    assert bytes_of(tmp_path / "run") == before


def test_a_result_is_current_until_its_inputs_change(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "train", sentences(30))
    run = RunDir(tmp_path / "run")

    def current(**settings: Any) -> bool:
        return is_current(
            Config.model_validate({"data": {"path": str(folder)}, "prepare": settings}), run
        )

    assert not current()
    prepared(run.path, {"path": str(folder)})
    assert current()
    assert current(workers=2)
    assert not current(seed=2)
    assert not current(traditional="keep")
    os.utime(folder / "train.en", ns=(0, 0))  # as a copy, or a fresh checkout
    assert current()
    words = (folder / "train.en").read_bytes()
    (folder / "train.en").write_bytes(words.swapcase())
    assert not current()
    prepared(run.path, {"path": str(folder)})
    assert current()
    write_corpus(folder, "dev", sentences(3))
    assert not current()
    prepared(run.path, {"path": str(folder)})
    run.text("test", "zh").unlink()
    assert not current()


@pytest.mark.parametrize("report", ["", "[]", "{}", '"text"', '{"fingerprint": 1}'])
def test_a_report_that_is_damaged_is_not_current(tmp_path: Path, report: str) -> None:
    folder = write_corpus(tmp_path / "in", "train", sentences(3))
    prepared(tmp_path / "run", {"path": str(folder)})
    (tmp_path / "run" / "prepare.json").write_text(report)
    assert not is_current(
        Config.model_validate({"data": {"path": str(folder)}}), RunDir(tmp_path / "run")
    )


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CHUNK", 100)
    monkeypatch.setattr(workers, "_WORTH_IT", 100)
    long = [
        (f"{src} {'Yes, my word. ' * 15}", f"{tgt}{'是的，我的话。' * 15}")
        for src, tgt in sentences(2000)
    ]
    folder = write_corpus(tmp_path / "in", "few", long[:500])
    write_corpus(folder, "many", long)
    peaks = []
    for name in (
        "few",
        "few",
        "many",
    ):  # the first call fills what is kept for all: it is not measured
        settings = {"max_tokens": 1000, "workers": 1, **NO_SPLITS}
        config = Config.model_validate(
            {"data": {"corpora": [aligned(folder, name)]}, "prepare": settings}
        )
        tracemalloc.start()
        report = prepare(config, RunDir(tmp_path / "run"))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report["totals"]["dropped"] == {}
    assert (
        peaks[2] - peaks[1]
    ) / 1500 < 24  # bytes a pair, which itself has 500; 10 to 15 were seen


# --- public test sets ---

PUBLIC = (
    "This sentence is in a test set that everybody knows.",
    "这个句子在一个大家都知道的测试集里。",
)
OTHER = ("Another translation of what is public.", "公开的内容，另一种译法，也足够长。")
CHATTER = ("Good luck!", "祝你好运！")


@pytest.fixture
def public_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A public test set called wmt24, of three sentences, and one called wmt23 of one."""
    folder = tmp_path / "public_tests"
    folder.mkdir()
    monkeypatch.setattr("nmt.corpus.identity.contamination.FOLDER", folder)
    np.save(folder / "wmt24.npy", keys_of([*PUBLIC, OTHER[1], *CHATTER]))
    np.save(folder / "wmt23.npy", keys_of([PUBLIC[0]]))


@pytest.mark.usefixtures("public_tests")
def test_pairs_of_public_test_sets_are_dropped_from_train_and_counted_by_set_and_corpus(
    tmp_path: Path,
) -> None:
    folder = write_corpus(tmp_path / "in", "one", [*sentences(5), PUBLIC, PUBLIC, CHATTER])
    write_corpus(folder, "two", [("Whatever its source is.", OTHER[1]), *sentences(5, 5)])
    data = {"corpora": [aligned(folder, "one"), aligned(folder, "two")]}
    report, splits = prepared(tmp_path / "run", data, **NO_SPLITS)
    assert splits["train"] == [*sentences(5), CHATTER, *sentences(5, 5)]
    assert report["public_tests"] == {"wmt24": {"one": 2, "two": 1}, "wmt23": {"one": 2}}
    assert [corpus["dropped"] for corpus in report["corpora"]] == [
        {"in_public_test": 2},
        {"in_public_test": 1},
    ]


@pytest.mark.usefixtures("public_tests")
@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({"public_tests": "keep"}, {"wmt24": {"one": 1}, "wmt23": {"one": 1}}),
        ({"allowed_tests": ["wmt23", "wmt24"]}, {}),
    ],
)
def test_public_pairs_are_kept_if_asked_for(
    tmp_path: Path, settings: dict[str, Any], counts: dict[str, Any]
) -> None:
    folder = write_corpus(tmp_path / "in", "one", [PUBLIC, *sentences(5)])
    data = {"corpora": [aligned(folder, "one")]}
    report, splits = prepared(tmp_path / "run", data, **NO_SPLITS, **settings)
    assert splits["train"] == [PUBLIC, *sentences(5)]
    assert report["public_tests"] == counts
    assert report["totals"]["dropped"] == {}


@pytest.mark.usefixtures("public_tests")
def test_an_allowed_set_is_dropped_where_another_set_has_it_too(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "one", [PUBLIC, *sentences(5)])
    data = {"corpora": [aligned(folder, "one")]}
    report, splits = prepared(tmp_path / "run", data, **NO_SPLITS, allowed_tests=["wmt24"])
    assert splits["train"] == sentences(5)
    assert report["public_tests"] == {"wmt23": {"one": 1}}


@pytest.mark.usefixtures("public_tests")
def test_whoever_tests_on_a_public_set_hears_nothing_of_it(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "train", [*sentences(5), PUBLIC])
    write_corpus(folder, "dev", [PUBLIC, CHATTER])
    write_corpus(folder, "test", [OTHER])
    report, splits = prepared(tmp_path / "run", {"path": str(folder)})
    assert splits == {"train": sentences(5), "dev": [PUBLIC, CHATTER], "test": [OTHER]}
    assert report["totals"]["dropped"] == {"in_dev_or_test": 1}
    assert report["public_tests"] == {}


@pytest.mark.usefixtures("public_tests")
def test_a_corpus_of_public_test_sets_alone_says_how_to_train_on_it(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "train", [PUBLIC])
    with pytest.raises(DataError, match=r"in_public_test 1; .*prepare\.allowed_tests"):
        prepared(tmp_path / "run", {"path": str(folder)}, **NO_SPLITS)


def test_the_keys_of_train_are_written_once_a_pair(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", "one", sentences(30))
    data = {"corpora": [aligned(folder, "one", weight=3)]}
    augment = {"lower": 1.0, "upper": 1.0}
    _, splits = prepared(tmp_path / "run", data, dev_size=2, test_size=1, augment=augment)
    originals = [pair for pair in sentences(30) if pair in splits["train"]]
    assert len(originals) == 27
    found = np.fromfile(RunDir(tmp_path / "run").train_keys, "<u8").tolist()
    assert found == [side_key(side) for pair in originals for side in pair]

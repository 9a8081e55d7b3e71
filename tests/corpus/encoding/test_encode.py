from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nmt.config.schema import Config
from nmt.corpus.encoding import encode, tokenized
from nmt.corpus.encoding.encode import build_vocabularies, vocabularies_are_current
from nmt.corpus.encoding.store import ParallelCorpus
from nmt.errors import ConfigError, DataError
from nmt.files import read_json
from nmt.machine import workers
from nmt.run.folder import RunDir, SideName
from nmt.run.sides import load_side
from nmt.text.side import Side

Texts = dict[str, tuple[list[str], list[str]]]  # split → lines of both sides
SIDES: tuple[SideName, SideName] = ("src", "tgt")
TEXTS: Texts = {
    "train": (
        ["I like tea .", "You like milk .", "I see a Cat , a dog and Tom .", "tea tea Tea"] * 5
        + ["Zebra"],
        ["我喜欢茶。", "你喜欢牛奶。", "我看见一只猫、一条狗和Tom。", "茶 茶 茶"] * 5 + ["斑马"],
    ),
    "dev": (["I like Zoe ."], ["我喜欢佐伊。"]),
    "test": ([], []),
}


def write(run: RunDir, texts: Texts, prepared: str = "{}") -> None:
    """What `prepare` leaves in a run."""
    for split, sides in texts.items():
        for language, lines in zip(("en", "zh"), sides, strict=True):
            path = run.text(split, language)  # type: ignore[arg-type]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    run.prepare_report.write_text(prepared)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    run = RunDir(tmp_path / "run")
    write(run, TEXTS)
    return run


def settings(
    src: dict[str, Any] | None = None, tgt: dict[str, Any] | None = None, **others: Any
) -> Config:
    """Words between spaces, and characters, none of them spelled; and what is given."""
    plain = {"tokenizer": "plain", "unknown": "unk", "min_frequency": 1} | (src or {})
    char = {"tokenizer": "char", "unknown": "unk", "min_frequency": 1} | (tgt or {})
    return Config.model_validate(
        {"src": plain, "tgt": char, "prepare": {"augment": {"masked": 0}}, **others}
    )


def words(lines: list[str]) -> list[list[str]]:
    return [line.split() for line in lines]


def characters(lines: list[str]) -> list[list[str]]:
    return [list(line.replace(" ", "▁")) for line in lines]


def spaceless(text: str) -> str:
    return text.replace(" ", "")


def count(rows: list[list[str]]) -> Counter[str]:
    return Counter(token for row in rows for token in row)


def listed(run: RunDir, name: SideName) -> list[tuple[str, int]]:
    """A vocabulary's file without the four specials that begin it."""
    rows = [line.split("\t") for line in run.vocab(name).read_text("utf-8").splitlines()]
    assert rows[:4] == [["<pad>", "0"], ["<unk>", "0"], ["<bos>", "0"], ["<eos>", "0"]]
    return [(token, int(seen)) for token, seen in rows[4:]]


def by_frequency(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def test_a_vocabulary_lists_every_token_with_its_count(run: RunDir) -> None:
    build_vocabularies(settings(), run)
    src, tgt = TEXTS["train"]
    assert listed(run, "src") == by_frequency(count(words(src)))
    assert listed(run, "tgt") == by_frequency(count(characters(tgt)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"vocab_size": 3}, lambda counts: by_frequency(counts)[:3]),
        (
            {"min_frequency": 2},
            lambda counts: [item for item in by_frequency(counts) if item[1] > 1],
        ),
        (
            {"lowercase": True},
            lambda counts: by_frequency(count([[t.lower()] * n for t, n in counts.items()])),
        ),
    ],
)
def test_size_frequency_and_case_choose_the_tokens(
    run: RunDir, options: dict[str, Any], expected: Callable[[Counter[str]], list[tuple[str, int]]]
) -> None:
    build_vocabularies(settings(src=options), run)
    assert listed(run, "src") == expected(count(words(TEXTS["train"][0])))


def test_the_store_holds_the_ids_of_every_split(run: RunDir) -> None:
    build_vocabularies(settings(), run)
    ids = [{token: i for i, (token, _) in enumerate(listed(run, name), start=4)} for name in SIDES]
    for split, (src, tgt) in TEXTS.items():
        stored = ParallelCorpus(run.store(split))  # type: ignore[arg-type]
        for k, rows in enumerate((words(src), characters(tgt))):
            assert [stored[i][k].tolist() for i in range(len(stored))] == [
                [ids[k].get(token, 1) for token in row] for row in rows
            ]


@pytest.fixture(
    scope="module",
    params=[("plain", "char"), ("whitespace", "jieba"), ("sentencepiece", "sentencepiece")],
    ids="-".join,
)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RunDir, list[Side]]:
    """A run built with each kind of tokenizer, and its sides."""
    run = RunDir(tmp_path_factory.mktemp("run"))
    write(run, TEXTS)
    src, tgt = request.param
    config = settings({"tokenizer": src}, {"tokenizer": tgt})
    build_vocabularies(config, run)
    return run, [load_side(config, run, name) for name in SIDES]


def test_the_store_decodes_to_the_text(built: tuple[RunDir, list[Side]]) -> None:
    run, (src, tgt) = built
    stored = ParallelCorpus(run.store("train"), (src.fingerprint(), tgt.fingerprint()))
    assert len(stored) == len(TEXTS["train"][0])
    for (src_ids, tgt_ids), source, target in zip(stored, *TEXTS["train"], strict=True):
        assert spaceless(src.decode(src_ids.tolist())) == spaceless(source)
        assert spaceless(tgt.decode(tgt_ids.tolist())) == spaceless(target)


def test_the_store_holds_what_its_sides_encode(built: tuple[RunDir, list[Side]]) -> None:
    run, sides = built
    for split, texts in TEXTS.items():
        stored = ParallelCorpus(run.store(split))  # type: ignore[arg-type]
        for k, side in enumerate(sides):
            assert [pair[k].tolist() for pair in stored] == [side.encode(line) for line in texts[k]]


def test_a_vocabulary_counts_what_its_side_makes_of_train(built: tuple[RunDir, list[Side]]) -> None:
    run, sides = built
    for k, side in enumerate(sides):
        counts = count([side.tokens(line) for line in TEXTS["train"][k]])
        assert [item for item in listed(run, SIDES[k]) if item[1]] == by_frequency(counts)


def files_of(run: RunDir) -> dict[str, bytes]:
    return {
        str(path.relative_to(run.path)): path.read_bytes()
        for path in run.path.rglob("*")
        if path.is_file()
    }


def test_two_processes_build_what_one_builds(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CHUNK", 4)
    monkeypatch.setattr(workers, "_WORTH_IT", 10)
    results = []
    for processes in (1, 2):
        build_vocabularies(
            settings({"tokenizer": "sentencepiece"}, prepare={"workers": processes}), run
        )
        results.append(files_of(run))
    assert results[0] == results[1]
    assert {"vocab.src.tsv", "pieces.src.model", "vocab.json", "store/train/src.ids"} <= set(
        results[0]
    )


def test_the_report_tells_sizes_and_what_dev_is_made_of(run: RunDir) -> None:
    report = build_vocabularies(settings(), run)
    assert report == read_json(run.vocab_report)
    assert report["pairs"] == {split: len(src) for split, (src, _) in TEXTS.items()}
    known = {token for row in words(TEXTS["train"][0]) for token in row}
    assert report["src"] == {
        "size": 4 + len(known),
        "spelling": 0,
        "dev_tokens": 4,  # I like Zoe .
        "dev_coverage": 75.0,
        "dev_oov": 25.0,
        "dev_unk": 25.0,
    }


def test_a_word_that_can_be_spelled_is_out_of_vocabulary_but_not_unknown(run: RunDir) -> None:
    texts = TEXTS | {
        "train": (["Zoo", "Zip", "Bee", "one one one"], ["一"] * 4),
        "dev": (["one Zoe"], ["一"]),
    }
    write(run, texts)
    report = build_vocabularies(
        settings(src={"unknown": "spell", "min_frequency": 2, "vocab_size": 20}), run
    )
    assert report["src"]["dev_oov"] == 50.0
    assert report["src"]["spelling"] > 0
    assert report["src"]["dev_unk"] == 0.0


def test_empty_dev_and_test_are_no_obstacle(run: RunDir) -> None:
    write(run, {"train": TEXTS["train"], "dev": ([], []), "test": ([], [])})
    report = build_vocabularies(settings(), run)
    assert report["pairs"] == {"train": 21, "dev": 0, "test": 0}
    assert (
        report["tgt"]["dev_coverage"]
        is report["tgt"]["dev_oov"]
        is report["tgt"]["dev_unk"]
        is None
    )
    assert len(ParallelCorpus(run.store("dev"))) == 0
    assert vocabularies_are_current(settings(), run)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_train_text_it_says_what_to_run(run: RunDir, language: str) -> None:
    text = run.text("train", language)
    text.write_text("")
    with pytest.raises(DataError, match=rf"train\.{language}: missing or empty; run nmt prepare"):
        build_vocabularies(settings(), run)
    text.unlink()
    with pytest.raises(DataError, match=rf"train\.{language}: missing or empty; run nmt prepare"):
        build_vocabularies(settings(), run)


def test_a_shared_vocabulary_of_words_counts_both_sides(run: RunDir) -> None:
    build_vocabularies(settings({"tokenizer": "char"}, shared_vocab=True), run)
    src, tgt = TEXTS["train"]
    assert listed(run, "src") == listed(run, "tgt") == by_frequency(count(characters(src + tgt)))


@pytest.mark.parametrize(
    "change", [{"min_frequency": 2}, {"lowercase": True}, {"unknown": "spell"}, {"vocab_size": 9}]
)
def test_sides_with_different_settings_cannot_share_a_vocabulary(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"needs src.{next(iter(change))} equal"):
        settings(change, shared_vocab=True)


@pytest.mark.parametrize("case", [{}, {"lowercase": True}])
def test_shared_pieces_are_trained_on_both_sides(run: RunDir, case: dict[str, bool]) -> None:
    pieces = {"tokenizer": "sentencepiece", "vocab_size": 330}
    config = settings(pieces | case, pieces | case, shared_vocab=True)
    build_vocabularies(config, run)
    assert run.pieces("src").read_bytes() == run.pieces("tgt").read_bytes()
    assert run.vocab("src").read_bytes() == run.vocab("tgt").read_bytes()
    tokens = {token for token, _ in listed(run, "src")}
    assert {"茶", "狗", "k", "."} <= tokens
    alone = count(
        [
            load_side(config, run, name).tokens(line)
            for k, name in enumerate(SIDES)
            for line in TEXTS["train"][k]
        ]
    )
    assert {t: n for t, n in listed(run, "src") if n} == alone


@pytest.mark.parametrize("tokenizer", ["plain", "sentencepiece"])
@pytest.mark.parametrize("shared", [False, True])
def test_the_prefix_stands_before_every_source_that_is_not_blank(
    run: RunDir, tokenizer: str, shared: bool
) -> None:
    write(run, TEXTS | {"dev": (["tea dog", "", "tea"], ["茶 狗", "", "茶"])})
    plain = {"tokenizer": tokenizer}
    config = settings(plain | {"prefix": [">>x<<", ">>y<<"]}, plain, shared_vocab=shared)
    build_vocabularies(config, run)
    side = load_side(config, run, "src")
    prefix = [side.vocab.ids[">>x<<"], side.vocab.ids[">>y<<"]]
    sources = [pair[0].tolist() for pair in ParallelCorpus(run.store("dev"))]
    assert sources == [side.encode(line) for line in ("tea dog", "", "tea")]
    assert [ids[:2] for ids in sources] == [prefix, [], prefix]
    assert (">>x<<" in load_side(config, run, "tgt").vocab.ids) == shared
    unprefixed = replace(side, prefix=())
    assert [unprefixed.encode(line) for line in ("tea dog", "tea")] == [
        sources[0][2:],
        sources[2][2:],
    ]


def test_the_words_of_the_source_are_stored_in_a_case_that_is_a_piece(run: RunDir) -> None:
    lines = [f"{a}{b} {a}{b}{c}" for a in "bcdfgh" for b in "aeiou" for c in "klmnp"]
    write(run, TEXTS | {"train": (lines, ["茶"] * len(lines)), "dev": (["BA DI"], ["茶"])})
    pieces = {"tokenizer": "sentencepiece", "vocab_size": 400}
    config = settings(pieces | {"recase": True}, pieces)
    build_vocabularies(config, run)
    side = load_side(config, run, "src")
    assert side.prepared("BA DI") == "ba di"
    stored = ParallelCorpus(run.store("dev"))[0][0].tolist()
    assert stored == side.encode("BA DI") == side.encode("ba di")


def test_more_pieces_than_a_corpus_can_bear_are_as_many_as_it_can(run: RunDir) -> None:
    report = build_vocabularies(settings({"tokenizer": "sentencepiece", "vocab_size": 32_000}), run)
    assert 4 + 256 < report["src"]["size"] < 1000
    assert report["src"]["dev_unk"] == 0.0


def test_too_few_pieces_to_begin_with_are_refused_by_name(run: RunDir) -> None:
    with pytest.raises(ConfigError, match=r"^tgt\.vocab_size=100 ") as caught:
        build_vocabularies(settings(tgt={"tokenizer": "sentencepiece", "vocab_size": 100}), run)
    assert "\n" not in str(caught.value)


def test_pieces_are_those_of_the_last_training(run: RunDir) -> None:
    config = settings({"tokenizer": "sentencepiece"})
    build_vocabularies(config, run)
    write(run, TEXTS | {"train": (["grün blau", "blau rot"] * 9, ["一", "二"] * 9)})
    build_vocabularies(config, run)
    side = load_side(config, run, "src")
    counts = count([side.tokens(line) for line in ["grün blau", "blau rot"] * 9])
    assert {token: n for token, n in listed(run, "src") if n} == counts


CHANGES: list[dict[str, Any]] = [
    {"src": {"tokenizer": "whitespace"}},
    {"src": {"vocab_size": 7}},
    {"src": {"min_frequency": 2}},
    {"tgt": {"lowercase": True}},
    {"tgt": {"unknown": "spell"}},
    {"shared_vocab": True},
]


@pytest.mark.parametrize("change", CHANGES)
def test_vocabularies_of_another_configuration_are_not_current(
    run: RunDir, change: dict[str, Any]
) -> None:
    assert not vocabularies_are_current(settings(), run)
    build_vocabularies(settings(), run)
    assert vocabularies_are_current(settings(), run)
    assert not vocabularies_are_current(settings(**change), run)
    build_vocabularies(settings(**change), run)
    assert vocabularies_are_current(settings(**change), run)


def test_what_does_not_touch_the_ids_leaves_them_current(run: RunDir) -> None:
    build_vocabularies(settings(), run)
    assert vocabularies_are_current(
        settings(model={"d_model": 64}, train={"seed": 5}, prepare={"workers": 3}), run
    )


def test_vocabularies_of_other_text_are_not_current(run: RunDir) -> None:
    build_vocabularies(settings(), run)
    write(run, TEXTS, prepared='{"kept": 20}')
    assert not vocabularies_are_current(settings(), run)


DAMAGES: list[tuple[str, bytes | None]] = [
    ("vocab.src.tsv", None),
    ("vocab.tgt.tsv", b"nothing of the kind\n"),
    ("vocab.json", None),
    ("vocab.json", b"{"),
    ("vocab.json", b"[]"),
    ("vocab.json", b"{}"),
    ("pieces.src.model", None),
    ("pieces.src.model", b"nothing of the kind"),
    ("store/train/src.ids", None),
    ("store/dev/meta.json", b"{}"),
    ("store/test/offsets.npy", None),
]


@pytest.mark.parametrize(("name", "data"), DAMAGES)
def test_what_is_damaged_or_gone_is_not_current(run: RunDir, name: str, data: bytes | None) -> None:
    config = settings({"tokenizer": "sentencepiece"})
    build_vocabularies(config, run)
    if data is None:
        (run.path / name).unlink()
    else:
        (run.path / name).write_bytes(data)
    assert not vocabularies_are_current(config, run)


@pytest.mark.parametrize("written", range(6))
def test_an_interrupted_build_is_current_for_nobody(
    run: RunDir, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    old, new = settings(), settings({"vocab_size": 7})
    build_vocabularies(old, run)
    calls = iter(range(6))

    def interrupting(work: Callable[..., Any]) -> Callable[..., Any]:
        def interrupted(*arguments: Any) -> Any:
            if next(calls) == written:
                raise KeyboardInterrupt
            return work(*arguments)

        return interrupted

    for module, name in (
        (tokenized, "write_store"),  # all splits as numbers of tokens
        (encode, "write_store"),  # each split as ids
        (encode, "_describe"),  # each side
    ):
        monkeypatch.setattr(module, name, interrupting(getattr(module, name)))
    with pytest.raises(KeyboardInterrupt):
        build_vocabularies(new, run)
    assert not vocabularies_are_current(old, run)
    assert not vocabularies_are_current(new, run)
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".")] == []


def test_pieces_are_trained_on_what_they_cut(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `detach` a word behind a bracket is read as behind a space."""
    seen: list[str] = []
    train = encode.train_sentencepiece

    def note(lines: Iterable[str], *others: Any) -> bytes:
        kept = list(lines)
        seen.extend(kept)
        return train(iter(kept), *others)

    monkeypatch.setattr(encode, "train_sentencepiece", note)
    texts = {**TEXTS, "train": (['Take (Boston) "now" .'] * 9, ["带上（波士顿）。"] * 9)}
    write(run, texts)
    side = {"tokenizer": "sentencepiece", "vocab_size": 300, "detach": True}
    build_vocabularies(settings(side), run)
    assert set(seen) == {'Take ( Boston) " now" .'}

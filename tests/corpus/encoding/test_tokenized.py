from pathlib import Path

from nmt.config.schema import Config
from nmt.corpus.encoding.tokenized import TokenizedText, tokenize
from nmt.run.folder import RunDir, Split

TEXTS: dict[Split, tuple[list[str], list[str]]] = {
    "train": (["b a b", "A"], ["你我", "你"]),
    "dev": (["a c"], ["他我"]),
    "test": ([], []),
}


def tokenized(folder: Path, lowercase: bool = False) -> TokenizedText:
    """The text above, in words and in characters."""
    run = RunDir(folder / "run")
    for split, sides in TEXTS.items():
        for language, lines in zip(("en", "zh"), sides, strict=True):
            path = run.text(split, language)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    src = {"tokenizer": "plain", "lowercase": lowercase}
    config = Config.model_validate({"src": src, "tgt": {"tokenizer": "char"}})
    return tokenize(config, run, folder)


def test_tokens_are_numbered_in_the_order_in_which_they_appear(tmp_path: Path) -> None:
    text = tokenized(tmp_path)
    assert list(text.numbers[0].items()) == [("b", 0), ("a", 1), ("A", 2), ("c", 3)]
    assert list(text.numbers[1].items()) == [("你", 0), ("我", 1), ("他", 2)]


def test_case_is_folded_where_the_configuration_says_so(tmp_path: Path) -> None:
    assert list(tokenized(tmp_path, lowercase=True).numbers[0]) == ["b", "a", "c"]


def test_each_split_has_its_own_pairs(tmp_path: Path) -> None:
    text = tokenized(tmp_path)
    assert text.pairs == {"train": 2, "dev": 1, "test": 0}
    (train,) = text.blocks("train")
    assert train.src.tolist() == [0, 1, 0, 2]
    assert train.tgt.tolist() == [0, 1, 0]
    assert train.lengths.tolist() == [[3, 2], [1, 1]]
    (dev,) = text.blocks("dev")
    assert (dev.src.tolist(), dev.tgt.tolist()) == ([1, 3], [2, 1])
    assert list(text.blocks("test")) == []


def test_tokens_are_counted_by_split(tmp_path: Path) -> None:
    text = tokenized(tmp_path)
    assert dict(text.counts("train", "src")) == {"b": 2, "a": 1, "A": 1}
    assert dict(text.counts("train", "tgt")) == {"你": 2, "我": 1}
    assert dict(text.counts("dev", "src")) == {"a": 1, "c": 1}
    assert dict(text.counts("test", "tgt")) == {}

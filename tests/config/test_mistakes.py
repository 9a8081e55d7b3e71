"""Every setting of the schema, given everything that it cannot be: one plain line each."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.errors import ConfigError

# What no setting takes, whatever its kind, except those named beside it.
WRONG = {
    "'one of a kind'": {str},
    "[[1]]": set(),
    "{strange: 1}": set(),
    "true": {bool},
    ".nan": set(),
    "3.5": {float},
    "-1e40": set(),
    "-1": set(),
    "1000000000000000000000000000000": {float},
    "''": {str},
    "2001-01-01": {str},
    "9223372036854775808": {float},
}
# Words of pydantic, of Python, or of regular expressions.
INTERNAL = re.compile(
    r"\b(input|instance|dict\w*|tuple|string|integer|boolean|float|finite|pattern|valid|pydantic)\b"
    r"|Config|None|True|False|[$\\]|\^\[|0\.000|922337203685"
)


def settings(section: type[BaseModel] = Config, prefix: str = "") -> Iterator[tuple[str, set[Any]]]:
    """Each section and setting with the kinds of values that it takes."""
    for name, field in section.model_fields.items():
        kinds = set()
        for kind in alternatives(field.annotation):
            kinds.add(get_origin(kind) or kind)
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from settings(kind, f"{prefix}{name}.")
        yield prefix + name, kinds


def alternatives(annotation: Any) -> list[Any]:
    """`Annotated[int, …] | None` → int, NoneType."""
    inner = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    return [
        getattr(kind, "__origin__", kind) if hasattr(kind, "__metadata__") else kind
        for kind in inner
    ]


CASES = [
    (name, value)
    for name, kinds in settings()
    for value, right_for in WRONG.items()
    if not kinds & right_for
]


def refusal(name: str, value: str) -> str | None:
    try:
        load_config(None, [f"{name}={value}"])
    except ConfigError as error:
        return str(error)
    return None


def test_the_cases_cover_the_schema() -> None:
    names = {name for name, _value in CASES}
    assert {"train.betas", "search.temperature", "data.dev.src", "run_dir", "src"} <= names
    assert len(names) > 100


@pytest.mark.parametrize("value", WRONG)
def test_a_value_that_a_setting_cannot_have_is_one_line_without_internals(value: str) -> None:
    for name in [name for name, wrong in CASES if wrong == value]:
        message = refusal(name, value)
        assert message is not None, f"{name}={value} is taken"
        assert "\n" not in message
        if "unknown key" in message:
            assert f"unknown key '{name}.strange'; " in message
            continue
        told, _, fix = message.partition(": must be ")
        assert told.startswith((f"command line: {name}=", f"command line: {name}.0=")), message
        assert fix
        # The name and the value are the user's own words.
        assert not INTERNAL.search(fix), message


def test_a_choice_that_is_not_there_is_told_with_all_that_are() -> None:
    for name, kinds in settings():
        if Literal in kinds:
            message = refusal(name, "nonsense")
            assert message is not None
            literals = [
                each
                for each in alternatives(field_of(name).annotation)
                if get_origin(each) is Literal
            ]
            choices = [choice for each in literals for choice in get_args(each)]
            assert all(str(choice) in message for choice in choices), message


def field_of(name: str) -> Any:
    field: Any = None
    section: Any = Config
    for key in name.split("."):
        field = section.model_fields[key]
        for kind in alternatives(field.annotation):
            section = kind if hasattr(kind, "model_fields") else section
    return field


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("train.device=gpu", "train.device='gpu': must be auto, cpu, mps, cuda or cuda:N"),
        ("search.temperature=0", "search.temperature=0: must be a number from 1e-30 to 1e+30"),
        ("run_dir=", "run_dir=null: must be a path"),
        ("run_dir=''", "run_dir='': must be a path"),
        ("run_dir=2024", "run_dir=2024: must be a path; put it in quotes"),
        ("train.betas=[0.9]", "must be a list of 2, each a number of at least 0 and below 1"),
        ("data.corpora=my.tsv", "must be a list, each item a section (name, src, tgt, tsv"),
        ("search.beam_size=0", "search.beam_size=0: must be a whole number from 1 to 1,000"),
        ("search.max_length=0", "must be a whole number of at least 1, or null"),
        ("train.seed=99999999999999999999", "at least 0, and less than 2^63"),
        (
            "evaluate.metrics=[bleu, blue]",
            "metrics.1='blue': must be bleu, bleu_width, bleu_flores101, bleu_flores200, chrf, chrf++ or ter",
        ),
        ("evaluate.metrics=[blue]", "or ter; did you mean bleu?"),
        ("prepare.allowed_tests=[newstest17]", "questions; did you mean newstest2017?"),
        ("tgt.tokenizer=jeiba", "char or sentencepiece; did you mean jieba?"),
        ("tgt=tokenizer jieba", "(language, tokenizer"),
        (
            "tgt=tokenizer jieba",
            "); give each setting its own value, with a space behind the colon",
        ),
        ("train={1: 2}", "unknown key 'train.1'"),
        ("src.tokenizer=" + "x" * 200, "x…: must be whitespace, plain"),
    ],
)
def test_the_fix_is_said_in_plain_words(setting: str, told: str) -> None:
    message = refusal(*setting.split("=", 1))
    assert message is not None
    assert told in message
    assert "\n" not in message
    assert len(message) < 400


def test_home_is_found_in_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/li")
    config = load_config(
        None,
        [
            "run_dir=~/run",
            "data.corpora=[{src: ~/a.en, tgt: ~/a.zh}, {jsonl: ~/c.jsonl}]",
            "data.dev={tsv: ~/dev.tsv}",
            "model.src_vectors=~/v.txt",
            "evaluate.history=~/scores.jsonl",
        ],
    )
    assert config.run_dir == "/home/li/run"
    assert config.data.corpora[0].src == "/home/li/a.en"
    assert config.data.corpora[0].tgt == "/home/li/a.zh"
    assert config.data.corpora[1].jsonl == "/home/li/c.jsonl"
    assert config.data.dev is not None
    assert config.data.dev.tsv == "/home/li/dev.tsv"
    assert config.model.src_vectors == "/home/li/v.txt"
    assert config.evaluate.history == "/home/li/scores.jsonl"
    assert load_config(None, ["data.path=~/x"]).data.path == "/home/li/x"


def test_a_file_with_a_key_that_is_no_name_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    for text in ("train: {[1]: 2}\n", "1: 2\n", "null: 2\n", "train: {true: 1}\n"):
        file.write_text(text)
        with pytest.raises(ConfigError) as error:
            load_config(file)
        assert "\n" not in str(error.value)
        assert str(error.value).startswith(f"{file}:1: ")

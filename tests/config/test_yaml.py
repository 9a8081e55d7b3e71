"""Settings are YAML 1.2, whoever writes them: a file, the command line, or nmt itself."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from nmt.config.load import dump, load_config
from nmt.config.schema import Config
from nmt.config.yaml_values import COMMAND_LINE, dump_yaml, parse
from nmt.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[2] / "configs").rglob("*.yaml"))


def load(tmp_path: Path, text: str, *overrides: str) -> Config:
    file = tmp_path / "c.yaml"
    file.write_text(text, encoding="utf-8")
    return load_config(file, list(overrides))


def refusal(tmp_path: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text, *overrides)
    return str(error.value).replace(str(tmp_path / "c.yaml"), "c.yaml")


def value_of(text: str) -> object:
    return parse(text, lambda _line: COMMAND_LINE)[0]


# The examples of YAML 1.2.2, section 10.3.2, and what YAML 1.1 took for something else.
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("0", 0),
        ("-19", -19),
        ("+12", 12),
        ("0100", 100),
        ("0o7", 7),
        ("0x3A", 0x3A),
        ("0.", 0.0),
        ("-0.0", -0.0),
        (".5", 0.5),
        (".5e3", 500.0),
        ("+12e03", 12000.0),
        ("-2E+05", -200000.0),
        ("1e-4", 1e-4),
        ("5e4", 5e4),
        (".inf", float("inf")),
        ("-.Inf", float("-inf")),
        ("+.INF", float("inf")),
        ("1:30:00", "1:30:00"),
        ("1:30.5", "1:30.5"),
        ("2024-11-28", "2024-11-28"),
        ("2024-11-28 10:00:00", "2024-11-28 10:00:00"),
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("no", "no"),
        ("y", "y"),
        ("=", "="),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("'3'", "3"),
        ("!!str 3", "3"),
        ("!!float 3", 3.0),
        ("%YAML 1.1\n--- [0100, on]", [100, "on"]),
        ("{3: a, null: b, true: c}", {"3": "a", "null": "b", "true": "c"}),
    ],
)
def test_a_word_is_what_yaml_1_2_says(text: str, value: object) -> None:
    found = value_of(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "text", ["!!bool maybe", "!!int one", "!!int", "!!float x", "!!null 0", "!!timestamp x", "!x y"]
)
def test_a_tag_makes_nothing_else_of_a_word(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        value_of(text)


def test_a_count_of_updates_is_never_octal_nor_sexagesimal(tmp_path: Path) -> None:
    assert load(tmp_path, "train: {updates: 0100}\n").train.updates == 100
    told = "c.yaml:2: train.max_minutes='1:30:00': must be a number above 0, or null"
    assert refusal(tmp_path, "train:\n  max_minutes: 1:30:00\n") == told


def test_a_date_is_a_name_like_any_other(tmp_path: Path) -> None:
    assert load(tmp_path, "run_dir: 2024-11-28\n").run_dir == "2024-11-28"


# --- aliases ---


def test_an_override_leaves_what_had_the_same_anchor_alone(tmp_path: Path) -> None:
    text = "data:\n  dev: &x {tsv: a.tsv}\n  test: *x\n"
    data = load(tmp_path, text, "data.dev.tsv=b.tsv").data
    assert data.dev is not None
    assert data.test is not None
    assert (data.dev.tsv, data.test.tsv) == ("b.tsv", "a.tsv")


def test_an_override_of_one_side_leaves_the_other_alone(tmp_path: Path) -> None:
    text = "src: &s {vocab_size: 8000, tokenizer: char, language: en}\ntgt: *s\n"
    config = load(tmp_path, text, "tgt.vocab_size=9000", "tgt.language=zh")
    assert (config.src.vocab_size, config.tgt.vocab_size) == (8000, 9000)
    assert (config.src.language, config.tgt.language) == ("en", "zh")


def test_a_merged_section_has_the_settings_of_the_others_below_its_own(tmp_path: Path) -> None:
    text = "data: {dev: &d {tsv: d.tsv, weight: 2}, test: {<<: *d, tsv: t.tsv}}\n"
    test = load(tmp_path, text).data.test
    assert test is not None
    assert (test.tsv, test.weight) == ("t.tsv", 2)
    assert value_of("{<<: [{a: 1, b: 1}, {b: 2, c: 2}], c: 3}") == {"a": 1, "b": 1, "c": 3}


# --- sections of nothing but comments ---


@pytest.mark.parametrize("text", ["prepare:\n  augment:\n    # upper: 0.1\n", "prepare:\n", ""])
def test_a_section_of_nothing_but_comments_is_an_empty_one(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Config()
    augment = load(tmp_path, text, "prepare.augment.upper=0.2").prepare.augment
    assert (augment.upper, augment.masked) == (0.2, 0.5)


def test_a_whole_section_cannot_be_emptied_by_an_override(tmp_path: Path) -> None:
    said = refusal(tmp_path, "train: {updates: 7}\n", "train=")
    assert said == "command line: train: is a section; name one of its settings"


def test_an_optional_section_of_nothing_but_comments_is_none(tmp_path: Path) -> None:
    text = "data:\n  dev:\n    # tsv: a.tsv\n"
    assert load(tmp_path, text).data.dev is None
    dev = load(tmp_path, text, "data.dev.tsv=b.tsv").data.dev
    assert dev is not None
    assert dev.tsv == "b.tsv"


# --- values that only a closer look refuses ---


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "evaluate: {metrics: []}\n",
            "c.yaml:1: evaluate.metrics: an empty list; name at least one metric, such as bleu",
        ),
        (
            "evaluate:\n  metrics: [bleu, chrf, bleu]\n",
            "c.yaml:2: evaluate.metrics: bleu is named twice; name it once",
        ),
        ('run_dir: "a\\0b"\n', "c.yaml:1: run_dir: a path cannot hold a NUL byte; delete the \\0"),
        (
            'data:\n  dev: {tsv: "\\0"}\n',
            "c.yaml:2: data.dev.tsv: a path cannot hold a NUL byte; delete the \\0",
        ),
    ],
)
def test_a_value_that_would_fail_later_is_refused_at_once(
    tmp_path: Path, text: str, told: str
) -> None:
    assert refusal(tmp_path, text) == told


# --- overrides are YAML too ---


def test_a_key_given_twice_within_an_override_is_refused(tmp_path: Path) -> None:
    told = "command line: 'train.seed' was already given at command line; keep one of them"
    assert refusal(tmp_path, "", "train={seed: 1, seed: 2}") == told


def test_a_mistake_in_an_overriding_list_is_placed_on_the_command_line(tmp_path: Path) -> None:
    text = "evaluate:\n  metrics:\n    - bleu\n"
    assert refusal(tmp_path, text, "evaluate.metrics=[blue]").startswith(
        "command line: evaluate.metrics.0='blue'"
    )


def test_aliases_that_stand_for_billions_of_items_are_refused_in_an_override() -> None:
    lists = ["&a0 [x, x, x, x, x, x, x, x, x, x]"]
    lists += [f"&a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(ConfigError, match="command line: more than 20,000 keys and items"):
        load_config(None, [f"data.corpora=[{', '.join(lists)}]"])


def test_digits_without_end_are_read_in_time() -> None:
    assert value_of("1" * 200_000 + "e") == "1" * 200_000 + "e"  # took minutes once


# --- what nmt writes ---


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_the_text_of_a_run_is_as_it_has_always_been(path: Path) -> None:
    settings = dump(load_config(path))
    text = dump_yaml(settings)
    # Runs of earlier versions hold this text; nmt knows its own files by their bytes.
    assert text == yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    assert value_of(text) == settings


# PyYAML writes U+0085, a line break of old, as one that is read as a space.
@given(st.text(st.characters(exclude_characters="\x85", exclude_categories=["Cs"])))
@example("1e5")
@example("0o17")
@example("0100")
@example("no")
@example("2024-11-28")
@example(".5e3")
@example("null")
@example("a " * 100)
def test_what_is_written_is_read_back_by_yaml_1_2_and_1_1(text: str) -> None:
    written = dump_yaml({"run_dir": text})
    assert value_of(written) == {"run_dir": text}
    assert yaml.safe_load(written) == {"run_dir": text}


@given(st.floats(allow_nan=False) | st.integers() | st.booleans() | st.none())
def test_a_value_that_is_no_text_is_written_as_itself(value: object) -> None:
    written = dump_yaml({"value": value})
    assert value_of(written) == {"value": value}
    assert yaml.safe_load(written) == {"value": value}

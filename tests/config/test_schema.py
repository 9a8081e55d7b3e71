from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nmt.config.load import dump, load_config
from nmt.config.schema import Config
from nmt.errors import ConfigError


def message(tmp_path: Path, text: str, *overrides: str) -> str:
    file = tmp_path / "base.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_config(file, list(overrides))
    return str(error.value).replace(str(file), "base.yaml")


def test_mistakes_come_in_the_order_of_their_lines_and_those_of_the_command_line_last(
    tmp_path: Path,
) -> None:
    text = "train:\n  updates: many\nsearch:\n  n_best: 0\nmodel:\n  heads: 0\ntrian: {}\n"
    lines = message(tmp_path, text, "data.path=3").splitlines()
    places = [line.split(": ")[0] for line in lines]
    assert places == ["base.yaml:2", "base.yaml:4", "base.yaml:6", "base.yaml:7", "command line"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "train:\n  label_smothing: 0.1\n",
            "base.yaml:2: unknown key 'train.label_smothing'; did you mean 'train.label_smoothing'?",
        ),
        ("trian:\n  updates: 3\n", "base.yaml:1: unknown key 'trian'; did you mean 'train'?"),
        (
            "model:\n  d_model: 512\n  heads: 7\n",
            "base.yaml:2: model.d_model=512 cannot be divided among model.heads=7; choose heads that divide it, "
            "such as 8",
        ),
        (
            "model: {max_length: 0}\n",
            "base.yaml:1: model.max_length=0: must be a whole number from 1 to 131,072",
        ),
        (
            "train:\n\n  updates: many\n",
            "base.yaml:3: train.updates='many': must be a whole number of at least 1",
        ),
        (
            "search: {method: greedy, n_best: 3}\n",
            "search.n_best=3 needs search.method=beam or sample",
        ),
        ("search: {beam_size: 2, n_best: 3}\n", "search.n_best=3 is more than search.beam_size=2"),
        ("model:\n  tie_embeddings: all\n", "model.tie_embeddings=all needs shared_vocab=true"),
        ("train: {keep: 2, average: 5}\n", "set train.keep=5"),
        ("data: {path: x, corpora: [{tsv: y}]}\n", "keep one: data.path=null leaves it out"),
        (
            "data:\n  corpora:\n    - {src: a.en}\n",
            "base.yaml:3: data.corpora.0: give either both src and tgt",
        ),
        ("model:\n  dropout: .nan\n", "base.yaml:2: model.dropout=nan"),
        ("train: 3\n", "base.yaml:1: train=3"),
        ("src: {language: ../../etc}\n", "src.language"),
        ("tgt: {language: en}\n", "src.language and tgt.language are both en"),
    ],
)
def test_a_mistake_is_shown_with_its_place_value_and_mend(
    text: str, told: str, tmp_path: Path
) -> None:
    assert told in message(tmp_path, text)


def test_every_mistake_is_shown_at_once(tmp_path: Path) -> None:
    shown = message(
        tmp_path, "train:\n  updates: -1\n  wramup: 3\nsearch:\n  method: magic\n"
    ).splitlines()
    assert [line.split(": ")[0] for line in shown] == ["base.yaml:2", "base.yaml:3", "base.yaml:5"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "train:\n  seed: 1\n  seed: 2\n",
            "base.yaml:3: 'train.seed' was already given at base.yaml:2",
        ),
        ("- a\n- b\n", "base.yaml:1: a configuration is made of"),
        ("run_dir: x\ntrain: [1\n\n", "base.yaml:2: not valid YAML (expected ',' or ']'"),
        ("train: [1\n", "; put a comma between two items, and close what"),
        ("run_dir: 'x\n\n", "base.yaml:1: not valid YAML (found unexpected end of stream)"),
        ("run_dir: 'x\n", "; close the quotation mark"),
        ("train:\n\tseed: 1\n", "; indent with spaces, not with tabs"),
        ("train:\n  seed: 1\n warmup: 2\n", "base.yaml:3: not valid YAML (expected <block end>"),
        ("train:\n  seed: 1\n warmup: 2\n", "; indent the settings of a section alike"),
        ("train: seed: 1\n", "; write each 'key: value' on a line of its own"),
        ("run_dir: 'don't'\n", "; put nothing behind a closing quotation mark"),
        ("train: {seed: 1 warmup: 2}\n", "; put a comma between two items"),
        ("data:\n  path: *.tsv\n", "; put text that begins with * or & in quotation marks"),
        ("run_dir: @x\n", "; put text that begins with such a sign in quotation marks"),
        ("run_dir: *x\n", "; put text that begins with * in quotation marks"),
        ("run_dir: x\ntrain\n", "; write 'key: value', with a colon and a space"),
        ("train: !!python/object/apply:os.mkdir [executed]\n", "not valid YAML"),
        ("train: {tensorboard: !!bool maybe}\n", "not valid YAML"),
        ("run_dir: !!timestamp today\n", "not valid YAML"),
        ("!!set {a, b}\n", "base.yaml:1: not valid YAML (could not determine a constructor"),
        ("a: &a [*a]\n", "nested too deeply, or without end"),
    ],
)
def test_what_is_no_plain_mapping_is_refused(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in message(tmp_path, text)
    assert not (tmp_path / "executed").exists()


def test_a_missing_file_and_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.yaml: no such file"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"run_dir: caf\xe9\n")
    with pytest.raises(ConfigError, match="byte 12 is not UTF-8"):
        load_config(tmp_path / "latin.yaml")


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("train.updates", "'train.updates' is not of the form section.key=value"),
        ("=3", "not of the form"),
        ("train.updates.more=3", 'command line: train.updates={"more": 3}'),
        ("trian.updates=3", "command line: unknown key 'trian'"),
        ("train.updates=[", "not a YAML value"),
        ("train.tensorboard=!!bool maybe", "not a YAML value"),
        ("search.n_best=9", "command line: search.n_best=9 is more than"),
        (
            "train.updtes=3",
            "command line: unknown key 'train.updtes'; did you mean 'train.updates'?",
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_placed_there(
    override: str, told: str, tmp_path: Path
) -> None:
    assert told in message(tmp_path, "", override)


def test_an_override_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("train: {updates: 5, peak_lr: 1e-3}\n")
    config = load_config(
        file, ["train.updates=7", "evaluate.metrics=[ter]", "train.max_minutes=null"]
    )
    assert (config.train.updates, config.train.peak_lr, config.evaluate.metrics) == (
        7,
        1e-3,
        ("ter",),
    )


def test_a_mistake_in_the_file_is_not_put_on_the_command_line(tmp_path: Path) -> None:
    assert message(tmp_path, "model:\n  tie_embeddings: all\n", "train.seed=2").startswith(
        "base.yaml:2: "
    )


def test_a_section_whose_lines_are_all_comments_is_an_empty_one(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("data:\n  # path: x\nprepare:\n")
    assert load_config(file, ["data.path=y"]).data.path == "y"


def test_what_is_dumped_is_read_back_unchanged(tmp_path: Path) -> None:
    config = load_config(
        None, ["train.peak_lr=3e-4", "data.corpora=[{tsv: x.tsv, weight: 2}]", "tgt.tokenizer=char"]
    )
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(dump(config)))
    assert load_config(file) == config


def test_a_configuration_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Config().train.updates = 3  # type: ignore[misc]


@given(st.text())
def test_any_file_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "c.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        config = load_config(file)
    except ConfigError:
        return
    assert isinstance(config, Config)

"""The files in configs/: reference.yaml is the schema in YAML, and the others load and make models."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
import yaml
from pydantic import BaseModel

from nmt.commands.translate import OutputFormat
from nmt.config.kinds import TokenizerName
from nmt.config.load import dump, load_config
from nmt.config.schema import Config, CorpusConfig
from nmt.model.transformer import Transformer
from nmt.text.tokenizers import TOKENIZERS
from nmt.train.start.initialise import initialise
from nmt.translate.formats import FORMATS

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
REFERENCE = CONFIGS / "reference.yaml"
EVERY = sorted(CONFIGS.rglob("*.yaml"))
TINY = ("d_model=16", "heads=2", "d_ff=32", "encoder_layers=1", "decoder_layers=1", "max_length=16")


def schema_keys(section: type[BaseModel], prefix: str = "") -> list[str]:
    """`section.key` for every setting, in the schema's order; a corpus is one setting."""
    keys: list[str] = []
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys += schema_keys(kind, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys


def written_keys(values: dict[str, Any], prefix: str = "") -> list[str]:
    keys: list[str] = []
    for name, value in values.items():
        keys += (
            written_keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name]
        )
    return keys


def test_reference_names_every_setting_in_the_order_of_the_schema() -> None:
    assert written_keys(yaml.safe_load(REFERENCE.read_text(encoding="utf-8"))) == schema_keys(
        Config
    )


def test_reference_gives_the_defaults() -> None:
    assert dump(load_config(REFERENCE)) == dump(Config())


def test_every_line_of_the_reference_says_what_it_means() -> None:
    lines = REFERENCE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not re.search(r"(^|\s)# \S.{4}", line)] == []


def test_reference_explains_every_field_of_a_corpus() -> None:
    lines = re.findall(
        r"^# +(?:- )?(\w+): \S+ +# \S", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(lines) == set(CorpusConfig.model_fields)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_config_loads_and_makes_a_model_that_runs(path: Path) -> None:
    config = load_config(path, [f"model.{setting}" for setting in TINY])
    model = Transformer(config.model, 11, 11 if config.shared_vocab else 13).eval()
    initialise(model)
    logits = model(torch.tensor([[4, 5, 3]]), torch.tensor([[2, 6]]))
    assert logits.shape == (1, 2, 11 if config.shared_vocab else 13)
    assert bool(torch.isfinite(logits).all())


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_config_is_valid_in_its_own_shape(path: Path) -> None:
    config = load_config(path)
    assert Config.model_validate(dump(config)) == config


@pytest.mark.parametrize(
    "path",
    [path for path in EVERY if path != REFERENCE],
    ids=lambda path: path.stem,
)
def test_a_config_writes_to_a_folder_of_its_own_name(path: Path) -> None:
    assert load_config(path).run_dir == f"runs/{path.stem}"


def test_every_choice_that_a_setting_names_exists_and_no_other() -> None:
    assert set(get_args(TokenizerName)) == {*TOKENIZERS, "sentencepiece"}
    assert set(get_args(get_args(OutputFormat)[0])) == set(FORMATS)

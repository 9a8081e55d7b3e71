"""What is said of configurations that do not fit."""

from pathlib import Path

import pytest
import torch

from nmt.config.load import load_config
from nmt.config.schema import TrainConfig
from nmt.model.transformer import Transformer
from nmt.train.advice import too_large, too_slow
from nmt.train.progress import Progress

CONFIGS = Path(__file__).parents[2] / "configs"
PATHS = {path.stem: path for path in CONFIGS.rglob("*.yaml")}
CPU = torch.device("cpu")
NEW = TrainConfig()
# Pairs that each configuration says it is made for.
MADE_FOR = {
    "toy": 4_722,
    "tatoeba": 29_000,
    "base": 500_000,
    "subword": 500_000,
    "big": 20_000_000,
    "vaswani2017": 4_500_000,
    "box": 1_300_000,
}
# It explains settings.
WITHOUT_MODEL = {"reference"}


def parameters_of(name: str) -> int:
    config = load_config(PATHS[name])
    with torch.device("meta"):
        model = Transformer(config.model, config.src.vocab_size, config.tgt.vocab_size)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", MADE_FOR)
def test_a_configuration_on_what_it_is_made_for_is_no_ones_concern(name: str) -> None:
    assert too_large(NEW, parameters_of(name), MADE_FOR[name]) is None


def test_every_configuration_for_training_is_asked_about() -> None:
    assert PATHS.keys() == {*MADE_FOR, *WITHOUT_MODEL}


def test_the_base_model_on_two_thousand_pairs_is_advised_against() -> None:
    said = too_large(NEW, 46_000_000, 2000)
    assert said is not None
    assert said.startswith("46,000,000 parameters are more than 2,000 pairs can teach")
    assert "configs/toy.yaml" in said
    assert "configs/tatoeba.yaml" in (too_large(NEW, parameters_of("base"), 40_000) or "")


def test_the_size_of_a_model_that_is_trained_on_cannot_be_chosen() -> None:
    train = TrainConfig(start_from="pretrained")
    assert too_large(train, 46_000_000, 2000) is None


def progress(update: int, seconds: float) -> Progress:
    return Progress(update=update, seconds=seconds)


def test_a_month_on_a_cpu_is_advised_against_once_the_pace_is_known() -> None:
    train = TrainConfig(updates=100_000)
    begun = progress(10, 999)
    assert too_slow(train, progress(12, 999 + 70), begun, CPU) is None, "two updates tell little"
    assert too_slow(train, progress(15, 999 + 20), begun, CPU) is None, "nor do twenty seconds"
    said = too_slow(train, progress(13, 999 + 90), begun, CPU)
    assert said is not None
    assert "the updates left take 35 days on this CPU" in said  # 100,000 of 30 s


@pytest.mark.parametrize(
    ("train", "device"),
    [
        (TrainConfig(updates=100_000, max_minutes=60), CPU),
        (TrainConfig(updates=100_000), torch.device("cuda")),
        (TrainConfig(updates=8000), CPU),
    ],
)
def test_a_training_that_ends_in_time_or_is_on_a_gpu_is_no_ones_concern(
    train: TrainConfig, device: torch.device
) -> None:
    assert too_slow(train, progress(3, 90), Progress(), device) is None

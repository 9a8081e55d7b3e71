"""Training against the clock: both kinds are scored alike, by what they computed. Trials are paid for in CPU time."""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import TINY, tiny_config

from nmt.model.transformer import Transformer
from nmt.run.checkpoint import copy_weights
from nmt.train.update import UpdateResult

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPTS / name, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_weights_of_the_plain_loop_compute_the_same_in_nmt(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from bench.plain import PlainModel, as_weights

    config = tiny_config(corpus, tmp_path, "model.encoder_layers=2")
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, of nested tensors
        plain = PlainModel(config, 19, 23).eval()
    ours = Transformer(config.model, 19, 23).eval()
    with torch.inference_mode():
        for parameter in plain.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        copy_weights(ours, as_weights(plain))
        src, tgt = torch.randint(4, 19, (3, 7)), torch.randint(4, 23, (3, 5))
        torch.testing.assert_close(ours(src, tgt), plain(src, tgt), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("plain", [[], ["--plain", "--minutes", "0.05"]])
def test_the_curve_has_a_point_for_each_checkpoint(
    plain: list[str], corpus: Path, tmp_path: Path
) -> None:
    asked = ["--run", str(tmp_path / "run"), "--checkpoints", "2", "--goal", "0", "--goal", "101"]
    done = script("speedrun.py", *asked, *plain, f"data.path={corpus}", *TINY)
    assert done.returncode == 0, done.stderr
    heading, *points, reached, missed = done.stdout.splitlines()
    assert heading.split() == ["minutes", "updates", "BLEU", "averaged"]
    assert len(points) == 2
    assert reached == f"BLEU 0.0: after {points[0].split()[0]} minutes"
    assert missed == "BLEU 101.0: not reached"


def test_an_ensemble_is_scored_each_time_that_it_grows(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from bench import race

    trained = []
    monkeypatch.setattr(race, "nmt_race", lambda config, _: trained.append(config))
    monkeypatch.setattr(race, "_seconds", lambda run: {10: 60.0 * int(run.path.name), 5: 1.0})
    monkeypatch.setattr(
        race, "_bleu_of_models", lambda models: [int(run.path.name) for _, run in models]
    )
    config = tiny_config(corpus, tmp_path, "train.seed=7")
    assert list(race.ensemble_race(config, 2, 3)) == [
        (1.0, 1, [1], [1]),
        (3.0, 2, [2], [1, 2]),
        (6.0, 3, [3], [1, 2, 3]),
    ]
    assert [each.train.seed for each in trained] == [7, 8, 9]
    assert [each.run_dir for each in trained] == [str(tmp_path / name) for name in "123"]


@pytest.mark.slow
def test_the_curve_of_an_ensemble_has_a_point_for_each_model(corpus: Path, tmp_path: Path) -> None:
    asked = ["--run", str(tmp_path / "run"), "--checkpoints", "2", "--models", "2", "--goal", "0"]
    done = script("speedrun.py", *asked, f"data.path={corpus}", *TINY)
    assert done.returncode == 0, done.stderr
    heading, first, second, _reached = map(str.split, done.stdout.splitlines())
    assert heading == ["minutes", "models", "BLEU", "ensemble"]
    assert first[1] == "1"
    assert first[2] == first[3]
    assert second[1] == "2"


def test_checkpoints_that_do_not_divide_the_updates_are_refused(
    corpus: Path, tmp_path: Path
) -> None:
    asked = ["--run", str(tmp_path / "run"), "--checkpoints", "3"]
    done = script("speedrun.py", *asked, f"data.path={corpus}", *TINY)
    assert done.returncode == 1
    assert done.stderr == "speedrun: train.updates=20 is not a multiple of --checkpoints 3\n"


def test_the_rate_of_a_trial_follows_the_time(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from bench import trial

    class Clock:
        """A core on which everything takes a second: making the model, an update, a look at dev."""

        seconds = 0.0

        def process_time(self) -> float:
            return self.seconds

    clock = Clock()
    rates = []

    class Noted(trial.TimedUpdater):
        def apply(self, *arguments: Any) -> UpdateResult:
            clock.seconds += 1
            updated = super().apply(*arguments)
            rates.extend(group["lr"] for group in self.optimizers[0].param_groups)
            return updated

    monkeypatch.setattr(trial, "time", clock)
    monkeypatch.setattr(trial, "TimedUpdater", Noted)
    schedule = ["train.schedule=wsd", "train.updates=8", "train.warmup=0", "train.cooldown=4"]
    config = tiny_config(corpus, tmp_path, *schedule, "train.peak_lr=1")
    outcome = trial.Trial(config, minutes=16 / 60).train()
    assert [look.updates for look in outcome.looks] == [4, 8, 12, 16]
    assert [look.minutes * 60 for look in outcome.looks] == [4, 8, 12, 16]
    assert outcome.looks[-1].loss == outcome.scores["loss"]
    assert rates[:9] == [1] * 9
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[-1] < 0.1


@pytest.mark.slow
def test_a_trial_tells_its_curve(corpus: Path, tmp_path: Path) -> None:
    asked = ["--run", tmp_path / "run", "--minutes", "0.05", "--json", tmp_path / "curve.json"]
    done = script("trial.py", *asked, f"data.path={corpus}", *TINY)
    assert done.returncode == 0, done.stderr
    heading, *looks, scores = done.stdout.splitlines()
    assert heading.split() == ["CPU", "minutes", "updates", "target", "tokens", "loss"]
    curve = json.loads((tmp_path / "curve.json").read_text())
    assert [row.split()[-1] for row in looks] == [f"{look['loss']:.3f}" for look in curve["looks"]]
    assert scores.startswith(f"dev: loss {curve['scores']['loss']:.2f}  bleu ")

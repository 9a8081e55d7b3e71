"""A cooldown that has pairs of its own."""

from pathlib import Path

import pytest
from conftest import TINY, counting_pairs, ready
from in_process import CPU, assert_bit_identical, stop_at, weights_at

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.reading.pairs import SentencePair
from nmt.errors import ConfigError, Interrupted, ModelError
from nmt.files import read_json, write_json
from nmt.run.folder import RunDir
from nmt.train.data.cooldown import cooldown_pairs
from nmt.train.loop import Trainer

COURSE = ["train.schedule=wsd", "train.updates=20", "train.cooldown=8", "train.batch_tokens=200"]
COURSE += ["train.validate_every=20", "train.save_every=20", "train.average=0"]


def written(folder: Path, name: str, pairs: list[SentencePair]) -> str:
    path = folder / f"{name}.tsv"
    path.write_text("".join(f"{src}\t{tgt}\n" for src, tgt in pairs), encoding="utf-8")
    return str(path)


def corpora(folder: Path, *cools: bool) -> str:
    """Corpora of other pairs, and whether the cooldown has each."""
    every = [SentencePair(*pair) for pair in counting_pairs(600, seed=3)]
    fields = []
    for number, cool in enumerate(cools):
        path = written(folder, f"c{number}", every[number :: len(cools)])
        fields.append(f"{{name: c{number}, tsv: '{path}', cooldown: {str(cool).lower()}}}")
    return f"data.corpora=[{', '.join(fields)}]"


def config(folder: Path, *settings: str) -> Config:
    return load_config(None, [*TINY, f"run_dir={folder / 'run'}", *COURSE, *settings])


def sources_of_updates(trainer: Trainer) -> list[set[str]]:
    """The source sentences of each update, as text."""
    updates: list[set[str]] = []
    start = trainer.updater.start

    def note(update: int, batches: object, tokens: int) -> object:
        rows = [row for batch in batches for row in batch.src.tolist()]  # type: ignore[attr-defined]
        updates.append({trainer.src.decode([i for i in row if i > 3]) for row in rows})
        return start(update, batches, tokens)  # type: ignore[arg-type]

    trainer.updater.start = note  # type: ignore[method-assign,assignment]
    trainer.train()
    return updates


def test_its_updates_have_only_the_corpora_that_it_has(tmp_path: Path) -> None:
    settings = config(tmp_path, corpora(tmp_path, False, True, False))
    run = ready(settings)
    updates = sources_of_updates(Trainer(settings, run, CPU))
    assert len(updates) == 20
    text = run.text("train", "en").read_text(encoding="utf-8").splitlines()
    counts = [entry["pairs"] for entry in read_json(run.prepare_report)["corpora"]]
    assert sum(counts) == len(text)
    good = set(text[counts[0] : counts[0] + counts[1]])
    assert all(sources <= good for sources in updates[12:])
    assert not any(sources <= good for sources in updates[:12])


def test_stopped_anywhere_it_goes_on_as_a_straight_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config(tmp_path, corpora(tmp_path, False, True))
    run = ready(settings)
    Trainer(settings, run, CPU).train()
    straight = weights_at(run, 20)
    for stop in (11, 12, 13, 17):
        again = config(tmp_path / str(stop), corpora(tmp_path, False, True))
        its_run = ready(again)
        with monkeypatch.context() as patch:
            stop_at(stop, patch)
            with pytest.raises(Interrupted):
                Trainer(again, its_run, CPU).train()
        Trainer(again, its_run, CPU).train()
        assert_bit_identical(weights_at(its_run, 20), straight)


def test_a_training_that_is_prolonged_takes_all_corpora_again(tmp_path: Path) -> None:
    settings = config(tmp_path, corpora(tmp_path, False, True), "train.cooldown=null")
    trainer = Trainer(settings, ready(settings), CPU)
    trainer.train()
    assert trainer.progress.position.cooldown
    longer = config(
        tmp_path, corpora(tmp_path, False, True), "train.cooldown=null", "train.updates=40"
    )
    trainer = Trainer(longer, ready(longer), CPU)
    seen = sources_of_updates(trainer)
    text = RunDir(tmp_path / "run").text("train", "en").read_text(encoding="utf-8").splitlines()
    counts = [entry["pairs"] for entry in read_json(trainer.run.prepare_report)["corpora"]]
    good = set(text[counts[0] :])
    assert [sources <= good for sources in seen] == [False] * 12 + [True] * 8


def test_a_report_of_other_pairs_is_refused(tmp_path: Path) -> None:
    settings = config(tmp_path, corpora(tmp_path, False, True))
    run = ready(settings)
    report = read_json(run.prepare_report)
    report["corpora"][0]["pairs"] += 1
    write_json(run.prepare_report, report)
    with pytest.raises(ModelError, match="does not count the pairs of the train split; run nmt"):
        cooldown_pairs(settings, run, report["train"]["pairs"])


@pytest.mark.parametrize(
    ("cools", "setting", "message"),
    [
        ((False, True), "train.schedule=cosine", "needs train.schedule=wsd"),
        ((False, False), "train.schedule=wsd", "all of data.corpora have cooldown: false"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    cools: tuple[bool, ...], setting: str, message: str, tmp_path: Path
) -> None:
    others = [setting] if "wsd" in setting else [setting, "train.cooldown=null"]
    with pytest.raises(ConfigError, match=message):
        config(tmp_path, corpora(tmp_path, *cools), *others)

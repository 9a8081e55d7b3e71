"""What can go wrong in the arithmetic and in the data, and how training ends or goes on.

That a gradient which is not finite changes nothing stands in tests/train/test_trainer.py.
"""

import resource
import shutil
from pathlib import Path

import pytest
import torch
from conftest import ready, tiny_config, train
from trainings import settings
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.config.schema import Config
from nmt.errors import UserError
from nmt.model.batch import Batch, collate
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train import health, loop
from nmt.train.data.batching import Position
from nmt.train.distributed import World
from nmt.train.loop import Trainer
from nmt.train.loss import computed_logits

CPU = World(0, 1, torch.device("cpu"))


def nmt_train(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["train", *arguments])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # runs/latest goes there


# --- gradients and losses ---


@pytest.mark.parametrize(
    ("rate", "every", "told"),
    [("1e30", 1, "5 gradients in a row, up to update"), ("30", 20, "the loss has diverged: ")],
)
def test_a_training_that_fails_names_its_last_good_checkpoint_and_goes_on_from_it(
    rate: str,
    every: int,
    told: str,
    corpus: Path,
    tmp_path: Path,
    trained_20: RunDir,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "_MOST_FAR", 30)  # updates: tests/train/test_health.py has all 300
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    common = settings(
        corpus, run.path, f"train.save_every={every}", "train.validate_every=60", "train.average=0"
    )
    failed = nmt_train(*common, "train.updates=1000", f"train.peak_lr={rate}")
    assert failed.exit_code == 1
    last = failed.stderr.splitlines()[-1]
    assert last.startswith(f"nmt: {told}")
    good = run.steps()[-1]
    assert f"the last good checkpoint is {good}; lower train.peak_lr" in last
    assert 20 <= int(good.name.removeprefix("step-")) <= 25
    mended = nmt_train(*common, "train.updates=30")
    assert mended.exit_code == 0, mended.output
    assert f"resuming after update {int(good.name.removeprefix('step-'))}\n" in mended.stderr


def test_a_training_that_fails_from_the_start_says_so_and_leaves_no_checkpoint(
    corpus: Path, tmp_path: Path
) -> None:
    failed = nmt_train(
        *settings(corpus, tmp_path / "run", "train.peak_lr=1e30", "train.save_every=1")
    )
    assert failed.exit_code == 1
    good = RunDir(tmp_path / "run").steps()
    assert len(good) <= 1  # what the first update began with was sound
    assert ("there is no good checkpoint yet" in failed.stderr) != bool(good)


# --- memory ---


def some_trainer(config: Config) -> tuple[Trainer, list[Batch], int]:
    """A trainer with the batches of an update, those of the fewest pairs first."""
    trainer = Trainer(config, ready(config), CPU)
    group = next(trainer.loader.groups(Position()))
    return trainer, sorted(group.batches, key=lambda batch: len(batch.src)), group.tokens


def gradients(
    trainer: Trainer, batches: list[Batch], tokens: int
) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss and the gradients of an update."""
    seen: dict[str, torch.Tensor] = {}
    named = list(trainer.model.named_parameters())
    handle = trainer.updater.optimizers[0].register_step_pre_hook(
        lambda *_: seen.update({name: p.grad.clone() for name, p in named if p.grad is not None})
    )
    loss = trainer.updater.apply(1, batches, tokens).loss
    handle.remove()
    return loss, seen


NO_MEMORY = (
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: "
    "you tried to allocate 123 bytes. Error code 12 (Cannot allocate memory)"
)


def limit(pairs: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """No memory for batches of more pairs; gives the sizes of the batches that fitted."""
    fitted: list[int] = []

    def limited(model: Transformer, batch: Batch) -> torch.Tensor:
        if len(batch.src) > pairs:
            raise RuntimeError(NO_MEMORY)
        fitted.append(len(batch.src))
        return computed_logits(model, batch)

    monkeypatch.setattr("nmt.train.padded_update.computed_logits", limited)
    return fitted


def test_a_batch_too_large_for_the_memory_is_split_and_gives_the_same_gradient(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(
        corpus, tmp_path / "run", "train.accumulate=4", "train.label_smoothing=0.1"
    )
    loss, whole = gradients(*some_trainer(config))
    trainer, batches, tokens = some_trainer(config)
    fewest, most = len(batches[0].src), len(batches[-1].src)
    fitted = limit(
        fewest, monkeypatch
    )  # some of the gradient is there when there is no memory for the rest
    split_loss, split = gradients(trainer, batches, tokens)
    assert split_loss == pytest.approx(loss, rel=1e-6)
    assert split.keys() == whole.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(split[name], gradient, rtol=1e-4, atol=1e-6)
    assert max(fitted) == fewest < most


def test_who_resumes_with_more_memory_computes_whole_batches_again(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "model.dropout=0.1")
    with monkeypatch.context() as patch:
        fitted = limit(9, patch)
        train(config.model_copy(update={"train": config.train.model_copy(update={"updates": 10})}))
        assert max(fitted) <= 9
    said = capsys.readouterr().err
    assert "did not fit in memory; larger batches are split at" in said
    fitted = limit(10**6, monkeypatch)  # all the memory that it wants
    train(config)
    assert "did not fit in memory" not in capsys.readouterr().err
    assert max(fitted) > 9


def test_an_optimizer_that_does_not_fit_in_memory_is_one_line_and_leaves_no_checkpoint(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(torch.optim.AdamW, "step", no_memory)
    failed = nmt_train(*settings(corpus, tmp_path / "run", "train.save_every=1"))
    assert failed.exit_code == 1
    last = failed.stderr.splitlines()[-1]
    assert last.startswith(
        "nmt: the optimizer's state does not fit in memory; take a smaller model"
    )
    assert RunDir(tmp_path / "run").steps() == []


def test_a_model_that_does_not_fit_in_memory_is_one_line(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object, **__: object) -> None:
        raise RuntimeError(NO_MEMORY)

    monkeypatch.setattr(loop, "Transformer", no_memory)
    failed = nmt_train(*settings(corpus, tmp_path / "run"))
    assert failed.exit_code == 1
    last = failed.stderr.splitlines()[-1]
    assert last == "nmt: the model does not fit in memory; make it smaller, or free some memory"


def test_a_validation_too_large_for_the_memory_is_measured_in_parts(
    trainer: Trainer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    validator = trainer.selection.validator
    scores, translations = validator.measure(trainer.model)
    capsys.readouterr()

    fitted: list[int] = []
    encode = Transformer.encode

    def limited(self: Transformer, src: torch.Tensor, *others: object) -> object:
        if len(src) > 3:
            raise RuntimeError(NO_MEMORY)
        fitted.append(len(src))
        return encode(self, src, *others)

    monkeypatch.setattr(Transformer, "encode", limited)
    scores_in_parts, same_translations = validator.measure(trainer.model)
    assert scores_in_parts == pytest.approx(scores, rel=1e-6)
    assert same_translations == translations
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert (
        "sentences did not fit in memory; this and later batches are translated in parts" in said[0]
    )
    assert "a batch of dev did not fit in memory; larger ones are measured in parts" in said[1]


def test_a_pair_of_dev_too_large_for_the_memory_is_one_line(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:

    def no_memory(*_: object) -> None:
        raise RuntimeError(NO_MEMORY)

    monkeypatch.setattr(Transformer, "encode", no_memory)
    with pytest.raises(UserError, match=r"^a single pair of \d+ tokens is too large"):
        trainer.selection.validator.loss(trainer.model)


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="how much memory there is, is asked of Linux"
)
def test_memory_that_is_really_short_is_made_do_with(corpus: Path, tmp_path: Path) -> None:
    trainer, _, _ = some_trainer(tiny_config(corpus, tmp_path / "run"))
    corpus_ids = trainer.loader.corpus
    pairs = [corpus_ids[i] for i in range(len(corpus_ids))] * 20
    large = collate([src for src, _ in pairs], [tgt for _, tgt in pairs])
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 100_000_000, before[1]))
    try:
        updated = trainer.updater.apply(1, [large], large.tokens)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert updated.applied
    assert trainer.updater.micro_batcher.most_positions is not None
    assert trainer.updater.micro_batcher.most_positions <= large.src.numel() / 2


def test_a_single_pair_too_large_for_the_memory_is_named_by_its_size(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, batches, tokens = some_trainer(tiny_config(corpus, tmp_path / "run"))
    limit(0, monkeypatch)
    with pytest.raises(
        UserError,
        match=r"a single pair of \d+ tokens is too large for the memory; lower model.max_l",
    ):
        trainer.updater.apply(1, batches, tokens)


# --- corpora ---


def write(folder: Path, **splits: list[tuple[str, str]]) -> Path:
    folder.mkdir(exist_ok=True)
    for split, pairs in splits.items():
        for side, language in ((0, "en"), (1, "zh")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
    return folder


HUGE = ("one " * 100_000, "一" * 100_000)
FEW = [("one two.", "一，二。"), ("two.", "二。"), ("one.", "一。")]


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize("tokenizer", ["char", "jieba"])
def test_a_line_of_a_hundred_thousand_tokens_is_left_out_and_counted(
    tokenizer: str, filters: bool, tmp_path: Path
) -> None:
    corpus = write(tmp_path / "corpus", train=[*FEW, HUGE, *FEW], dev=FEW[:1], test=FEW[:1])
    shape = (
        f"prepare.filters={filters}".lower(),
        f"tgt.tokenizer={tokenizer}",
        "train.updates=2",
        "train.average=0",
    )
    done = nmt_train(*settings(corpus, tmp_path / "run", *shape))
    assert done.exit_code == 0, done.output
    told = (
        "too_long 1"
        if filters
        else "1 pair is empty or longer than model.max_length and is left out"
    )
    assert told in done.stderr


@pytest.mark.parametrize("pairs", [[FEW[0]] * 50, FEW[:1]], ids=["only duplicates", "one pair"])
def test_a_corpus_that_comes_down_to_one_pair_is_trained_on(
    pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    corpus = write(tmp_path / "corpus", train=pairs)
    done = nmt_train(*settings(corpus, tmp_path / "run"))
    assert done.exit_code == 0, done.output
    assert "train 1 pair, dev 0 pairs" in done.stderr
    assert "no validation, no early stopping; the last checkpoint counts as the best" in done.stderr
    assert (
        checkpoint.best(RunDir(tmp_path / "run"))
        == tmp_path / "run" / "checkpoints" / "step-00000020"
    )


@pytest.mark.parametrize(
    "dev",
    [[("", ""), (" ", "\t")], [("one " * 40, "一" * 40)]],
    ids=["blank", "longer than the model"],
)
def test_a_dev_set_of_which_nothing_is_left_counts_as_empty(
    dev: list[tuple[str, str]], tmp_path: Path
) -> None:
    corpus = write(tmp_path / "corpus", train=FEW, dev=dev, test=FEW[:1])
    done = nmt_train(*settings(corpus, tmp_path / "run", "train.patience=1"))
    assert done.exit_code == 0, done.output
    assert "dev is empty, or none of its pairs fits the model: no validation" in done.stderr
    assert (
        checkpoint.best(RunDir(tmp_path / "run"))
        == tmp_path / "run" / "checkpoints" / "step-00000020"
    )

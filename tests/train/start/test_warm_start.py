"""Trainings that start from the weights of another run."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from conftest import TINY, counting_pairs, ready, run_nmt, train, write_corpus
from in_process import assert_bit_identical, stop_at, weights_at

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.errors import ConfigError, Interrupted, ModelError
from nmt.run import checkpoint
from nmt.run.checkpoint import Meta
from nmt.run.folder import SIDES, RunDir
from nmt.run.provenance import Ancestor, Provenance
from nmt.run.sides import load_side
from nmt.run.start_from import load_training_config
from nmt.text.side import Side
from nmt.text.vocab import PLACEHOLDERS, UNK

PIECES = ["src.tokenizer=sentencepiece", "tgt.tokenizer=sentencepiece"]
SIZES = ["src.vocab_size=290", "tgt.vocab_size=290"]
COURSE = [setting for setting in TINY if setting.startswith(("train.", "search."))]


@pytest.fixture(scope="module", params=["words", "sentencepiece"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A run that was trained without placeholders."""
    folder = tmp_path_factory.mktemp("base")
    data = write_corpus(folder / "corpus")
    for language, rare in (("en", "Kubern zetas lion band 0123456789."), ("zh", "库bernetes。")):
        with (data / f"train.{language}").open("a", encoding="utf-8") as file:
            file.write(f"{rare}\n")  # seen once: its characters spell other words
    settings = [*TINY, "prepare.augment.masked=0", "model.bias=feed_forward"]
    if request.param == "sentencepiece":
        settings += [*PIECES, *SIZES]
    return train(load_config(None, [f"data.path={data}", f"run_dir={folder / 'run'}", *settings]))


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that counts further than the base's."""
    folder = write_corpus(tmp_path_factory.mktemp("news"), train=60)
    for language, word in (("en", "zillion and Kubernetes."), ("zh", "兆和Kubernetes。")):
        with (folder / f"train.{language}").open("a", encoding="utf-8") as file:
            file.writelines(f"{number} {word}\n" for number in range(100, 120))
    return folder


def starting(base: RunDir, news: Path, folder: Path, *more: str) -> Config:
    """The configuration of a training that starts from a run."""
    settings = [f"data.path={news}", f"run_dir={folder}", f"train.start_from={base.path}"]
    return load_training_config(None, [*settings, *COURSE, *more])


def sides(run: RunDir) -> tuple[Side, Side]:
    config = load_config(run.config)
    return load_side(config, run, "src"), load_side(config, run, "tgt")


def test_weights_vocabularies_and_shape_are_those_of_the_run(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    settings = ["prepare.augment.masked=0", "train.updates=1", "train.peak_lr=1e-12"]
    config = starting(base, news, tmp_path / "run", *settings)
    run = train(config)
    for name in SIDES:
        assert run.vocab(name).read_bytes() == base.vocab(name).read_bytes()
    assert config.model == load_config(base.config).model
    before = checkpoint.load_weights(checkpoint.best(base) or Path())
    after = weights_at(run, 1)
    assert before.keys() == after.keys()
    for key, weight in before.items():
        torch.testing.assert_close(after[key], weight, rtol=0, atol=1e-9)


def test_a_checkpoint_can_be_named(base: RunDir, news: Path, tmp_path: Path) -> None:
    first = base.steps()[0]
    assert first != checkpoint.best(base)
    settings = ["prepare.augment.masked=0", "train.updates=1", "train.peak_lr=1e-12"]
    more = [*settings, f"train.start_from={first}"]
    run = train(starting(base, news, tmp_path / "run", *more))
    key = "decoder.0.cross.q.weight"
    torch.testing.assert_close(weights_at(run, 1)[key], checkpoint.load_weights(first)[key])


def test_a_run_may_hold_nothing_but_an_average(base: RunDir, news: Path, tmp_path: Path) -> None:
    exported = RunDir(tmp_path / "exported")
    shutil.copytree(base.path, exported.path)
    for folder in exported.steps()[:-1]:
        shutil.rmtree(folder)
    average = exported.checkpoints / "average-00000001"
    exported.steps()[-1].rename(average)
    exported.best.write_text(f"{average.name}\n")
    settings = ["prepare.augment.masked=0", "train.updates=1", "train.peak_lr=1e-12"]
    run = train(starting(exported, news, tmp_path / "run", *settings))
    key = "decoder.0.cross.q.weight"
    torch.testing.assert_close(weights_at(run, 1)[key], checkpoint.load_weights(average)[key])


def test_placeholders_and_frequent_words_get_tokens_of_their_own(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    run = ready(starting(base, news, tmp_path / "run", "train.new_tokens=12"))
    for side, old, line in zip(
        sides(run), sides(base), ("7 zillion and Kubernetes.", "兆和Kubernetes。"), strict=True
    ):
        known = len(old.vocab)
        assert side.vocab.tokens[:known] == old.vocab.tokens
        added = side.vocab.tokens[known:]
        assert set(PLACEHOLDERS) <= set(added)
        assert "Kubernetes" in {token.removeprefix("▁") for token in added} or side.language == "zh"
        assert len(added) <= len(PLACEHOLDERS) + 12
        new_ids, old_ids = side.encode(line), old.encode(line)
        assert (len(new_ids), new_ids.count(UNK)) < (len(old_ids), old_ids.count(UNK))
        assert side.decode(side.encode(line)).replace(" ", "") == line.replace(" ", "")
        assert side.vocab.ids[PLACEHOLDERS[3]] in side.encode(f"one {PLACEHOLDERS[3]}")


def test_a_new_token_starts_at_the_mean_of_its_spelling(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    settings = ["train.new_tokens=12", "train.updates=1", "train.peak_lr=1e-12"]
    run = train(starting(base, news, tmp_path / "run", *settings))
    (src, _), (old, _) = sides(run), sides(base)
    token = next(t for t in src.vocab.tokens if t.removeprefix("▁") == "Kubernetes")
    key = "src_embedding.tokens.weight"
    rows = checkpoint.load_weights(checkpoint.best(base) or Path())[key]
    spelled = old.encode("Kubernetes")
    assert len(spelled) > 1
    torch.testing.assert_close(
        weights_at(run, 1)[key][src.vocab.ids[token]],
        rows[[i for i in spelled if i != UNK]].mean(0),
    )
    placeholders = weights_at(run, 1)[key][src.vocab.placeholders]
    assert len(placeholders.unique(dim=0)) == len(PLACEHOLDERS)


def test_greedy_translations_stay_as_long_as_nothing_is_trained(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    run = train(
        starting(base, news, tmp_path / "run", "train.updates=1", "train.peak_lr=1e-12")
    )  # with placeholders, which greedy search does not see
    known = (news / "dev.en").read_text(encoding="utf-8")
    greedy = ("search.method=greedy", "-q")
    outputs = [
        run_nmt("translate", "--model", each.path, *greedy, stdin=known).stdout
        for each in (base, run)
    ]
    assert outputs[0].count(b"\n") == known.count("\n")
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("part", "frozen"),
    [
        ("embeddings", ("src_embedding.", "tgt_embedding.")),
        ("encoder", ("src_embedding.", "encoder.", "encoder_norm.")),
    ],
)
def test_what_is_frozen_stays(
    base: RunDir, news: Path, tmp_path: Path, part: str, frozen: tuple[str, ...]
) -> None:
    settings = ["prepare.augment.masked=0", "train.updates=3", f"train.freeze={part}"]
    run = train(starting(base, news, tmp_path / "run", *settings))
    before = checkpoint.load_weights(checkpoint.best(base) or Path())
    for key, weight in weights_at(run, 3).items():
        assert torch.equal(weight, before[key]) == key.startswith(frozen)


def test_tokens_that_would_never_be_trained_are_refused(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"train\.freeze=embeddings would leave \d+ new tokens"):
        train(starting(base, news, tmp_path / "run", "train.freeze=embeddings"))


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("model.d_model=32", "64"),
        ("src.lowercase=true", "False"),
        ("tgt.tokenizer=jieba", r"\w+"),
        ("model.src_vectors=x.txt", "None"),
    ],
)
def test_settings_that_contradict_the_run_are_refused_by_name(
    base: RunDir, news: Path, tmp_path: Path, setting: str, found: str
) -> None:
    name, _, value = setting.partition("=")
    message = rf"^command line: {name}={value.title() if value == 'true' else value}, but .* has {found}; delete"
    with pytest.raises(ConfigError, match=message):
        starting(base, news, tmp_path / "run", setting)


def test_settings_that_agree_and_those_of_the_training_are_taken(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    config = starting(base, news, tmp_path / "run", "model.d_model=64", "model.dropout=0.3")
    assert config.model.dropout == 0.3
    assert config.model.bias == "feed_forward"


def test_a_training_can_begin_to_read_words_otherwise(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    if load_config(base.config).src.tokenizer == "sentencepiece":
        settings = ["src.recase=true", "src.detach=true", "train.updates=1"]
        run = train(starting(base, news, tmp_path / "run", *settings))
        assert load_config(run.config).src.recase
        assert load_config(run.config).src.detach


def test_a_training_resumes_when_the_run_it_started_from_is_gone(
    base: RunDir, news: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = RunDir(tmp_path / "copy")
    shutil.copytree(base.path, copy.path)
    settings = ("train.new_tokens=2", "train.updates=10")
    straight = train(starting(copy, news, tmp_path / "straight", *settings))
    config = starting(copy, news, tmp_path / "stopped", *settings)
    with monkeypatch.context() as patch:
        stop_at(7, patch)
        with pytest.raises(Interrupted):
            train(config)
    shutil.rmtree(copy.path)
    assert starting(copy, news, tmp_path / "stopped", *settings) == config
    resumed = train(config)
    assert_bit_identical(weights_at(straight, 10), weights_at(resumed, 10))
    ancestors = [
        checkpoint.read_meta(run.steps()[-1]).provenance.started_from for run in (straight, resumed)
    ]
    assert ancestors[0] is not None
    assert ancestors[0] == ancestors[1]
    assert ancestors[0].checkpoint.startswith(str(copy.path))


def test_the_licences_of_all_ancestors_are_shown(
    base: RunDir, news: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = RunDir(tmp_path / "copy")
    shutil.copytree(base.path, copy.path)
    best = checkpoint.best(copy)
    assert best is not None
    meta, weights = checkpoint.load(best)
    grandparent = Ancestor("a/step-1", 1, Provenance(licence="MPL-2.0"))
    provenance = Provenance(licence="CC-BY-4.0", started_from=grandparent)
    told = Meta(meta.update, meta.fingerprints, provenance=provenance)
    checkpoint.save(copy, best.name, weights, told)
    config = starting(copy, news, tmp_path / "run", "train.updates=1")
    train(config)
    assert "its licence binds this model too: CC-BY-4.0, MPL-2.0" in capsys.readouterr().err


def test_a_run_that_is_not_there_is_one_line(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(ModelError, match=r"train\.start_from.*not a run folder"):
        load_training_config(None, [f"train.start_from={tmp_path / 'none'}"])
    untrained = RunDir(tmp_path / "untrained")
    untrained.path.mkdir()
    untrained.config.touch()
    for name in ("untrained", "untrained/checkpoints/step-00000001"):
        with pytest.raises(
            ModelError, match=rf"{name} \(named by train\.start_from\): no checkpoint here"
        ):
            load_training_config(None, [f"train.start_from={tmp_path / name}"])
    asked = [f"data.path={corpus}", f"run_dir={tmp_path / 'run'}", "train.start_from=none"]
    done = run_nmt("train", *asked, cwd=tmp_path)
    assert done.returncode == 5
    assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_training_does_not_delete_the_run_that_it_starts_from(
    base: RunDir, news: Path, tmp_path: Path
) -> None:
    copy = RunDir(Path(shutil.copytree(base.path, tmp_path / "copy")))
    kept = copy.steps_and_averages()
    for start in (copy.path, copy.steps()[0]):
        asked = [f"data.path={news}", f"run_dir={copy.path}", f"train.start_from={start}"]
        for more in ([], ["--overwrite"]):
            done = run_nmt("train", *asked, *COURSE, *more, cwd=tmp_path)
            assert done.returncode == 2
            assert b"is in run_dir=" in done.stderr
            assert done.stderr.endswith(b"; give another run_dir\n")
    assert copy.steps_and_averages() == kept


def test_what_is_overwritten_decides_nothing(
    base: RunDir, news: Path, trained: RunDir, tmp_path: Path
) -> None:
    """The new training has the model of the run that it starts from, not of the one that it deletes."""
    old = Path(shutil.copytree(trained.path, tmp_path / "old"))
    asked = [f"data.path={news}", f"run_dir={old}", f"train.start_from={base.path}"]
    assert load_training_config(None, asked).model.bias == "all"
    assert load_training_config(None, asked, anew=True).model.bias == "feed_forward"


def test_the_example_of_the_documentation_trains(trained: RunDir, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "train-on.md").read_text("utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    console = page.partition("```console\n")[2].partition("```")[0]
    command, *printed = console.splitlines()
    config = tmp_path / "configs" / "on.yaml"
    config.parent.mkdir()
    config.write_text(example, encoding="utf-8")
    shutil.copytree(trained.path, tmp_path / "runs" / "base")
    for seed, name in enumerate(("my", "old")):
        pairs = counting_pairs(200, seed)
        text = "".join(f"{english}\t{chinese}\n" for english, chinese in pairs)
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8")
    few = ["train.updates=2", "train.precision=fp32", "train.device=cpu"]
    done = run_nmt(*command.removeprefix("$ nmt ").split(), *few, cwd=tmp_path)
    log = done.stderr.decode()
    assert done.returncode == 0, log
    best = checkpoint.best(trained)
    assert best is not None
    assert f"starting from the weights of runs/base/checkpoints/{best.name}\n" in log
    for line in printed:
        assert re.search(f"^{'.*'.join(map(re.escape, line.split('…')))}$", log, re.MULTILINE), line
    run = RunDir(tmp_path / "runs" / "mine")
    assert load_config(run.config).model == load_config(trained.config).model

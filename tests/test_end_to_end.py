"""From corpora to a score, and twice the same."""

from pathlib import Path

import pytest
from conftest import tiny_config, train

from nmt.chinese.typography import repair
from nmt.config.load import load_config
from nmt.corpus.reading.lines import read_lines
from nmt.evaluation.measurement import score
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.translate.opening import load_translator

DATA = Path(__file__).resolve().parents[1] / "data"


def test_a_model_learns_its_little_world_and_never_writes_unk(trained: RunDir) -> None:
    translator = load_translator(load_config(trained.config), trained)
    sources, references = (
        list(read_lines(trained.text("test", language))) for language in ("en", "zh")
    )
    translations = [translation.text for translation in translator.translate(sources)]
    (bleu,) = score(translations, [references], ["bleu"])
    assert bleu.value > 90
    strange = [
        t.text
        for t in translator.translate(["Zoë @ 12:30, < unk> one \U0001f600", "ONE TWO", "x" * 500])
    ]
    assert len(strange) == 3
    assert not any("<unk>" in text for text in [*translations, *strange])
    assert (
        translator.translate(["one <unk> two"])[0].text.count("<unk>") == 1
    )  # as in the source: it is a tag


@pytest.mark.parametrize("units", ["jieba", "sentencepiece"])
def test_the_same_configuration_gives_the_same_bytes(
    units: str, corpus: Path, tmp_path: Path
) -> None:
    settings = [
        f"tgt.tokenizer={units}",
        "tgt.vocab_size=300",
        "train.updates=10",
        "model.dropout=0.1",
    ]
    runs = [train(tiny_config(corpus, tmp_path / name, *settings)) for name in ("one", "two")]
    files = [
        {path.relative_to(run.path): path for path in run.path.rglob("*") if path.is_file()}
        for run in runs
    ]
    assert files[0].keys() == files[1].keys()
    for name, path in files[0].items():
        if name.name not in (
            "config.yaml",
            "written.json",
            "metrics.jsonl",
            "train.log",
            checkpoint.META,
        ):  # these tell the time or place
            assert path.read_bytes() == files[1][name].read_bytes(), name


def test_a_copied_run_translates_as_the_original(trained: RunDir, tmp_path: Path) -> None:
    import shutil

    copy = RunDir(Path(shutil.copytree(trained.path, tmp_path / "elsewhere")))
    lines = ["one two.", "nine."]
    texts = [
        [t.text for t in load_translator(load_config(run.config), run).translate(lines)]
        for run in (trained, copy)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "corpus",
    [DATA / "toy", pytest.param(DATA / "tatoeba", marks=pytest.mark.slow)],
    ids=["toy", "tatoeba"],
)
def test_real_sentences_are_prepared_and_round_trip(corpus: Path, tmp_path: Path) -> None:
    """Every Chinese sentence survives tokenizer and vocabulary, except for characters that train never showed."""
    from conftest import ready

    from nmt.run.sides import load_side
    from nmt.text.vocab import UNK

    config = load_config(
        None,
        [f"data.path={corpus}", f"run_dir={tmp_path / 'run'}", "tgt.vocab_size=9000"],
    )
    run = ready(config)
    side = load_side(config, run, "tgt")
    lines = [repair(line) for line in read_lines(run.text("test", "zh"))]  # as train is
    encoded = [side.encode(line) for line in lines]
    known = [(line, ids) for line, ids in zip(lines, encoded, strict=True) if UNK not in ids]
    assert len(known) > 0.97 * len(lines)
    assert all(side.decode(ids) == line for line, ids in known)

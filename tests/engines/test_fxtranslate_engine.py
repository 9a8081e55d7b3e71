"""The engine on fxtranslate: models that were trained here, exported for Firefox and imported again."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from conftest import tiny_config, train
from made_runs import POST, SEPARATE, SHARED, exported

from nmt.config.load import load_config
from nmt.config.schema import SearchConfig
from nmt.engines import fxtranslate as engine_module
from nmt.engines.base import EngineRequest, Phrases
from nmt.engines.choose import chosen_engine
from nmt.engines.fxtranslate import FxtranslateEngine
from nmt.errors import ConfigError, EngineError, ModelError, print_nothing
from nmt.exchange.exporters.firefox_folder import MODEL
from nmt.exchange.importers.importing import import_run
from nmt.run.folder import RunDir
from nmt.run.sides import load_side
from nmt.run.trained import TrainedRun
from nmt.search.hypotheses import Hypothesis, NBest
from nmt.translate.opening import open_translator

fxtranslate = pytest.importorskip("fxtranslate")

COURSE = (
    "model.decoder=ssru",
    "model.output_bias=true",
    "train.seed=4",
    "train.updates=600",
    "train.validate_every=600",
    "train.save_every=600",
    "train.average=0",
)
KINDS = {
    "joint": (*SHARED, "model.tie_embeddings=all"),
    "split": (*SEPARATE, "model.tie_embeddings=target"),
}


class Models(NamedTuple):
    """A run, what it was exported as, and the run that this was imported as."""

    run: RunDir
    folder: Path
    imported: RunDir


def models_of(kind: str, corpus: Path, place: Path) -> Models:
    """A run that has learned to count, exported, and imported."""
    run = train(tiny_config(corpus, place / "run", *KINDS[kind], *POST, *COURSE))
    folder = exported("firefox", run, place / "exported")
    imported = import_run(str(folder), place / "imported", None, None, print_nothing)
    return Models(run, folder, imported)


@pytest.fixture(scope="module")
def models(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Models:
    """With two vocabularies, as Mozilla's into Chinese."""
    return models_of("split", corpus, tmp_path_factory.mktemp("split"))


@pytest.fixture(scope="module")
def lines(corpus: Path) -> list[str]:
    return [
        line
        for split in ("dev", "test", "train")
        for line in (corpus / f"{split}.en").read_text(encoding="utf-8").splitlines()
    ][:200]


def translated(run: RunDir, engine: str, lines: list[str], *settings: str) -> list[str]:
    """What `nmt translate` writes with an engine, without repairs of typography."""
    config = load_config(run.config, ["search.beam_size=1", "search.typography=off", *settings])
    request = EngineRequest(engine, "cpu", "fp32" if engine == "torch" else "auto")
    translator = open_translator(config, run, request, print, print_nothing)
    assert translator.engine.name.startswith("fxtranslate" if engine == "auto" else engine)
    return [each.text for each in translator.translate(lines)]


@pytest.mark.parametrize("kind", ["split", pytest.param("joint", marks=pytest.mark.slow)])
def test_all_write_the_same(
    kind: str, models: Models, lines: list[str], corpus: Path, tmp_path: Path
) -> None:
    models = models if kind == "split" else models_of(kind, corpus, tmp_path)
    ours = translated(models.run, "torch", lines)
    assert len(set(ours)) > len(lines) // 2
    files = sorted(models.folder.glob("*.spm"))  # src before trg, or one for both
    pieces = [path.read_bytes() for path in (files[0], files[-1])]
    library = fxtranslate.Translator((models.folder / MODEL).read_bytes(), *pieces)
    for theirs in (
        [library.translate(line) for line in lines],
        translated(models.imported, "torch", lines),
        translated(models.imported, "auto", lines),
    ):
        other = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
        assert len(other) <= 0.05 * len(lines), other  # int8 decides otherwise where two are near


def test_the_command_needs_no_torch(models: Models, lines: list[str]) -> None:
    tells_imports = [sys.executable, "-X", "importtime", "-m", "nmt", "translate", "--model"]
    done = subprocess.run(
        [*tells_imports, str(models.imported.path)],
        input="\n".join(lines[:20]),
        env={**os.environ, "NMT_ENGINE": "auto"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "fxtranslate int8 on cpu" in done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"numpy", "fxtranslate"} <= imported
    assert "torch" not in imported
    ours = translated(models.imported, "auto", lines[:20], "search.typography=keep")
    assert done.stdout.splitlines() == ours


# --- which engine ---


@pytest.mark.parametrize(
    ("asked", "settings", "engine"),
    [
        (EngineRequest(), [], "fxtranslate"),
        (EngineRequest(precision="int8"), [], "fxtranslate"),
        (EngineRequest(), ["search.glossary=[terms.tsv]"], "fxtranslate"),
        (EngineRequest(device="cuda"), [], "torch"),
        (EngineRequest(precision="bf16"), [], "torch"),
        (EngineRequest(scores=True), [], "torch"),
        (EngineRequest(), ["search.beam_size=5"], "torch"),
        (EngineRequest(), ["search.method=sample"], "torch"),
        (EngineRequest(), ["search.no_repeat_ngram=3"], "torch"),
        (EngineRequest(), ["search.memory=pairs.tsv"], "torch"),
    ],
)
def test_the_engine_of_choice(
    asked: EngineRequest, settings: list[str], engine: str, models: Models
) -> None:
    config = load_config(models.imported.config, settings)
    assert chosen_engine(config, asked, models.imported) == engine
    if engine == "torch":
        with pytest.raises(
            ConfigError, match=r"^--engine fxtranslate does not go with .*: it .*; leave it out$"
        ):
            chosen_engine(config, asked._replace(engine="fxtranslate"), models.imported)


def test_other_models_are_not_for_it(models: Models) -> None:
    config = load_config(models.run.config, ["search.beam_size=1"])
    assert chosen_engine(config, EngineRequest(), models.run) == "torch"
    with pytest.raises(ConfigError, match="does not go with this model: it runs what nmt import"):
        chosen_engine(config, EngineRequest("fxtranslate"), models.run)
    others = (TrainedRun(config, models.run),)
    asked = EngineRequest("fxtranslate", others=others)
    with pytest.raises(ConfigError, match="--engine fxtranslate does not go with --ensemble: it"):
        chosen_engine(load_config(models.imported.config), asked, models.imported)


def test_without_the_library_torch_translates(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.engines.choose.find_spec", lambda _: None)
    config = load_config(models.imported.config)
    assert chosen_engine(config, EngineRequest(), models.imported) == "torch"


def test_a_damaged_model_is_refused(models: Models, tmp_path: Path) -> None:
    export = exported("nmt", models.imported, tmp_path / "copy")  # which takes the file along
    copy = RunDir(export)
    content = copy.firefox.read_bytes()
    for damaged, message in (
        (content[:-300], "not a whole .bin of Marian's"),
        (
            content.replace(b"encoder_l1_ffn_W1\0", b"encoder_l1_ffn_W3\0"),
            "no encoder_l1_ffn_W1 as",
        ),
        (content.replace(b"special:model.yml", b"special:model.yaa"), "no special:model.yml as"),
    ):
        copy.firefox.write_bytes(damaged)
        with pytest.raises(ModelError, match=message):
            open_translator(load_config(copy.config), copy, EngineRequest(), print, print_nothing)


# --- what the library cannot do ---


class OnTorch:
    """Stands in for the engine on torch."""

    def decode(
        self, sources: Sequence[list[int]], _search: SearchConfig, phrases: Sequence[Phrases] = ()
    ) -> list[NBest]:
        assert all(phrases)
        return [[Hypothesis([7], -1.0, -1.0)] for _ in sources]


def engine_of(run: RunDir, monkeypatch: pytest.MonkeyPatch, library: object) -> FxtranslateEngine:
    monkeypatch.setattr(engine_module, "load_fxtranslate", lambda: library)
    config = load_config(run.config)
    sides = [load_side(config, run, "src"), load_side(config, run, "tgt")]
    return FxtranslateEngine(run, config.model, *sides, OnTorch)  # type: ignore[arg-type]


def writing(text: str) -> object:
    """A library that always writes this."""
    return SimpleNamespace(Translator=lambda *_: SimpleNamespace(translate=lambda _: text))


def test_torch_writes_what_has_to_be_in_a_translation(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of(models.imported, monkeypatch, writing("二"))
    search = load_config(models.imported.config).search
    source = engine.src.encode("two six.")
    found = engine.decode([source, source, source], search, [(), ([7],), ()])
    texts = [engine.tgt.decode(each[0].ids) for each in found]
    assert texts[0] == texts[2] == "二"
    assert found[1][0] == Hypothesis([7], -1.0, -1.0)


def test_pieces_of_bytes_are_characters(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(models.imported, monkeypatch, writing("二<0xE4><0xBD><0xA0>，<0xE4>"))
    search = load_config(models.imported.config).search
    (found,) = engine.decode([engine.src.encode("two six.")], search)
    assert engine.tgt.decode(found[0].ids) == "二你，\ufffd"


class PanicException(BaseException):
    """As pyo3 has it."""


def failing(error: BaseException) -> object:
    def fail(*_: object) -> None:
        raise error

    return SimpleNamespace(Translator=lambda *_: SimpleNamespace(translate=fail))


def test_where_it_gives_up_that_is_an_error_in_a_line(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = load_config(models.imported.config).search
    for error in (PanicException("no row"), ValueError("no row")):
        engine = engine_of(models.imported, monkeypatch, failing(error))
        with pytest.raises(EngineError, match=r"cannot translate this \(no row\); use --engine"):
            engine.decode([engine.src.encode("two.")], search)
    engine = engine_of(models.imported, monkeypatch, failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        engine.decode([engine.src.encode("two.")], search)

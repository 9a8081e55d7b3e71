"""The translator of a trained run, or of several."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from nmt.config.schema import Config
from nmt.engines.base import Engine, EngineRequest
from nmt.engines.choose import chosen_engine, open_ctranslate2, open_fxtranslate
from nmt.errors import ConfigError, EngineError, Say, print_nothing
from nmt.run.folder import RunDir
from nmt.run.trained import TrainedRun
from nmt.terms.reading import read_glossaries
from nmt.translate.translator import Translator


def open_translator(
    config: Config, run: RunDir, asked: EngineRequest, warn: Say, say: Say
) -> Translator:
    """The translator of a run; `say` gets a line about what computes, and where.

    Raises ConfigError for what the engine cannot do, ModelError if there is no model, or not one for it. Where the
    user leaves the choice to nmt and the engine of choice cannot be used, `warn` gets a line, and torch translates.
    """
    in_torch = partial(load_translator, config, run, asked.device, "auto", warn, print_nothing)
    chosen = chosen_engine(config, asked, run)
    try:
        if chosen == "fxtranslate":
            engine, checkpoint = open_fxtranslate(config, run, lambda: in_torch().engine, say)
            engine.helpers = engine.helpers if asked.helpers else 0
            return _translator(config, engine, (checkpoint,))
        if chosen == "ctranslate2":
            converted, checkpoint = open_ctranslate2(config, run, asked, warn, say)
            return _translator(config, converted, (checkpoint,))
    except EngineError as error:
        if asked.engine != "auto":
            raise
        warn(f"{error}; torch translates now")
    if asked.precision == "int8":
        raise ConfigError("--precision int8 needs --engine ctranslate2 or fxtranslate")
    translator = load_translator(
        config, run, asked.device, asked.precision, warn, say, asked.others
    )
    if not asked.helpers:
        translator.engine.helpers = 0
    return translator


def load_translator(
    config: Config,
    run: RunDir,
    device: str = "auto",
    precision: str = "auto",
    warn: Say = print_nothing,
    say: Say = print_nothing,
    others: Sequence[TrainedRun] = (),
) -> Translator:
    """The translator of a run's best checkpoint; if that is damaged, of the last whole one, with a warning.

    A checkpoint that `run` itself names is taken, or none. With `others` it is an ensemble: their models decide
    together with the run's, whose configuration holds. `say` gets a line about what is used. Raises ModelError
    if there is no checkpoint, or if one does not belong to the run's vocabularies.
    """
    from nmt.engines.load import load_decoder, load_memory

    asked = EngineRequest("torch", device, precision, tuple(others))
    decoder, checkpoints = load_decoder(config, run, asked, warn, say)
    if config.search.memory is not None:
        decoder.remember(load_memory(Path(config.search.memory), decoder, say))
    return _translator(config, decoder, checkpoints)


def _translator(config: Config, engine: Engine, checkpoints: tuple[Path, ...]) -> Translator:
    glossary = None
    if config.search.glossary:
        glossary = read_glossaries(map(Path, config.search.glossary))
    translator = Translator(engine, config.search, config.prepare.augment, glossary)
    translator.checkpoints = checkpoints
    return translator

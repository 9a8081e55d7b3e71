"""Which engine translates a run: torch, CTranslate2, or fxtranslate."""

import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from nmt.config.schema import Config
from nmt.engines.base import EngineName, EngineRequest
from nmt.errors import ConfigError, Say
from nmt.machine.cpu import has_amx
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.sides import load_side

if TYPE_CHECKING:
    from nmt.engines.base import Engine
    from nmt.engines.ctranslate2 import CTranslate2Engine
    from nmt.engines.fxtranslate import FxtranslateEngine

# NVIDIA's, and Windows' in WSL2, as in scripts/setup.sh.
_DRIVERS = ("/proc/driver/nvidia/version", "/dev/dxg")
_NUMBERS: dict[str, Literal["int8", "float32"]] = {
    "auto": "int8",
    "int8": "int8",
    "fp32": "float32",
}


class _Beyond(NamedTuple):
    """What an engine cannot do, and why."""

    what: str
    why: str


def default_engine() -> EngineName:
    """The engine of those who name none: that of $NMT_ENGINE, or else `auto`. `chosen_engine` checks it."""
    return cast(EngineName, os.environ.get("NMT_ENGINE") or "auto")


def chosen_engine(config: Config, asked: EngineRequest, run: RunDir | None = None) -> EngineName:
    """The engine that translates: the one that is asked for, or the fastest that can do what is asked.

    Without `run`, it is one of those that any model can have. Raises ConfigError for an engine that is not known, or
    is asked for what it cannot do.
    """
    if asked.engine not in get_args(EngineName):
        names = ", ".join(get_args(EngineName))
        raise ConfigError(f"engine={asked.engine}: no such engine; choose from {names}")
    beyond_fxtranslate = _beyond_fxtranslate(config, asked, run)
    if asked.engine == "fxtranslate":
        _refuse(asked, beyond_fxtranslate)
        return "fxtranslate"
    if asked.engine == "auto" and beyond_fxtranslate is None and find_spec("fxtranslate"):
        return "fxtranslate"
    if asked.engine == "ctranslate2" or asked.precision == "int8":
        _refuse(asked, _beyond_ctranslate2(config, asked))
    return _best_of_two(config, asked) if asked.engine == "auto" else asked.engine


def _beyond_ctranslate2(config: Config, asked: EngineRequest) -> _Beyond | None:
    """What CTranslate2 cannot do of what is asked, if anything."""
    if asked.others:
        return _Beyond("--ensemble", "CTranslate2 decodes with one model")
    if config.search.memory is not None:
        return _Beyond("search.memory", "CTranslate2 does not show the states of its decoder")
    if config.search.glossary and not config.prepare.augment.protects:
        what = "search.glossary, for a model without placeholders,"
        return _Beyond(what, "CTranslate2 cannot be told what to write")
    return None


def _beyond_fxtranslate(config: Config, asked: EngineRequest, run: RunDir | None) -> _Beyond | None:
    """What fxtranslate cannot do of what is asked, if anything."""
    search = config.search
    beyond = {
        "this model": (
            run is None or not has_firefox(run),
            "it runs what nmt import made of a model of Firefox Translations",
        ),
        f"--device {asked.device}": (
            asked.device not in ("auto", "cpu"),
            "it computes on the CPU",
        ),
        f"--precision {asked.precision}": (
            asked.precision not in ("auto", "int8"),
            "it computes in int8",
        ),
        "--ensemble": (bool(asked.others), "it decodes with one model"),
        "search.memory": (search.memory is not None, "it does not show its states"),
        f"search.method={search.effective_method}": (
            search.effective_method != "greedy",
            "it searches greedily, as with --beam-size 1",
        ),
        "search.no_repeat_ngram": (search.no_repeat_ngram > 0, "it searches greedily"),
        "scores in the output": (asked.scores, "it gives none"),
    }
    return next((_Beyond(what, why) for what, (is_so, why) in beyond.items() if is_so), None)


def has_firefox(run: RunDir) -> bool:
    """Whether the checkpoint that translates is the one that a model of Firefox Translations was imported as."""
    chosen = run.checkpoint or checkpoint.best(run)
    imported = checkpoint.step_name(0)
    return run.firefox.exists() and chosen is not None and chosen.name == imported


def _refuse(asked: EngineRequest, beyond: _Beyond | None) -> None:
    """Raise ConfigError for what the engine that is asked for, or its int8, cannot do."""
    if beyond is None:
        return
    if asked.engine in ("auto", "torch"):
        message = f"{beyond.what} needs --engine torch, which does not compute in int8"
        raise ConfigError(f"{message}; leave out --precision int8")
    is_in_environment = os.environ.get("NMT_ENGINE") == asked.engine
    place = f" ($NMT_ENGINE is {asked.engine})" if is_in_environment else ""
    if asked.engine == "fxtranslate":
        message = f"--engine fxtranslate{place} does not go with {beyond.what}: {beyond.why}"
        raise ConfigError(f"{message}; leave it out")
    raise ConfigError(f"{beyond.what} needs --engine torch{place}; {beyond.why}")


def _best_of_two(config: Config, asked: EngineRequest) -> EngineName:
    """The faster engine, as docs/lab/performance.md has measured them, of torch and CTranslate2."""
    fits = asked.device in ("auto", "cpu") and asked.precision in ("auto", "int8")
    samples = config.search.effective_method == "sample"
    double_norm = config.model.norm == "post" and config.model.has_final_norm
    inexpressible = double_norm or config.model.decoder == "ssru"
    if (
        not fits
        or _beyond_ctranslate2(config, asked)
        or samples
        or inexpressible
        or find_spec("ctranslate2") is None
    ):
        return "torch"
    if asked.precision == "int8":
        return "ctranslate2"
    return "torch" if may_have_gpu(asked.device) or has_amx() else "ctranslate2"


def may_have_gpu(device: str) -> bool:
    """Whether torch may find a GPU: asked without torch, so a driver counts, unless torch is the build for CPUs."""
    if device == "cpu":
        return False
    has_driver = any(Path(driver).exists() for driver in _DRIVERS)
    return sys.platform == "darwin" or (has_driver and not _torch_is_for_cpus())


def _torch_is_for_cpus() -> bool:
    """Whether the installed torch says so in its version."""
    try:
        return version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return False


def open_ctranslate2(
    config: Config, run: RunDir, asked: EngineRequest, warn: Say, say: Say
) -> tuple["CTranslate2Engine", Path]:
    """The engine on CTranslate2 of a run, and the checkpoint that it has; `say` gets a line about what computes.

    Raises ConfigError for a device or a precision that it does not have, EngineError if it cannot be used here.
    """
    from nmt.engines.ct2_cache import converted
    from nmt.engines.ctranslate2 import CTranslate2Engine, load_ctranslate2

    if asked.device not in ("auto", "cpu"):
        message = f"--device {asked.device} needs --engine torch"
        raise ConfigError(f"{message}; CTranslate2 is used on the CPU")
    if asked.precision not in _NUMBERS:
        message = f"--precision {asked.precision} needs --engine torch"
        raise ConfigError(f"{message}; CTranslate2 computes in int8 or fp32")
    numbers = _NUMBERS[asked.precision]
    load_ctranslate2()  # if it is not installed, that is the first error
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    conversion = converted(config, run, src, tgt, numbers, warn)
    longest = config.model.max_length - 1
    engine = CTranslate2Engine(conversion.folder, src, tgt, longest, numbers)
    say(f"nmt: model {conversion.checkpoint}{run.note}, {engine.name} on cpu")
    return engine, conversion.checkpoint


def open_fxtranslate(
    config: Config, run: RunDir, in_torch: "Callable[[], Engine]", say: Say
) -> tuple["FxtranslateEngine", Path]:
    """The engine on fxtranslate of a run, and the checkpoint that it stands for; as `open_ctranslate2`.

    `in_torch` gives the run's engine on torch. Raises EngineError if fxtranslate cannot be used here.
    """
    from nmt.engines.fxtranslate import FxtranslateEngine

    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    engine = FxtranslateEngine(run, config.model, src, tgt, in_torch)
    say(f"nmt: model {run.firefox}{run.note}, {engine.name} on cpu")
    return engine, run.checkpoints / checkpoint.step_name(0)

"""Which engine translates a run: torch, or CTranslate2."""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from nmt.config.schema import Config
from nmt.engines.base import EngineName, EngineRequest
from nmt.errors import ConfigError, Say
from nmt.machine.cpu import has_amx
from nmt.run.folder import RunDir
from nmt.run.sides import load_side

if TYPE_CHECKING:
    from nmt.engines.ctranslate2 import CTranslate2Engine

# NVIDIA's, and Windows' in WSL2, as in scripts/setup.sh.
_DRIVERS = ("/proc/driver/nvidia/version", "/dev/dxg")
_NUMBERS: dict[str, Literal["int8", "float32"]] = {
    "auto": "int8",
    "int8": "int8",
    "fp32": "float32",
}


def default_engine() -> EngineName:
    """The engine of those who name none: that of $NMT_ENGINE, or else `auto`. `chosen_engine` checks it."""
    return cast(EngineName, os.environ.get("NMT_ENGINE") or "auto")


def chosen_engine(config: Config, asked: EngineRequest) -> EngineName:
    """The engine that translates: the one that is asked for, or the faster one that can do what is asked.

    Raises ConfigError for an engine that is not known, and if CTranslate2, or its int8, is asked for what it cannot do.
    """
    if asked.engine not in get_args(EngineName):
        names = ", ".join(get_args(EngineName))
        raise ConfigError(f"engine={asked.engine}: no such engine; choose from {names}")
    _refuse_ctranslate2(config, asked)
    return _best_engine(config, asked) if asked.engine == "auto" else asked.engine


def _needing_torch(config: Config, asked: EngineRequest) -> tuple[str, str] | None:
    """What CTranslate2 cannot do of what is asked, if anything, and why not."""
    if asked.others:
        return "--ensemble", "CTranslate2 decodes with one model"
    if config.search.memory is not None:
        return "search.memory", "CTranslate2 does not show the states of its decoder"
    if config.search.glossary and not config.prepare.augment.protects:
        what = "search.glossary, for a model without placeholders,"
        return what, "CTranslate2 cannot be told what to write"
    return None


def _refuse_ctranslate2(config: Config, asked: EngineRequest) -> None:
    """Raise ConfigError if CTranslate2, or its int8, is asked for what it cannot do."""
    needing = _needing_torch(config, asked)
    if needing is None:
        return
    what, why = needing
    if asked.engine == "ctranslate2":
        is_in_environment = os.environ.get("NMT_ENGINE") == asked.engine
        place = " ($NMT_ENGINE is ctranslate2)" if is_in_environment else ""
        raise ConfigError(f"{what} needs --engine torch{place}; {why}")
    if asked.precision == "int8":
        message = f"{what} needs --engine torch, which does not compute in int8"
        raise ConfigError(f"{message}; leave out --precision int8")


def _best_engine(config: Config, asked: EngineRequest) -> EngineName:
    """The faster engine, as docs/lab/performance.md has measured them, of those that can do what is asked."""
    fits = asked.device in ("auto", "cpu") and asked.precision in ("auto", "int8")
    samples = config.search.effective_method == "sample"
    double_norm = config.model.norm == "post" and config.model.has_final_norm
    inexpressible = double_norm or config.model.decoder == "ssru"
    if (
        not fits
        or _needing_torch(config, asked)
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

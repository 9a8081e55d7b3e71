"""What nmt is on this machine: what a report of a bug has to say, and what is missing for which task."""

import platform
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import nmt
from nmt.config.schema import Config
from nmt.engines.base import EngineRequest
from nmt.engines.choose import chosen_engine, default_engine, may_have_gpu
from nmt.engines.ct2_cache import cache_folder
from nmt.errors import UserError, counted
from nmt.machine import cpu
from nmt.run.trained import find_run_folder, load_trained_run

Row = tuple[str, str]  # what it is, and what it is here

_ENGINES = ("torch", "ctranslate2", "fxtranslate")
_PACKAGES = (*_ENGINES, "numpy", "sentencepiece", "jieba", "sacrebleu")
# Libraries that not everybody has, and what needs them.
_EXTRAS = dict.fromkeys(("matplotlib", "jinja2", "rapidfuzz"), "nmt report") | {
    "ctranslate2": "--engine ctranslate2 and nmt export ct2",
    "fxtranslate": "--engine fxtranslate, for models of Firefox Translations",
    "huggingface_hub": "nmt import from the hub",
    "ray": "--ray",
    "markdown-it-py": "nmt document of Markdown",
    "opencc": "prepare.traditional=convert",
    "starlette": "nmt serve",
    "tensorboard": "train.tensorboard",
    "uvicorn": "nmt serve",
}


def machine_rows() -> Iterator[Row]:
    """Everything, in the order to be read. Where a fact cannot be found out, it says why: something is broken here."""
    facts: list[tuple[str, Callable[[], str]]] = [
        ("nmt", lambda: f"{nmt.__version__} in {Path(nmt.__file__).parent}"),
        ("python", lambda: f"{platform.python_version()} ({platform.python_implementation()})"),
        ("system", platform.platform),
        ("cpu", _cpu),
        ("devices", _devices),
        ("packages", _packages),
        ("model", _model),
        ("engine", _engine),
        ("cache", lambda: str(cache_folder())),
    ]
    for name, find in facts:
        try:
            yield name, find()
        except UserError as error:
            yield name, "; ".join(error.lines)
        except Exception as error:
            yield name, f"{type(error).__name__}: {error}"
    missing = [package for package in _EXTRAS if version_of(package) is None]
    for package in missing:
        yield "not installed", f"{package}, for {_EXTRAS[package]}: pip install {package}"
    if not missing:
        yield "extras", f"all installed: {', '.join(_EXTRAS)}"


def version_line() -> str:
    """The versions that matter, and what translates unless an option says otherwise; without loading torch."""
    where = "a GPU, if torch finds one" if may_have_gpu("auto") else "the CPU"
    try:
        effect = f"translates with {chosen_engine(Config(), _request())} on {where}"
    except UserError as error:
        effect = str(error)
    versions = [f"{name} {version}" for name in _ENGINES if (version := version_of(name))]
    return f"nmt {', '.join([nmt.__version__, *versions])}; {effect}"


def version_of(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    features = " ".join(cpu.features()) or "without AVX2, AVX-512 and AMX"
    return f"{platform.machine()}, {counted(cpu.cores(), 'core')}, {features}"


def _devices() -> str:
    import torch

    found = ["cpu"]
    for number in range(torch.cuda.device_count()):
        found.append(f"cuda:{number} ({torch.cuda.get_device_name(number)})")
    if torch.backends.mps.is_available():
        found.append("mps")
    return ", ".join(found)


def _packages() -> str:
    versions = {package: version_of(package) for package in _PACKAGES}
    return ", ".join(f"{package} {version}" for package, version in versions.items() if version)


def _model() -> str:
    run = find_run_folder(None)
    return f"{run.path}{run.note}"


def _engine() -> str:
    run = find_run_folder(None)
    config, _ = load_trained_run(run, [])
    return f"{chosen_engine(config, _request(), run)}, unless --engine says otherwise"


def _request() -> EngineRequest:
    return EngineRequest(default_engine())

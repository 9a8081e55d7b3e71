"""Decoding: the same sentences and weights, nmt and CTranslate2 in turns."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import cast

import torch

from bench import ct2
from bench.made import configure, encoded_run, text_file
from bench.results import Figure, Rates, Settings, in_own_process, in_turns, peak_memory
from bench.training import SIZES, TINY
from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.reading.lines import read_lines
from nmt.engines.base import EngineRequest
from nmt.engines.decoder import Decoder
from nmt.errors import ConfigError, print_nothing
from nmt.files import write_text
from nmt.machine.device import resolve_precision
from nmt.model.transformer import Transformer
from nmt.run.checkpoint import Meta, mark_best, parameters_of, save, step_name
from nmt.run.folder import SIDES, RunDir
from nmt.run.sides import load_side
from nmt.train.start.initialise import initialise
from nmt.translate.opening import open_translator
from nmt.translate.translator import Translator

_RANDOM_LIMIT = 10  # tokens out: random weights would go on for ever
# Source tokens a batch: what was best is among these.
_BATCH_TOKENS = {"greedy": (2048, 8192), "beam": (512, 2048)}


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Sentences and tokens a second, greedy and beam 5, memory, and how long the first sentence takes."""
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")  # of conversions
    run, lines = _run(settings, folder)
    figures: list[Figure] = []
    for method in _BATCH_TOKENS:
        figures += _of_method(method, settings, run, lines, folder / f"ct2-{method}")
    return [*figures, *_first_sentence(settings, run, lines[0])]


def _run(settings: Settings, folder: Path) -> tuple[RunDir, list[str]]:
    """A run to translate with, and sentences."""
    if settings.model is not None:
        run = RunDir.at(settings.model)
        language = load_config(run.config).src.language
        test = run.text("test", language)
        if settings.data is not None:
            test = text_file(settings.data, "test", language)
        elif not test.exists():
            raise ConfigError(f"{test}: no such file; --data names a folder with test.{language}")
        return run, list(read_lines(test))
    sizes = TINY if settings.tiny else SIZES
    pairs = 100 if settings.tiny else 10_000
    sentences = 20 if settings.tiny else 1_000
    overrides = [
        *sizes["S"].overrides(),
        f"search.max_length={_RANDOM_LIMIT}",
        "search.method=greedy",  # beam search would retry: random weights repeat themselves
        f"run_dir={folder / 'run'}",
    ]
    config = configure(settings.data, folder, overrides, pairs, sizes["S"].types)
    run = encoded_run(config, folder)
    _save_random(config, run)
    lines = list(read_lines(run.text("train", "en")))
    return run, lines[-sentences:]


def _save_random(config: Config, run: RunDir) -> None:
    import yaml

    from nmt.config.load import dump

    torch.manual_seed(1)
    sides = [load_side(config, run, name) for name in SIDES]
    model = Transformer(config.model, *(len(side.vocab) for side in sides))
    initialise(model)
    meta = Meta(1, (sides[0].fingerprint(), sides[1].fingerprint()))
    mark_best(run, save(run, step_name(1), parameters_of(model), meta))
    write_text(run.config, yaml.safe_dump(dump(config)))


@dataclass
class System:
    """Something that translates batches of sentences, and how many tokens came of them the last time."""

    translate: Callable[[], Iterable[Sized]]  # gives the tokens of each sentence, without EOS
    tokens: int = 0

    def work(self) -> float:
        """Translate; gives tokens, EOS counted."""
        self.tokens = sum(len(sentence) + 1 for sentence in self.translate())
        return self.tokens


def _of_method(
    method: str, settings: Settings, run: RunDir, lines: list[str], folder: Path
) -> list[Figure]:
    systems: dict[str, System] = {}
    has_ct2 = ct2.installed() and settings.device.type == "cpu"
    for computing in _computings(settings, has_ct2):
        for batch_tokens in _BATCH_TOKENS[method]:
            translator = _translator(run, computing, method, batch_tokens)
            sources = [translator.src.encode(line) for line in lines]
            name = f"nmt, {translator.engine.name}, {batch_tokens}"
            systems[name] = _ours(translator, sources)
    if has_ct2:
        weights = _translator(run, EngineRequest("torch", "cpu", "fp32"), method, 1)
        systems |= _ct2_systems(method, weights, sources, folder)
    works = {name: system.work for name, system in systems.items()}
    rates = in_turns(works, settings.rounds, settings.device)
    tokens = {name: system.tokens for name, system in systems.items()}
    peak: float = in_own_process(_peak, settings, run, method, lines)
    memory = Figure(f"{method}: nmt, peak memory", peak, "MB")
    return [*_figures(method, rates, tokens, len(lines)), memory]


def _computings(settings: Settings, has_ct2: bool) -> list[EngineRequest]:
    """Each of our engines, in each precision."""
    device = str(settings.device)
    usual = resolve_precision("auto", settings.device)
    found = [EngineRequest("torch", device, name) for name in dict.fromkeys((usual, "fp32"))]
    if has_ct2:
        found += [EngineRequest("ctranslate2", device, name) for name in ("int8", "fp32")]
    return found


def _translator(
    run: RunDir, computing: EngineRequest, method: str, batch_tokens: int
) -> Translator:
    overrides = [
        f"search.method={method}",
        "search.beam_size=5",
        f"search.batch_tokens={batch_tokens}",
    ]
    config = load_config(run.config, overrides)
    return open_translator(config, run, computing, print_nothing, print_nothing)


def _ours(translator: Translator, sources: list[list[int]]) -> System:
    def translate() -> list[list[int]]:
        found = translator.engine.decode(sources, translator.search)
        return [n_best[0].ids for n_best in found]

    return System(translate)


def _ct2_systems(
    method: str, translator: Translator, sources: list[list[int]], folder: Path
) -> dict[str, System]:
    """CTranslate2 with the weights of a translator in fp32, at each precision and batch size."""
    model = cast(Decoder, translator.engine).model
    ct2.export(model, folder)
    limit = translator.search.max_length or model.config.max_length
    systems = {}
    for kind in ("float32", "int8"):
        for batch in ct2.BATCHES[method]:
            run = ct2.translate(folder, kind, method, batch, torch.get_num_threads(), limit)
            systems[f"CTranslate2, {kind}, {batch}"] = System(partial(run, sources))
    return systems


def _figures(method: str, rates: Rates, tokens: dict[str, int], sentences: int) -> list[Figure]:
    """Each system at its best batch, beside CTranslate2 with int8 (for fp32: with float32)."""
    best: dict[str, str] = {}
    for name in rates:
        system, _, _ = name.rpartition(", ")
        if system not in best or median(rates[name]) > median(rates[best[system]]):
            best[system] = name
    figures = []
    for system, name in best.items():
        what = f"{method}: {name}"
        rate = median(rates[name])
        by, beside = _beside_ct2(system, best, rates)
        figures.append(Figure(what, rate, "tokens/s", by, beside))
        figures.append(Figure(what, rate * sentences / tokens[name], "sentences/s"))
    return figures


def _beside_ct2(system: str, best: dict[str, str], rates: Rates) -> tuple[float | None, str]:
    """The ratio of one of our systems to CTranslate2, and the latter's name; None and "" if there is none."""
    kind = "float32" if system.endswith(("fp32", "float32")) else "int8"
    yardstick = f"CTranslate2, {kind}"
    if not system.startswith("nmt") or yardstick not in best:
        return None, ""
    return rates.ratio(best[system], best[yardstick]), yardstick


def _first_sentence(settings: Settings, run: RunDir, line: str) -> list[Figure]:
    """Wall time of a process that translates one line, and of one that only imports torch."""
    device = str(settings.device)
    nmt = [sys.executable, "-m", "nmt", "translate", "--model", str(run.path), "--device", device]
    commands = {
        "first sentence, torch": [*nmt, "--engine", "torch"],
        "import torch": [sys.executable, "-c", "import torch"],
    }
    if ct2.installed() and device == "cpu":
        commands["first sentence, ctranslate2"] = [*nmt, "--engine", "ctranslate2"]
        subprocess.run(  # the first one converts the model
            commands["first sentence, ctranslate2"],
            input="",
            capture_output=True,
            check=True,
            text=True,
        )
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(settings.rounds):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, input=line + "\n", text=True, capture_output=True, check=True)
            times[name].append(time.perf_counter() - start)
    return [Figure(f"translate: {name}", median(seconds), "s") for name, seconds in times.items()]


def _peak(settings: Settings, run: RunDir, method: str, lines: list[str]) -> float:
    """Peak memory in MB of a process that only translates."""
    computing = EngineRequest("torch", str(settings.device), "auto")
    translator = _translator(run, computing, method, max(_BATCH_TOKENS[method]))
    sources = [translator.src.encode(line) for line in lines]
    translator.engine.decode(sources, translator.search)
    return peak_memory()

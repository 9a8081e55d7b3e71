"""Decoding: the same sentences and weights, nmt and CTranslate2 in turns."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch

from bench import ct2
from bench.made import configure, encoded_run
from bench.results import Figure, Rates, Settings, alone, in_turns, peak_memory, ratio
from bench.training import SIZES, TINY
from nmt.checkpoint import Meta, mark_best, parameters_of, save, step_name
from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.lines import read_lines
from nmt.files import write_text
from nmt.model.device import resolve_precision
from nmt.model.transformer import Transformer
from nmt.run_dir import SIDES, RunDir
from nmt.text.side import load_side
from nmt.translate.load import load_translator
from nmt.translate.translator import Translator

_RANDOM_LIMIT = 10  # tokens out: random weights would go on for ever
_METHODS = {
    "greedy": (2048, 8192),
    "beam": (512, 2048),
}  # source tokens a batch: what was best is among these


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Sentences and tokens a second, greedy and beam 5, memory, and how long the first sentence takes."""
    run, lines = _run(settings, folder)
    figures: list[Figure] = []
    for method in _METHODS:
        figures += _of_method(method, settings, run, lines, folder / f"ct2-{method}")
    return [*figures, *_first_sentence(settings, run, lines[0])]


def _run(settings: Settings, folder: Path) -> tuple[RunDir, list[str]]:
    """A run to translate with, and sentences."""
    if settings.model is not None:
        config = load_config(settings.model / "config.yaml")
        run = RunDir(settings.model)
        return run, list(read_lines(run.text("test", config.src.language)))
    size = (TINY if settings.tiny else SIZES)["S"]
    shape = [f"model.{override}" for override in size.overrides]
    # Greedy by itself: beam search would look again and again for a translation that does not go round in circles.
    limited = [
        f"search.max_length={_RANDOM_LIMIT}",
        "search.method=greedy",
        f"run_dir={folder / 'run'}",
    ]
    config = configure(
        settings.data, folder, [*shape, *limited], 10_000 if not settings.tiny else 100, size.types
    )
    run = encoded_run(config, folder)
    _save_random(config, run)
    lines = list(read_lines(run.text("train", "en")))
    return run, lines[-(1_000 if not settings.tiny else 20) :]


def _save_random(config: Config, run: RunDir) -> None:
    import yaml

    from nmt.config.load import dump

    torch.manual_seed(1)
    sides = [load_side(config, run, name) for name in SIDES]
    model = Transformer(config.model, *(len(side.vocab) for side in sides))
    meta = Meta(1, (sides[0].fingerprint(), sides[1].fingerprint()))
    mark_best(run, save(run, step_name(1), parameters_of(model), meta))
    write_text(run.config, yaml.safe_dump(dump(config)))


def _of_method(
    method: str, settings: Settings, run: RunDir, lines: list[str], folder: Path
) -> list[Figure]:
    systems: dict[str, Callable[[], float]] = {}
    tokens: dict[str, int] = {}
    for precision in dict.fromkeys((resolve_precision("auto", settings.device), "fp32")):
        for room in _METHODS[method]:
            translator = _translator(run, settings, method, precision, room)
            name = f"nmt, {precision}, {room}"
            sources = [translator.src.encode(line) for line in lines]
            systems[name] = _ours(translator, sources, tokens, name)
    if ct2.installed() and settings.device.type == "cpu":
        ct2.export(translator.decoder.model, folder)  # of the last: in fp32
        limit = translator.search.max_length or translator.decoder.model.config.max_length
        for kind in ("float32", "int8"):
            for batch in ct2.BATCHES[method]:
                name = f"CTranslate2, {kind}, {batch}"
                translate = ct2.translate(
                    folder, kind, method, batch, torch.get_num_threads(), limit
                )
                systems[name] = _theirs(translate, sources, tokens, name)
    rates = in_turns(systems, settings.rounds, settings.device)
    memory = Figure(f"{method}: nmt, peak memory", _memory(settings, run, method, lines), "MB")
    return [*_figures(method, rates, tokens, len(lines)), memory]


def _figures(method: str, rates: Rates, tokens: dict[str, int], sentences: int) -> list[Figure]:
    """Each system at its best batch, beside CTranslate2 with int8 (for fp32: with float32)."""
    best: dict[str, str] = {}
    for name in rates:
        system = name.rpartition(", ")[0]
        if system not in best or median(rates[name]) > median(rates[best[system]]):
            best[system] = name
    figures = []
    for system, name in best.items():
        yardstick = f"CTranslate2, {'float32' if system.endswith('fp32') else 'int8'}"
        beside = yardstick if system.startswith("nmt") and yardstick in best else ""
        by = ratio(rates, name, best[yardstick]) if beside else None
        figures.append(Figure(f"{method}: {name}", median(rates[name]), "tokens/s", by, beside))
        figures.append(
            Figure(
                f"{method}: {name}", median(rates[name]) * sentences / tokens[name], "sentences/s"
            )
        )
    return figures


def _translator(
    run: RunDir, settings: Settings, method: str, precision: str, room: int
) -> Translator:
    overrides = [f"search.method={method}", "search.beam_size=5", f"search.batch_tokens={room}"]
    config = load_config(run.config, overrides)
    return load_translator(config, run, str(settings.device), precision)


def _ours(
    translator: Translator, sources: list[list[int]], tokens: dict[str, int], name: str
) -> Callable[[], float]:
    def work() -> float:
        tokens[name] = sum(
            len(n_best[0].ids) + 1
            for n_best in translator.decoder.decode(sources, translator.search)
        )
        return tokens[name]

    return work


def _theirs(
    translate: Callable[..., list[list[str]]],
    sources: list[list[int]],
    tokens: dict[str, int],
    name: str,
) -> Callable[[], float]:
    def work() -> float:
        tokens[name] = sum(len(ids) + 1 for ids in translate(sources))
        return tokens[name]

    return work


def _first_sentence(settings: Settings, run: RunDir, line: str) -> list[Figure]:
    """Wall time of a process that translates one line, and of one that only imports torch."""
    whole = [
        sys.executable,
        "-m",
        "nmt",
        "translate",
        "--model",
        str(run.path),
        "--device",
        str(settings.device),
    ]
    alone = [sys.executable, "-c", "import torch"]
    times: dict[str, list[float]] = {"first sentence": [], "import torch": []}
    for _ in range(settings.rounds):
        for name, command in (("first sentence", whole), ("import torch", alone)):
            start = time.perf_counter()
            subprocess.run(command, input=line + "\n", text=True, capture_output=True, check=True)
            times[name].append(time.perf_counter() - start)
    return [Figure(f"translate: {name}", median(seconds), "s") for name, seconds in times.items()]


def _memory(settings: Settings, run: RunDir, method: str, lines: list[str]) -> float:
    peak: float = alone(_peak, settings, run, method, lines)
    return peak


def _peak(settings: Settings, run: RunDir, method: str, lines: list[str]) -> float:
    translator = _translator(run, settings, method, "auto", _METHODS[method][1])
    translator.decoder.decode([translator.src.encode(line) for line in lines], translator.search)
    return peak_memory()

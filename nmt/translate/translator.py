"""Lines in, translations out, in input order. Shapes: B sentences, S source positions."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from nmt.checkpoint import best, load_weights, put_weights, read_meta, steps
from nmt.config import Config, SearchConfig
from nmt.corpus.batching import pad
from nmt.errors import ModelError
from nmt.model.device import Precision, dtype_of, resolve_device, resolve_precision
from nmt.model.transformer import Transformer
from nmt.run_dir import SIDES, RunDir
from nmt.text.normalize import normalize
from nmt.text.side import Side, load_side
from nmt.translate.search import ROUND, SEARCHES, Hypothesis, NBest
from nmt.translate.segments import split_long
from nmt.translate.stepper import ModelStepper

_WIDTH = 4  # positions: on a CPU a new shape costs more time than a little padding
_LONGEST_TOKEN = 64  # characters, on average: to encode a line of megabytes only to see that it is long takes gigabytes
_WORTH_A_THREAD = 500  # source tokens: a batch is not made smaller than that for the sake of another thread


@dataclass(frozen=True)
class Candidate:
    """One of the n best translations of a line: its log-probability and its score after the length penalty.

    Both are sums over the parts of a line that had to be split.
    """

    text: str
    log_prob: float
    score: float


@dataclass(frozen=True)
class Translation:
    """A line and its translations, best first. A blank line's is blank, and has no candidates."""

    source: str
    n_best: tuple[Candidate, ...]

    @property
    def text(self) -> str:
        """The best translation."""
        return self.n_best[0].text if self.n_best else ""


class Translator:
    """A model with its two sides and a way of searching."""

    def __init__(self, model: Transformer, src: Side, tgt: Side, search: SearchConfig, precision: Precision) -> None:
        self.model, self.src, self.tgt, self.search = _cast(model, dtype_of(precision)), src, tgt, search
        self.device = next(model.parameters()).device

    def fingerprint(self) -> str:
        """A hash that is equal where the translations of every text are: of weights, vocabularies and search."""
        told = (self.search.model_dump_json(), self.src.fingerprint(), self.tgt.fingerprint(), str(self.model.dtype))
        digest = hashlib.sha256("\n".join(told).encode())
        for parameter in self.model.parameters():
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines, sorted by length within; the order out is the order in."""
        parts = [self._parts(line) for line in lines]
        encoded = [self.src.encode(part) for line in parts for part in line]
        found = iter(self.translate_ids(encoded))
        return [self._translation(line, list(islice(found, len(of)))) for line, of in zip(lines, parts, strict=True)]

    def _parts(self, line: str) -> list[str]:
        text = normalize(line, self.src.language)
        longest = self.model.config.max_length - 1  # EOS takes a position

        def fits(part: str) -> bool:
            return len(part) <= _LONGEST_TOKEN * longest and len(self.src.encode(part)) <= longest

        return split_long(text, fits) if text else []

    def _translation(self, line: str, parts: list[NBest]) -> Translation:
        if not parts:
            return Translation(line, ())
        ranks = range(max(map(len, parts)))
        chosen = ([part[min(rank, len(part) - 1)] for part in parts] for rank in ranks)
        by_text: dict[str, Candidate] = {}  # different tokens may make the same text; the better one comes first
        for candidate in map(self._candidate, chosen):
            by_text.setdefault(candidate.text, candidate)
        return Translation(line, tuple(by_text.values()))

    def _candidate(self, parts: list[Hypothesis]) -> Candidate:
        glue = "" if self.tgt.language == "zh" else " "
        text = glue.join(self.tgt.decode(part.ids) for part in parts)
        return Candidate(text, sum(part.log_prob for part in parts), sum(part.score for part in parts))

    def translate_ids(self, sources: Sequence[list[int]]) -> list[NBest]:
        """Translate encoded sentences, each without EOS and shorter than the model's max_length; in order."""
        found: list[NBest] = [[] for _ in sources]
        batches = list(self._batches(sources))
        results = self._search_each([[sources[i] for i in batch] for batch in batches])
        for indices, result in zip(batches, results, strict=True):
            for index, n_best in zip(indices, result, strict=True):
                found[index] = n_best
        return found

    def _batches(self, sources: Sequence[list[int]]) -> Iterator[list[int]]:
        """Group indices, longest first: a batch too large for the memory fails at once and not at the end."""
        order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
        share = sum(map(len, sources)) // self._threads  # so that all cores have work
        room = min(self.search.batch_tokens, max(share, _WORTH_A_THREAD))
        start = 0
        while start < len(order):
            size = room // _width(len(sources[order[start]]))
            size = max(1, size - size % ROUND if size > ROUND else size)
            yield order[start : start + size]
            start += size

    def _search_each(self, batches: list[list[list[int]]]) -> Iterator[list[NBest]]:
        """Search every batch; on a CPU several at a time, which uses its cores better than one at a time does."""
        threads = min(self._threads, len(batches))
        if threads <= 1:
            yield from map(self._search, batches)
            return
        each = torch.get_num_threads() // threads
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(each,)) as pool:
            yield from pool.map(self._search, batches)

    @property
    def _threads(self) -> int:
        """How many batches to search at a time; one where chance is drawn, which must come in order."""
        alone = self.device.type != "cpu" or self.search.method == "sample"
        return 1 if alone else torch.get_num_threads()

    @torch.inference_mode()
    def _search(self, sources: list[list[int]]) -> list[NBest]:
        longest = self.model.config.max_length - 1  # BOS takes a position
        if self.search.max_length is not None:
            longest = min(longest, self.search.max_length)
        limits = torch.tensor([min(longest, int(len(ids) * self.search.max_ratio) + 10) for ids in sources])
        beams = self.search.beam_size if self.search.method == "beam" else 1
        self.model.eval()
        width = min(_width(max(map(len, sources))), self.model.config.max_length)
        cache = self.model.encode(pad(sources, width).to(self.device))
        cache.reserve(beams)
        stepper = ModelStepper(self.model, cache, forbid_unknown=self.tgt.never_unknown)
        return SEARCHES[self.search.method](stepper, limits.to(self.device), self.search)


def _width(tokens: int) -> int:
    """The positions of a source of so many tokens: with EOS, up to the next of few widths."""
    return -(-(tokens + 1) // _WIDTH) * _WIDTH


def _cast(model: Transformer, dtype: torch.dtype) -> Transformer:
    """The model with its parameters in `dtype`: itself, or a copy."""
    if dtype == model.dtype:
        return model
    model = deepcopy(model)
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype)
    return model


def load_translator(
    config: Config,
    run: RunDir,
    device: str = "auto",
    precision: str = "auto",
    warn: Callable[[str], None] | None = None,
) -> Translator:
    """Load the trained model of a run: its best checkpoint, or if that is damaged the last whole one, with a warning.

    Raises ModelError if there is none, or if it does not belong to the run's vocabularies.
    """
    folder, weights = _load_best(run, warn or (lambda _: None))
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    check_fits(folder, src, tgt)
    where = resolve_device(device)
    with torch.device("meta"):  # nothing is allocated before the configuration is seen to fit the weights
        put_weights(Transformer(config.model, len(src.vocab), len(tgt.vocab)), weights, folder)
    model = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    put_weights(model, weights, folder)
    return Translator(model.to(where), src, tgt, config.search, resolve_precision(precision, where))


def _load_best(run: RunDir, warn: Callable[[str], None]) -> tuple[Path, dict[str, Tensor]]:
    marked = best(run)
    if marked is None and run.best.exists():
        warn(f"{run.best}: names a checkpoint that is not there; taking the last whole one")
    candidates = [*([marked] if marked else []), *reversed(steps(run))]
    problem = f"{run.path}: no trained model here; run nmt train, or name a run with --model"
    for folder in candidates:
        try:
            return folder, load_weights(folder)
        except ModelError as error:
            problem = str(error)
            warn(f"{problem}; trying the last whole checkpoint")
    raise ModelError(problem)


def check_fits(folder: Path, src: Side, tgt: Side) -> None:
    """Raise ModelError if a checkpoint was trained with other vocabularies than these sides'."""
    trained_with = read_meta(folder).fingerprints
    for name, side, fingerprint in zip(SIDES, (src, tgt), trained_with, strict=True):
        if side.fingerprint() != fingerprint:
            raise ModelError(
                f"{folder}: trained with another {name} vocabulary ({fingerprint}) than vocab.{name}.tsv "
                f"({side.fingerprint()}); restore that file, or train again"
            )

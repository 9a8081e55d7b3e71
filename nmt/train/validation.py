"""How good a model is on dev: loss of a token, and BLEU and chrF of its greedy translations."""

import math
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from nmt.config.schema import Config
from nmt.corpus.encoding.store import ParallelCorpus
from nmt.corpus.reading.lines import read_lines
from nmt.engines.decoder import Decoder
from nmt.errors import Say, print_nothing
from nmt.evaluation.metrics import values
from nmt.files import write_text
from nmt.machine.device import Precision, dtype_of
from nmt.machine.oom import none_on_oom, within_memory
from nmt.model.batch import Batch
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.transformer import Transformer
from nmt.run.folder import RunDir
from nmt.text.side import Side
from nmt.train.data.batching import fitting, load_batch, plan_epoch
from nmt.train.data.micro_batches import MicroBatcher
from nmt.train.loss import cross_entropy, logits_of
from nmt.translate.translator import Translator

EXAMPLES = 3


class Example(NamedTuple):
    """A sentence of dev and how the model translates it."""

    source: str
    translation: str
    reference: str


class Validator:
    """Measures a model on the run's dev split."""

    def __init__(
        self,
        config: Config,
        run: RunDir,
        src: Side,
        tgt: Side,
        precision: Precision,
        warn: Say = print_nothing,
    ) -> None:
        """`warn` gets a line if a batch does not fit in memory."""
        self.config = config
        self.run = run
        self.src = src
        self.tgt = tgt
        self.precision = precision
        self.warn = warn
        self.micro_batcher = MicroBatcher()
        self.corpus = ParallelCorpus(run.store("dev"), (src.fingerprint(), tgt.fingerprint()))
        self.fitting = fitting(self.corpus.lengths, config.model.max_length)
        self.sources = list(read_lines(run.text("dev", src.language)))
        self.references = list(read_lines(run.text("dev", tgt.language)))

    def __len__(self) -> int:
        """Pairs to measure the loss on: neither empty nor longer than the model."""
        return len(self.fitting)

    def measure(self, model: Transformer) -> tuple[dict[str, float], list[str]]:
        """Scores `loss`, `bleu` and `chrf`, and the translations that were scored."""
        search = self.config.search.model_copy(update={"method": "greedy", "n_best": 1})
        decoder = Decoder(model, self.src, self.tgt, self.precision, self.warn)
        taught = self.config.prepare.augment
        translator = Translator(decoder, search, taught)
        translations = [translation.text for translation in translator.translate(self.sources)]
        scores = {"loss": self.loss(model)}
        scores.update(values(translations, [self.references], ("bleu", "chrf")))
        return scores, translations

    def examples(self, translations: list[str]) -> list[Example]:
        """A few of the translations, taken evenly from all of dev."""
        chosen = np.linspace(0, len(self.sources) - 1, EXAMPLES, dtype=int)
        return [Example(self.sources[i], translations[i], self.references[i]) for i in chosen]

    def write(self, name: str, translations: list[str]) -> None:
        """Write the translations by checkpoint `name` to a file."""
        write_text(self.output(name), "".join(text + "\n" for text in translations))

    def output(self, name: str) -> Path:
        """The file for the translations by checkpoint `name`."""
        return self.run.validation / f"{name}.{self.tgt.language}"

    @torch.inference_mode()
    def loss(self, model: Transformer) -> float:
        """Mean negative log-likelihood of a target token, in nats, without label smoothing.

        Pairs that are empty or longer than the model are left out. NaN if no pair is left. Raises
        UserError if a single pair does not fit in memory.
        """
        with within_memory("the model in two precisions", "take a smaller model"):
            working = LowPrecisionCopy(model, dtype_of(self.precision)).model.eval()
        device = next(model.parameters()).device
        lengths = self.corpus.lengths[self.fitting]
        total = 0.0
        tokens = 0
        for batch_indices in plan_epoch(lengths, self.config.train.batch_tokens, seed=0, epoch=0):
            indices = self.fitting[batch_indices]
            batch = load_batch(self.corpus, indices, self.config.model.max_length).to(device)
            total += self._loss_within_memory(working, batch)
            tokens += batch.tokens
        return total / tokens if tokens else math.nan

    def _loss_within_memory(self, model: Transformer, batch: Batch) -> float:
        """The loss of a batch, from now on in smaller parts if it does not fit in memory."""
        while (loss := none_on_oom(partial(self._loss_in_parts, model, batch))) is None:
            if self.micro_batcher.most_positions is None:
                effect = "larger ones are measured in parts"
                self.warn(f"a batch of dev did not fit in memory; {effect}")
            self.micro_batcher.halve()
        return loss

    def _loss_in_parts(self, model: Transformer, batch: Batch) -> float:
        """The sum over the tokens of a batch."""
        total = 0.0
        for part in self.micro_batcher.parts(batch):
            logits = logits_of(model, part)
            total += float(cross_entropy(logits, part.labels, 0.0))
        return total

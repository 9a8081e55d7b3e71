"""transformers' Marian: under its Trainer, and a model of random weights to translate with."""

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import (
    MarianConfig,
    MarianMTModel,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
)

from bench.on_gpu import SIZES, TINY, GpuSize, made_corpus, tried
from bench.results import synchronize
from nmt.corpus.encoding.store import ParallelCorpus


class Clock(TrainerCallback):
    """Measures the updates after the first ones."""

    def __init__(self, first: int, device: torch.device) -> None:
        self.updates = 0
        self.seconds = 0.0
        self._first = first
        self._device = device
        self._start = 0.0

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """An update is done."""
        synchronize(self._device)
        if state.global_step == self._first:
            self._start = time.perf_counter()
        self.seconds = time.perf_counter() - self._start
        self.updates = state.global_step - self._first


def measure(device: torch.device, tiny: bool) -> dict[str, Any]:
    """transformers' Marian of the base size under its Trainer: pairs padded to the longest of a random batch."""
    size = TINY if tiny else SIZES["base"]
    with TemporaryDirectory() as folder:
        corpus = made_corpus(Path(folder) / "store", 200 if tiny else 40_000, size)
        return tried(partial(_trained, size, corpus, Path(folder), device, tiny))


def _trained(
    size: GpuSize, corpus: ParallelCorpus, folder: Path, device: torch.device, tiny: bool
) -> dict[str, Any]:
    pairs = 8 if tiny else max(8, int(size.batch_tokens / float(np.mean(corpus.lengths) + 1)))
    updates = 4 if tiny else 30
    clock = Clock(updates // 3, device)
    trainer = Seq2SeqTrainer(
        model=MarianMTModel(config_of(size)),
        args=Seq2SeqTrainingArguments(
            output_dir=str(folder / "trainer"),
            per_device_train_batch_size=pairs,
            max_steps=updates,
            bf16=device.type == "cuda",
            use_cpu=device.type == "cpu",
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=[corpus[i] for i in range(len(corpus))],
        data_collator=_side_by_side,
        callbacks=[clock],
    )
    trainer.train()
    mean_tokens = float(corpus.lengths[:, 1].mean() + 1) * pairs
    return {
        "target tokens/s": mean_tokens * clock.updates / clock.seconds,
        "ms an update": clock.seconds / clock.updates * 1000,
        "pairs in a batch": pairs,
    }


def config_of(size: GpuSize) -> Any:
    """A Marian of this size."""
    return MarianConfig(
        vocab_size=size.vocabulary + 4,
        d_model=size.d_model,
        encoder_layers=size.encoder_layers,
        decoder_layers=size.decoder_layers,
        encoder_attention_heads=size.heads,
        decoder_attention_heads=size.heads,
        encoder_ffn_dim=size.d_ff,
        decoder_ffn_dim=size.d_ff,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
        max_position_embeddings=256,
    )


def _side_by_side(pairs: list[Any]) -> dict[str, torch.Tensor]:
    """Padded to the longest, the labels with -100, as its collator does."""
    sources = [torch.from_numpy(src.astype(np.int64)) for src, _ in pairs]
    targets = [torch.from_numpy(tgt.astype(np.int64)) for _, tgt in pairs]
    pad = partial(nn.utils.rnn.pad_sequence, batch_first=True)
    ids = pad(sources, padding_value=0)
    labels = pad(targets, padding_value=-100)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


def random_model(size: GpuSize, device: torch.device) -> Any:
    """A model in bf16 to translate with."""
    torch.manual_seed(1)
    model: Any = MarianMTModel(config_of(size))
    return model.to(device, torch.bfloat16).eval()

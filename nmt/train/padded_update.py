"""Gradients of padded batches, step by step: on CPUs, and on GPUs that cannot do better.

Shapes: n target tokens of a batch without padding, m ≥ n of them computed, V target vocabulary, R ≥ V
rows of the output.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nmt.config.schema import TrainConfig
from nmt.machine.device import Precision
from nmt.model.batch import Batch
from nmt.model.transformer import Transformer
from nmt.train.data.micro_batches import MicroBatcher
from nmt.train.data.word_dropout import drop_words
from nmt.train.distributed import World
from nmt.train.fallbacks import Fallbacks
from nmt.train.loss import computed_logits, cross_entropy
from nmt.train.optimizers import step_if
from nmt.train.update import Updater, seed_update


class PaddedUpdater(Updater[Batch]):
    """Computes each batch in as many parts as the memory asks for."""

    def __init__(
        self, config: TrainConfig, model: Transformer, precision: Precision, world: World
    ) -> None:
        super().__init__(config, model, precision, world)
        self.micro_batcher = MicroBatcher()
        self.fallbacks = Fallbacks(self.micro_batcher, self._drop_gradients)

    def _forward_backward(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Tensor:
        self.low_precision.refresh()
        world = self.world
        total = torch.zeros((), device=world.device)
        # Filled on the device: to copy a number to a GPU is to wait for it.
        scale = self.scaler.scale(torch.full((), 1 / total_tokens, device=world.device))
        for number, batch in enumerate(batches):
            seed_update(self.config.seed, update, number * world.size + world.rank)
            words_left = drop_words(batch, self.config.word_dropout)
            for part in self.micro_batcher.parts(words_left):
                total += self._part_forward_backward(part, scale)
                self.low_precision.hand_over_gradients()
        return total / total_tokens

    def _part_forward_backward(self, part: Batch, scale: Tensor) -> Tensor:
        """The sum of the loss over the tokens of one part; its gradient arrives in the low-precision copy."""
        logits = computed_logits(self.low_precision.model, part)  # [m,R]
        gradient = logits.detach()  # in the same memory: nothing needs the logits any more
        real = gradient[: part.tokens, : self.model.tgt_tokens]  # [n,V]
        loss = cross_entropy(real, part.labels, self.config.label_smoothing, real, scale)
        gradient[part.tokens :] = 0
        gradient[:, self.model.tgt_tokens :] = 0
        logits.backward(gradient)
        return loss

    def _clip_and_step(self, loss: Tensor, rate: float) -> Tensor:
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
        most = self.config.clip_norm or math.inf
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), most)
        is_finite = torch.isfinite(norm) & torch.isfinite(loss)
        for optimizer in self.optimizers:
            step_if(optimizer, rate, is_finite)
            optimizer.zero_grad(set_to_none=True)
        self.scaler.update()
        return norm

    def _drop_gradients(self) -> None:
        self.model.zero_grad(set_to_none=True)
        self.low_precision.model.zero_grad(set_to_none=True)

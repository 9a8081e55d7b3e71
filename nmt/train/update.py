"""One update of the parameters. Chance and schedule are functions of (seed, update).

Shapes: n target tokens of a batch without padding, V target vocabulary.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nmt.config.schema import TrainConfig
from nmt.corpus.batching import Batch
from nmt.model.device import Precision, dtype_of
from nmt.model.transformer import Transformer
from nmt.train.distributed import World
from nmt.train.loss import cross_entropy, logits_of
from nmt.train.splitting import Splitter, is_out_of_memory


@dataclass(frozen=True)
class Updated:
    """What an update saw, over all ranks, and whether it was applied.

    `loss` is the mean of a target token, `gradient_norm` is the norm of the whole gradient before
    clipping, `tokens` counts the target tokens.
    """

    loss: float
    gradient_norm: float
    tokens: int
    applied: bool


def learning_rate(config: TrainConfig, d_model: int, update: int) -> float:
    """The rate of update number `update`, counted from 1.

    noam is Vaswani et al. (2017), §5.3, times peak_lr; inverse_sqrt has the same shape with its
    peak at peak_lr.
    """
    warmed_up = min(1.0, update / config.warmup) if config.warmup else 1.0
    if config.schedule == "noam":
        return config.peak_lr * d_model**-0.5 * min(update**-0.5, update * config.warmup**-1.5)
    if config.schedule == "inverse_sqrt":
        return config.peak_lr * min(warmed_up, math.sqrt(config.warmup / update))
    if config.schedule == "cosine" and update > config.warmup:
        done = (update - config.warmup) / max(1, config.updates - config.warmup)
        return config.peak_lr * (1 + math.cos(math.pi * min(1.0, done))) / 2
    return config.peak_lr * warmed_up


def seed_update(seed: int, update: int, number: int) -> None:
    """Seed torch for batch `number` of an update, counted over all ranks.

    So its dropout depends on nothing that happened before.
    """
    digest = hashlib.blake2b(f"{seed} {update} {number}".encode(), digest_size=8).digest()
    torch.manual_seed(int.from_bytes(digest) >> 1)


def make_optimizer(config: TrainConfig, model: nn.Module) -> torch.optim.Optimizer:
    """Adam or AdamW. Only matrices decay; biases and norms do not."""
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.dim() > 1]
    vectors = [p for p in trained if p.dim() <= 1]
    groups = []
    if matrices:
        groups.append({"params": matrices, "weight_decay": config.weight_decay})
    if vectors:
        groups.append({"params": vectors, "weight_decay": 0.0})
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    fused = trained[0].device.type in ("cpu", "cuda")
    return kind(groups, lr=0.0, betas=config.betas, eps=1e-9, fused=fused)


class Updater:
    """Applies updates to a model.

    Its state is that of the optimizer, that of fp16's loss scaler.
    """

    def __init__(
        self, config: TrainConfig, model: Transformer, precision: Precision, world: World
    ) -> None:
        self.config = config
        self.model = model
        self.dtype = dtype_of(precision)
        self.world = world
        self.optimizer = make_optimizer(config, model)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=precision == "fp16")
        self.splitter = Splitter()

    def apply(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Updated:
        """Apply update number `update` (from 1), on this rank's batches.

        `total_tokens` counts the target tokens of all ranks: the gradient is that of the mean loss
        over all of them, however they are split into batches and ranks. If the loss or the gradient
        is not finite, the parameters stay as they are.
        """
        loss = self._backward_within_memory(update, batches, total_tokens)
        # Sum before unscaling: what is infinite on one rank is then infinite on all.
        self.world.sum_gradients(self.model)
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm or math.inf)
        loss = self.world.sum(loss)
        applied = bool(torch.isfinite(norm)) and math.isfinite(loss)
        self._step(update, applied)
        return Updated(loss, float(norm), total_tokens, applied)

    def _backward_within_memory(
        self, update: int, batches: Sequence[Batch], total_tokens: int
    ) -> float:
        """Compute the gradient, from now on in smaller parts if it does not fit in memory."""
        while True:
            loss = self._backward_if_it_fits(update, batches, total_tokens)
            if loss is not None:
                return loss
            self.optimizer.zero_grad(set_to_none=True)
            self.splitter.halve()

    def _backward_if_it_fits(
        self, update: int, batches: Sequence[Batch], total_tokens: int
    ) -> float | None:
        """This rank's share of the loss, or None. The error holds tensors until this returns."""
        try:
            return self._backward(update, batches, total_tokens)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            return None

    def _backward(self, update: int, batches: Sequence[Batch], total_tokens: int) -> float:
        world = self.world
        smoothing = self.config.label_smoothing
        total = torch.zeros((), device=world.device)
        scale = self.scaler.scale(torch.tensor(1 / total_tokens, device=world.device))
        for number, batch in enumerate(batches):
            seed_update(self.config.seed, update, number * world.size + world.rank)
            for part in self.splitter.parts(batch):
                logits = logits_of(self.model, part, self.dtype)  # [n,V]
                gradient = torch.empty_like(logits)
                total += cross_entropy(logits.detach(), part.labels, smoothing, gradient, scale)
                logits.backward(gradient)
        return total.item() / total_tokens

    def _step(self, update: int, applied: bool) -> None:
        rate = learning_rate(self.config, self.model.config.d_model, update)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if applied or self.scaler.is_enabled():  # the scaler itself skips an infinite gradient
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    @property
    def is_settling(self) -> bool:
        """Whether fp16's loss scale is still falling to where gradients are finite."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > 1.0

    def state(self) -> dict[str, object]:
        """What resuming needs."""
        return {
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from the state that `state()` gave.

        How much fits in memory is learned anew: this may be another machine, or the memory free again.
        """
        self.optimizer.load_state_dict(state["optimizer"])
        if self.scaler.is_enabled() and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])

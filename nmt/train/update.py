"""One update of the parameters. Chance and schedule are functions of (seed, update).

Shapes: B pairs, T target positions, n target tokens that are no padding, V target vocabulary.
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
from nmt.train.splitting import Room, is_out_of_memory


@dataclass(frozen=True)
class Updated:
    """What an update saw: mean loss a target token, norm of the whole gradient, tokens; whether it was applied."""

    loss: float
    gradient_norm: float
    tokens: int
    applied: bool


def learning_rate(config: TrainConfig, d_model: int, update: int) -> float:
    """The rate of update number `update`, counted from 1.

    noam is Vaswani et al. (2017), §5.3, times peak_lr; inverse_sqrt has the same shape with its peak at peak_lr.
    """
    warm = min(1.0, update / config.warmup) if config.warmup else 1.0
    if config.schedule == "noam":
        return config.peak_lr * d_model**-0.5 * min(update**-0.5, update * config.warmup**-1.5)
    if config.schedule == "inverse_sqrt":
        return config.peak_lr * min(warm, math.sqrt(config.warmup / update))
    if config.schedule == "cosine" and update > config.warmup:
        done = (update - config.warmup) / max(1, config.updates - config.warmup)
        return config.peak_lr * (1 + math.cos(math.pi * min(1.0, done))) / 2
    return config.peak_lr * warm


def seed_update(seed: int, update: int, number: int) -> None:
    """Set torch's chance for a batch, counted over all ranks: its dropout depends on nothing before it."""
    digest = hashlib.blake2b(f"{seed} {update} {number}".encode(), digest_size=8).digest()
    torch.manual_seed(int.from_bytes(digest) >> 1)


def make_optimizer(config: TrainConfig, model: nn.Module) -> torch.optim.Optimizer:
    """Adam or AdamW; weight decay on matrices only, not on biases and norms."""
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices, vectors = [p for p in trained if p.dim() > 1], [p for p in trained if p.dim() <= 1]
    decays = ((matrices, config.weight_decay), (vectors, 0.0))
    groups = [
        {"params": parameters, "weight_decay": decay} for parameters, decay in decays if parameters
    ]
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    fused = trained[0].device.type in ("cpu", "cuda")
    return kind(groups, lr=0.0, betas=config.betas, eps=1e-9, fused=fused)


class Updater:
    """Applies updates to a model; its state is the optimizer's, in fp16 the scaler's, and what fits in memory."""

    def __init__(
        self, config: TrainConfig, model: Transformer, precision: Precision, world: World
    ) -> None:
        self.config, self.model, self.dtype, self.world = config, model, dtype_of(precision), world
        self.optimizer = make_optimizer(config, model)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=precision == "fp16")
        self.room = Room()

    def apply(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Updated:
        """Update number `update` (from 1) on this rank's batches.

        `total_tokens` counts the target tokens of all ranks, so that the gradient is that of the mean loss over all
        of them, however they are split into batches and ranks. Where it or the gradient is not finite, nothing changes.
        What does not fit in memory is computed in smaller parts, from then on.
        """
        while (loss := self._backward_if_it_fits(update, batches, total_tokens)) is None:
            self.optimizer.zero_grad(set_to_none=True)
            self.room.halve()
        self.world.sum_gradients(
            self.model
        )  # before unscaling: what is infinite on one rank is so on all
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm or math.inf)
        loss = self.world.sum(loss)
        applied = bool(torch.isfinite(norm)) and math.isfinite(loss)
        rate = learning_rate(self.config, self.model.config.d_model, update)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if applied or self.scaler.is_enabled():
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return Updated(loss, float(norm), total_tokens, applied)

    def _backward_if_it_fits(
        self, update: int, batches: Sequence[Batch], total_tokens: int
    ) -> float | None:
        try:
            return self._backward(update, batches, total_tokens)
        except RuntimeError as error:  # it holds what is in memory, until this function ends
            if not is_out_of_memory(error):
                raise
            return None

    def _backward(self, update: int, batches: Sequence[Batch], total_tokens: int) -> float:
        loss = torch.zeros((), device=self.world.device)
        scale = self.scaler.scale(torch.tensor(1 / total_tokens, device=self.world.device))
        for number, batch in enumerate(batches):
            seed_update(self.config.seed, update, number * self.world.size + self.world.rank)
            for part in self.room.parts(batch):
                logits = logits_of(self.model, part, self.dtype)
                gradient = torch.empty_like(logits)
                loss += cross_entropy(
                    logits.detach(), part.labels, self.config.label_smoothing, gradient, scale
                )
                logits.backward(gradient)
        return loss.item() / total_tokens

    @property
    def is_settling(self) -> bool:
        """Whether fp16's loss scale is still being lowered to where gradients are finite, as it is at first."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > 1.0

    def state(self) -> dict[str, object]:
        """What resuming needs."""
        optimizer, scaler = self.optimizer.state_dict(), self.scaler.state_dict()
        return {"optimizer": optimizer, "scaler": scaler, "room": self.room.positions}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take up the state of `state()`."""
        self.room.positions = state.get("room")
        self.optimizer.load_state_dict(state["optimizer"])
        if self.scaler.is_enabled() and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])

"""One update of the parameters. Chance and schedule are functions of (seed, update).

Shapes: B pairs, T target positions, n target tokens that are no padding, V target vocabulary.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from nmt.config import TrainConfig
from nmt.corpus.batching import Batch
from nmt.model.device import Precision, dtype_of
from nmt.model.transformer import Transformer
from nmt.train.distributed import World
from nmt.train.loss import cross_entropy, logits_of


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


def seed_update(seed: int, update: int, rank: int) -> None:
    """Set torch's chance, so that an update's dropout depends on nothing before it."""
    digest = hashlib.blake2b(f"{seed} {update} {rank}".encode(), digest_size=8).digest()
    torch.manual_seed(int.from_bytes(digest) >> 1)


def make_optimizer(config: TrainConfig, model: nn.Module) -> torch.optim.Optimizer:
    """Adam or AdamW; weight decay on matrices only, not on biases and norms."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in trained if p.dim() <= 1], "weight_decay": 0.0},
    ]
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    fused = trained[0].device.type in ("cpu", "cuda")
    return kind([g for g in groups if g["params"]], lr=0.0, betas=config.betas, eps=1e-9, fused=fused)


class Updater:
    """Applies updates to a model; its state is the optimizer's (and, in fp16, the scaler's)."""

    def __init__(self, config: TrainConfig, model: Transformer, precision: Precision, world: World) -> None:
        self.config, self.model, self.dtype, self.world = config, model, dtype_of(precision), world
        self.optimizer = make_optimizer(config, model)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=precision == "fp16")

    def apply(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Updated:
        """Update number `update` (from 1) on this rank's batches.

        `total_tokens` counts the target tokens of all ranks, so that the gradient is that of the mean loss over all
        of them, however they are split into batches and ranks. Not-finite gradients change nothing.
        """
        seed_update(self.config.seed, update, self.world.rank)
        loss = self._backward(batches, total_tokens)
        self.world.sum_gradients(self.model)  # before unscaling: what is infinite on one rank is so on all
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm or math.inf)
        applied = bool(torch.isfinite(norm))
        rate = learning_rate(self.config, self.model.config.d_model, update)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if applied or self.scaler.is_enabled():
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return Updated(self.world.sum(loss), float(norm), total_tokens, applied)

    def _backward(self, batches: Sequence[Batch], total_tokens: int) -> float:
        loss = torch.zeros((), device=self.world.device)
        scale = self.scaler.scale(torch.tensor(1 / total_tokens, device=self.world.device))
        for batch in batches:
            logits = logits_of(self.model, batch, self.dtype)
            gradient = torch.empty_like(logits)
            loss += cross_entropy(logits.detach(), batch.labels, self.config.label_smoothing, gradient, scale)
            logits.backward(gradient)
        return loss.item() / total_tokens

    @property
    def is_settling(self) -> bool:
        """Whether fp16's loss scale is still being lowered to where gradients are finite, as it is at first."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > 1.0

    def state(self) -> dict[str, object]:
        """What resuming needs."""
        return {"optimizer": self.optimizer.state_dict(), "scaler": self.scaler.state_dict()}

    def load_state(self, state: dict[str, dict[str, object]]) -> None:
        """Take up the state of `state()`."""
        self.optimizer.load_state_dict(state["optimizer"])
        if self.scaler.is_enabled() and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])

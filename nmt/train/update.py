"""One update of the parameters. Chance and schedule are functions of (seed, update).

A GPU computes an update while the CPU prepares the next one. So nothing here waits for a result,
except whoever asks `Started.result()`.

Shapes: n target tokens of a batch without padding, m ≥ n of them computed, V target vocabulary, R ≥ V
rows of the output.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from nmt.config.schema import TrainConfig
from nmt.errors import ModelError
from nmt.machine.device import Precision, dtype_of
from nmt.machine.oom import none_on_oom, within_memory
from nmt.model.batch import Batch
from nmt.model.mixed_precision import WorkingCopy
from nmt.model.transformer import Transformer
from nmt.train.data.micro_batches import Splitter
from nmt.train.data.word_dropout import drop_words
from nmt.train.distributed import World
from nmt.train.loss import computed_logits, cross_entropy
from nmt.train.optimizers import make_optimizers, steps_are_fused


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


class Started:
    """An update that was started, and what people should know of it. A GPU may still compute it."""

    def __init__(
        self, loss: Tensor, gradient_norm: Tensor, tokens: int, warnings: Sequence[str]
    ) -> None:
        self.warnings = warnings
        numbers = torch.stack([loss, gradient_norm])  # [2]
        is_async = not numbers.is_mps  # there nothing tells when the copy is done
        self._numbers = numbers.to("cpu", non_blocking=is_async)
        self._copied = torch.cuda.Event() if numbers.is_cuda else None
        if self._copied is not None:
            self._copied.record()
        self._tokens = tokens

    def result(self) -> Updated:
        """Wait until the update is done."""
        if self._copied is not None:
            self._copied.synchronize()
        loss, norm = self._numbers.tolist()
        return Updated(loss, norm, self._tokens, math.isfinite(loss) and math.isfinite(norm))


def learning_rate(config: TrainConfig, d_model: int, update: int) -> float:
    """The rate of update number `update`, counted from 1.

    noam is Vaswani et al. (2017), §5.3, times peak_lr; inverse_sqrt has the same shape with its
    peak at peak_lr. wsd (warm-up, stable, decay) is the constant rate with a cooldown to zero by
    1 - √ of the share done, of Hägele et al. (2024, arXiv:2405.18392, §3).
    """
    warmed_up = min(1.0, update / config.warmup) if config.warmup else 1.0
    if config.schedule == "noam":
        return config.peak_lr * d_model**-0.5 * min(update**-0.5, update * config.warmup**-1.5)
    if config.schedule == "inverse_sqrt":
        return config.peak_lr * min(warmed_up, math.sqrt(config.warmup / update))
    if config.schedule == "cosine" and update > config.warmup:
        done = (update - config.warmup) / max(1, config.updates - config.warmup)
        return config.peak_lr * (1 + math.cos(math.pi * min(1.0, done))) / 2
    if config.schedule == "wsd":
        start = config.updates - config.cooldown_updates
        done = min(1.0, max(0, update - start) / config.cooldown_updates)
        return config.peak_lr * min(warmed_up, 1 - math.sqrt(done))
    return config.peak_lr * warmed_up


def seed_update(seed: int, update: int, number: int) -> None:
    """Seed torch for batch `number` of an update, counted over all ranks.

    So its dropout depends on nothing that happened before.
    """
    digest = hashlib.blake2b(f"{seed} {update} {number}".encode(), digest_size=8).digest()
    torch.manual_seed(int.from_bytes(digest) >> 1)


class Updater:
    """Applies updates to a model.

    Its state is that of the optimizers and that of fp16's loss scaler.
    """

    def __init__(
        self, config: TrainConfig, model: Transformer, precision: Precision, world: World
    ) -> None:
        self.config = config
        self.model = model
        self.world = world
        with within_memory("the model in two precisions", "take a smaller model"):
            self.working = WorkingCopy(model, dtype_of(precision))
        self._compiles = config.compile == "auto" and world.device.type == "cuda"
        if self._compiles:
            self.working.compile()
        of_muon = torch.bfloat16 if precision == "bf16" else torch.float32
        self.optimizers = make_optimizers(config, model, of_muon)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=precision == "fp16")
        self.splitter = Splitter()
        self._warnings: list[str] = []

    def apply(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Updated:
        """Do update number `update`, as `start` describes it, and wait for the result."""
        return self.start(update, batches, total_tokens).result()

    def start(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Started:
        """Start update number `update` (from 1), on this rank's batches.

        `total_tokens` counts the target tokens of all ranks: the gradient is that of the mean loss
        over all of them, however they are split into batches and ranks. If the loss or the gradient
        is not finite, the parameters stay as they are.
        """
        self._warnings = []
        self.working.refresh()
        loss = self._backward_within_memory(update, batches, total_tokens)
        # Sum before unscaling: what is infinite on one rank is then infinite on all.
        loss = self.world.sum_gradients(self.model, loss)
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm or math.inf)
        self._step(update, torch.isfinite(norm) & torch.isfinite(loss))
        return Started(loss, norm, total_tokens, self._warnings)

    def _backward_within_memory(
        self, update: int, batches: Sequence[Batch], total_tokens: int
    ) -> Tensor:
        """Compute the gradient, from now on in smaller parts if it does not fit in memory."""
        capacity = self.splitter.capacity
        while (loss := self._backward_if_it_fits(update, batches, total_tokens)) is None:
            self._drop_gradients()
            self.splitter.halve()
        if self.splitter.capacity != capacity:
            effect = f"larger batches are split at {self.splitter.capacity} positions"
            self._warnings.append(f"it did not fit in memory; {effect}")
        return loss

    def _backward_if_it_fits(
        self, update: int, batches: Sequence[Batch], total_tokens: int
    ) -> Tensor | None:
        """This rank's share of the loss, or None; without torch's compiler once that has failed."""
        try:
            return none_on_oom(partial(self._backward, update, batches, total_tokens))
        except RuntimeError as error:
            if not self._compiles:
                raise
            self._stop_compiling(error)
        self._drop_gradients()
        return self._backward_if_it_fits(update, batches, total_tokens)

    def _stop_compiling(self, error: RuntimeError) -> None:
        """From now on compute without torch.compile, which has failed or will soon fail again."""
        self._compiles = False
        reason = str(error).strip().splitlines()[0]
        self._warnings.append(f"torch.compile failed ({reason}); training goes on without it")
        self.working = WorkingCopy(self.model, self.working.model.dtype)
        self.working.refresh()

    def _drop_gradients(self) -> None:
        self.model.zero_grad(set_to_none=True)
        self.working.model.zero_grad(set_to_none=True)

    def _backward(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Tensor:
        world = self.world
        total = torch.zeros((), device=world.device)
        # Filled on the device: to copy a number to a GPU is to wait for it.
        scale = self.scaler.scale(torch.full((), 1 / total_tokens, device=world.device))
        for number, batch in enumerate(batches):
            seed_update(self.config.seed, update, number * world.size + world.rank)
            words_left = drop_words(batch, self.config.word_dropout)
            for part in self.splitter.parts(words_left):
                total += self._backward_part(part, scale)
                self.working.hand_over_gradients()
        return total / total_tokens

    def _backward_part(self, part: Batch, scale: Tensor) -> Tensor:
        """The sum of the loss over the tokens of one part; its gradient arrives in the working copy."""
        logits = computed_logits(self.working.model, part)  # [m,R]
        gradient = logits.detach()  # in the same memory: nothing needs the logits any more
        real = gradient[: part.tokens, : self.model.tgt_tokens]  # [n,V]
        loss = cross_entropy(real, part.labels, self.config.label_smoothing, real, scale)
        gradient[part.tokens :] = 0
        gradient[:, self.model.tgt_tokens :] = 0
        logits.backward(gradient)
        return loss

    def _step(self, update: int, is_finite: Tensor) -> None:
        rate = learning_rate(self.config, self.model.config.d_model, update)
        with within_memory("the optimizer's state", "take a smaller model"):
            for optimizer in self.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate
                self._step_one(optimizer, is_finite)
        self.scaler.update()

    def _step_one(self, optimizer: torch.optim.Optimizer, is_finite: Tensor) -> None:
        """Apply the gradients if they are all finite; only where the optimizer cannot tell, wait for the device."""
        if steps_are_fused(is_finite.device):
            # As the scaler does: such optimizers change nothing where `found_inf` is 1.
            optimizer.found_inf = (~is_finite).float()  # type: ignore[attr-defined]
            optimizer.step()
        elif is_finite:
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    @property
    def is_settling(self) -> bool:
        """Whether fp16's loss scale is still falling to where gradients are finite."""
        return self.scaler.is_enabled() and self.scaler.get_scale() > 1.0

    def state(self) -> dict[str, object]:
        """What resuming needs."""
        return {
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "scaler": self.scaler.state_dict(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from the state that `state()` gave.

        How much fits in memory is found out anew: it may be another machine. Raises ModelError if
        other optimizers gave it.
        """
        states = state["optimizers"]
        if len(states) != len(self.optimizers):
            raise ModelError(
                f"the checkpoint was not trained with train.optimizer={self.config.optimizer}; "
                "set it as it was, or train with --overwrite"
            )
        with within_memory("the optimizer's state", "take a smaller model"):
            for optimizer, its_state in zip(self.optimizers, states, strict=True):
                optimizer.load_state_dict(its_state)
        if self.scaler.is_enabled() and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])

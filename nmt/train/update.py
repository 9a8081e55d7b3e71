"""One update of the parameters. Chance and schedule are functions of (seed, update).

A GPU computes an update while the CPU prepares the next one. So nothing here waits for a result,
except whoever asks `PendingUpdate.result()`.

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
from nmt.machine.oom import within_memory
from nmt.model.batch import Batch
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.transformer import Transformer
from nmt.train.data.micro_batches import MicroBatcher
from nmt.train.data.word_dropout import drop_words
from nmt.train.distributed import World
from nmt.train.fallbacks import Fallbacks
from nmt.train.loss import computed_logits, cross_entropy
from nmt.train.optimizers import make_optimizers, step_if
from nmt.train.schedule import learning_rate


@dataclass(frozen=True)
class UpdateResult:
    """What an update saw, over all ranks, and whether it was applied.

    `loss` is the mean of a target token, `gradient_norm` is the norm of the whole gradient before
    clipping, `tokens` counts the target tokens.
    """

    loss: float
    gradient_norm: float
    tokens: int
    applied: bool


class PendingUpdate:
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

    def result(self) -> UpdateResult:
        """Wait until the update is done."""
        if self._copied is not None:
            self._copied.synchronize()
        loss, norm = self._numbers.tolist()
        return UpdateResult(loss, norm, self._tokens, math.isfinite(loss) and math.isfinite(norm))


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
            self.low_precision = LowPrecisionCopy(model, dtype_of(precision))
        of_muon = torch.bfloat16 if precision == "bf16" else torch.float32
        self.optimizers = make_optimizers(config, model, of_muon)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=precision == "fp16")
        self.micro_batcher = MicroBatcher()
        compiles = config.compile == "auto" and world.device.type == "cuda"
        if compiles:
            self.low_precision.compile()
        self.fallbacks = Fallbacks(
            self.micro_batcher, self._drop_gradients, self.stop_compiling if compiles else None
        )

    def apply(self, update: int, batches: Sequence[Batch], total_tokens: int) -> UpdateResult:
        """Do update number `update`, as `start` describes it, and wait for the result."""
        return self.start(update, batches, total_tokens).result()

    def start(self, update: int, batches: Sequence[Batch], total_tokens: int) -> PendingUpdate:
        """Start update number `update` (from 1), on this rank's batches.

        `total_tokens` counts the target tokens of all ranks: the gradient is that of the mean loss
        over all of them, however they are split into batches and ranks. If the loss or the gradient
        is not finite, the parameters stay as they are.
        """
        self.low_precision.refresh()
        loss, warnings = self.fallbacks.compute(
            partial(self._forward_backward, update, batches, total_tokens)
        )
        # Sum before unscaling: what is infinite on one rank is then infinite on all.
        loss = self.world.sum_gradients(self.model, loss)
        norm = self._unscale_and_clip()
        self._step(update, torch.isfinite(norm) & torch.isfinite(loss))
        return PendingUpdate(loss, norm, total_tokens, warnings)

    def _forward_backward(self, update: int, batches: Sequence[Batch], total_tokens: int) -> Tensor:
        """Compute the gradient of this rank's batches; gives their share of the loss."""
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

    def _unscale_and_clip(self) -> Tensor:
        """Clip the gradient to `clip_norm`; gives its norm before."""
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
        most = self.config.clip_norm or math.inf
        return nn.utils.clip_grad_norm_(self.model.parameters(), most)

    def _step(self, update: int, is_finite: Tensor) -> None:
        """Apply the gradients if they are all finite."""
        rate = learning_rate(self.config, self.model.config.d_model, update)
        with within_memory("the optimizer's state", "take a smaller model"):
            for optimizer in self.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate
                step_if(optimizer, is_finite)
        self.scaler.update()

    def _drop_gradients(self) -> None:
        self.model.zero_grad(set_to_none=True)
        self.low_precision.model.zero_grad(set_to_none=True)

    def stop_compiling(self) -> None:
        """From now on compute without torch.compile."""
        self.low_precision = LowPrecisionCopy(self.model, self.low_precision.model.dtype)
        self.low_precision.refresh()

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

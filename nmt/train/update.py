"""One update of the parameters. Chance and schedule are functions of (seed, update).

A GPU computes an update while the CPU prepares the next one. So nothing here waits for a result,
except whoever asks `PendingUpdate.result()`. How gradients are computed is in `padded_update.py` and
`packed_update.py`.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from nmt.config.schema import TrainConfig
from nmt.errors import ModelError
from nmt.machine.device import Precision, dtype_of
from nmt.machine.oom import within_memory
from nmt.model.batch import Batch
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.packed_batch import PackedBatch
from nmt.model.transformer import Transformer
from nmt.train.distributed import World
from nmt.train.fallbacks import Fallbacks
from nmt.train.optimizers import make_optimizers
from nmt.train.schedule import learning_rate

AnyBatch = TypeVar("AnyBatch", Batch, PackedBatch)


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
        self,
        loss: Tensor,
        gradient_norm: Tensor,
        tokens: int,
        warnings: Sequence[str],
        notes: Sequence[str] = (),
    ) -> None:
        self.warnings = warnings
        self.notes = notes
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


class Updater(ABC, Generic[AnyBatch]):
    """Applies updates to a model.

    Its state is that of the optimizers and that of fp16's loss scaler.
    """

    fallbacks: Fallbacks  # what to do where a gradient cannot be computed as planned

    def __init__(
        self,
        config: TrainConfig,
        model: Transformer,
        precision: Precision,
        world: World,
        records: bool = False,
    ) -> None:
        """`records` says whether a CUDA graph will hold the steps of the optimizers."""
        self._records_steps = records
        self.config = config
        self.model = model
        self.world = world
        with within_memory("the model in two precisions", "take a smaller model"):
            self.low_precision = LowPrecisionCopy(model, dtype_of(precision))
        of_muon = torch.bfloat16 if precision == "bf16" else torch.float32
        self.optimizers = make_optimizers(config, model, of_muon, records)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=precision == "fp16")

    def apply(self, update: int, batches: Sequence[AnyBatch], total_tokens: int) -> UpdateResult:
        """Do update number `update`, as `start` describes it, and wait for the result."""
        return self.start(update, batches, total_tokens).result()

    def start(self, update: int, batches: Sequence[AnyBatch], total_tokens: int) -> PendingUpdate:
        """Start update number `update` (from 1), on this rank's batches.

        `total_tokens` counts the target tokens of all ranks: the gradient is that of the mean loss
        over all of them, however they are split into batches and ranks. If the loss or the gradient
        is not finite, the parameters stay as they are.
        """
        loss, warnings = self.fallbacks.compute(
            partial(self._forward_backward, update, batches, total_tokens)
        )
        # Sum before unscaling: what is infinite on one rank is then infinite on all.
        loss = self.world.sum_gradients(self.model, loss)
        rate = learning_rate(self.config, self.model.config.d_model, update)
        with within_memory("the optimizer's state", "take a smaller model"):
            norm = self._clip_and_step(loss, rate)
        return PendingUpdate(loss, norm, total_tokens, warnings, self._notes())

    @abstractmethod
    def _forward_backward(
        self, update: int, batches: Sequence[AnyBatch], total_tokens: int
    ) -> Tensor:
        """Compute the gradient of this rank's batches; gives their share of the loss."""

    @abstractmethod
    def _clip_and_step(self, loss: Tensor, rate: float) -> Tensor:
        """Clip the gradient to `clip_norm` and apply it if all is finite; gives its norm before."""

    def _notes(self) -> Sequence[str]:
        """What people should know after an update, beside warnings."""
        return ()

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
                for group in optimizer.param_groups:
                    if "capturable" in group:
                        group["capturable"] = self._records_steps
        if self.scaler.is_enabled() and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])

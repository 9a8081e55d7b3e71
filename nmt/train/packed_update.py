"""Gradients of packed batches: all of one shape, compiled, recorded on a GPU and replayed.

So the CPU starts an update with two calls, however many kernels it has. Where nothing can be recorded, the same
work runs step by step.

Shapes: R_t target rows of a batch, V target vocabulary, R ≥ V rows of the output.
"""

import math
import time
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from nmt.config.schema import Config, TrainConfig
from nmt.machine.device import Precision, dtype_of
from nmt.model.kernels.packed_attention import attends_packed
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.packed_batch import PackedBatch, PackedShape, pairs_in
from nmt.model.transformer import Transformer
from nmt.train.data.micro_batches import PackedSplitter
from nmt.train.data.word_dropout import drop_packed_words
from nmt.train.distributed import World
from nmt.train.fallbacks import Fallbacks
from nmt.train.loss import packed_cross_entropy
from nmt.train.optimizers import step_if
from nmt.train.recording import Recording
from nmt.train.update import Updater, seed_update


def trains_packed(config: Config, precision: Precision, world: World) -> bool:
    """Whether a training can take packed batches, as far as is known before it begins."""
    model = config.model
    if config.train.compile == "off" or model.attention_dropout:  # the kernel has no dropout
        return False
    return attends_packed(world.device, dtype_of(precision), model.d_model // model.heads)


class PackedUpdater(Updater[PackedBatch]):
    """Keeps what it reads and writes at fixed places, as recordings need it."""

    def __init__(
        self, config: TrainConfig, model: Transformer, precision: Precision, world: World
    ) -> None:
        super().__init__(config, model, precision, world, records=True)
        self.splitter = PackedSplitter()
        self._loss = torch.zeros((), device=world.device)
        self._norm = torch.zeros((), device=world.device)
        self._scale = torch.zeros((), device=world.device)
        self._rate = torch.zeros((), device=world.device)
        self._trained = [p for p in model.parameters() if p.requires_grad]
        self._gradients = [torch.zeros_like(parameter) for parameter in self._trained]
        for parameter, gradient in zip(self._trained, self._gradients, strict=True):
            parameter.grad = gradient
        self._cross_entropy = packed_cross_entropy
        self._inputs: dict[PackedShape, Tensor] = {}
        self._begin_recording(records=world.device.type == "cuda")
        if self._records:
            self._compile()
        self._begun: float | None = None
        self._is_ready = False
        self.fallbacks = Fallbacks(self.splitter, self._drop_gradients, self.stop_compiling)

    def _compile(self) -> None:
        """Let torch compile the layers and the loss, at the first update."""
        self.low_precision.compile()
        self._cross_entropy = torch.compile(packed_cross_entropy, dynamic=False)

    def _begin_recording(self, records: bool) -> None:
        """From now on record the work, or none of it; what was recorded is forgotten."""
        self._records = records
        self._recordings: dict[tuple[PackedShape, bool], Recording] = {}
        self._step = Recording(self._clip_and_step_in_place, records)

    def _forward_backward(
        self, update: int, batches: Sequence[PackedBatch], total_tokens: int
    ) -> Tensor:
        if self._begun is None:
            self._begun = time.monotonic()
        world = self.world
        self._loss.zero_()
        self._scale.fill_(1 / total_tokens)
        is_first = True
        for number, batch in enumerate(batches):
            seed_update(self.config.seed, update, number * world.size + world.rank)
            for part in self.splitter.parts(batch):
                self._input(part.shape).copy_(part.values, non_blocking=True)
                self._recording(part.shape, is_first).run()
                is_first = False
        return self._loss

    def _input(self, shape: PackedShape) -> Tensor:
        """Where recordings for this shape read their batch."""
        if shape not in self._inputs:
            size = sum(shape.sizes)
            self._inputs[shape] = torch.zeros(size, dtype=torch.int32, device=self.world.device)
        return self._inputs[shape]

    def _recording(self, shape: PackedShape, is_first: bool) -> Recording:
        key = (shape, is_first)
        if key not in self._recordings:
            work = partial(self._part_forward_backward, shape, is_first)
            self._recordings[key] = Recording(work, self._records)
        return self._recordings[key]

    def _part_forward_backward(self, shape: PackedShape, is_first: bool) -> None:
        """Add the loss of the batch that lies in the input, and its gradient."""
        self.low_precision.refresh()
        self.low_precision.forget_gradients()  # of an attempt that failed
        pairs = drop_packed_words(pairs_in(self._input(shape), shape), self.config.word_dropout)
        logits = self.low_precision.model.packed(pairs)  # [R_t,R]
        loss, gradient = self._cross_entropy(
            logits.detach(),
            pairs.labels,
            self.model.tgt_tokens,
            self.config.label_smoothing,
            self._scale,
        )
        logits.backward(gradient)
        self.low_precision.hand_over_gradients(replacing=is_first)
        self._loss.add_(loss)

    def _clip_and_step(self, loss: Tensor, rate: float) -> Tensor:
        self._rate.fill_(rate)
        self._step.run()
        return self._norm

    def _clip_and_step_in_place(self) -> None:
        most = self.config.clip_norm or math.inf
        self._norm.copy_(nn.utils.clip_grad_norm_(self._trained, most))
        is_finite = torch.isfinite(self._norm) & torch.isfinite(self._loss)
        for optimizer in self.optimizers:
            step_if(optimizer, self._rate, is_finite)
        torch._foreach_zero_(self._gradients)

    def _notes(self) -> Sequence[str]:
        """How long it took to get ready, once that is so; and what could not be recorded."""
        if self._is_ready or self._begun is None:
            return ()
        recordings = [self._step, *self._recordings.values()]
        failures = {each.failure for each in recordings if each.failure}
        if not failures and not self._step.is_replayed:
            return ()
        self._is_ready = True
        if failures:
            return [f"not recorded ({', '.join(failures)}); the GPU waits for the CPU"]
        return [f"compiled and recorded in {time.monotonic() - self._begun:.0f} s"]

    def _drop_gradients(self) -> None:
        """Begin an update anew; what was recorded for other shapes is not needed any more."""
        self._recordings.clear()
        torch._foreach_zero_(self._gradients)

    def stop_compiling(self) -> None:
        """From now on compute without torch.compile, and record nothing."""
        self.low_precision = LowPrecisionCopy(self.model, self.low_precision.model.dtype)
        self._cross_entropy = packed_cross_entropy
        self._begin_recording(records=False)

"""Layers in another dtype beside weights in float32 (mixed precision: Micikevicius et al., 2018)."""

from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from nmt.model.transformer import Transformer

# A GPU's matrix units want the rows of a 16-bit matrix in multiples of 8; its tiles have 64.
_ROW_MULTIPLE = 64


class LowPrecisionCopy:
    """A Transformer in `dtype` that computes for `master`, the model whose weights are trained.

    Embeddings and learned positions are shared with the master, not copied: the gradient of a
    frequent token is a sum over many positions. In the master's own dtype everything is shared. On
    a GPU the output matrix has empty rows at its end, so that their number suits the hardware:
    logits [..., R] are of R ≥ V tokens, of which only the first V exist.
    """

    def __init__(self, master: Transformer, dtype: torch.dtype) -> None:
        is_other = dtype != master.dtype
        shared = _embeddings(master) if is_other else list(master.parameters())
        self.model = deepcopy(master, {id(parameter): parameter for parameter in shared}).train()
        self._masters: list[Tensor] = []
        self._copies: list[Tensor] = []
        self._shared = {id(parameter) for parameter in shared}
        if is_other:
            self._separate_output()
            self._narrow(master, dtype)

    def _separate_output(self) -> None:
        """Give the output a matrix of its own, where it has shared that of an embedding."""
        output = self.model.output
        rows = len(output.weight)
        wanted = _rows(rows, output.weight)
        output.weight = _with_rows(output.weight, wanted)
        if output.bias is not None:
            output.bias = _with_rows(output.bias, wanted)

    def _narrow(self, master: Transformer, dtype: torch.dtype) -> None:
        """Put into `dtype` what is not shared, and note what belongs to which."""
        in_master = dict(master.named_parameters(remove_duplicate=False))
        for name, copy in self.model.named_parameters(remove_duplicate=False):
            if copy is not in_master[name]:
                copy.data = copy.data.to(dtype)
                self._masters.append(in_master[name])
                self._copies.append(copy)

    def compile(self) -> None:
        """Let torch compile the layers that read packed sentences, at their first call: one graph for each kind."""
        for part in [self.model.src_embedding, self.model.tgt_embedding]:
            part.packed = torch.compile(part.packed, dynamic=False)  # type: ignore[method-assign]
        for layer in [*self.model.encoder, *self.model.decoder]:
            layer.packed = torch.compile(layer.packed, dynamic=False)

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the master's weights, as they are now."""
        if self._copies:
            in_use = [
                copy[: len(master)]
                for copy, master in zip(self._copies, self._masters, strict=True)
            ]
            torch._foreach_copy_(in_use, self._masters)

    def forget_gradients(self) -> None:
        """Drop the gradients that were not handed over."""
        for copy in self._copies:
            copy.grad = None

    @torch.no_grad()
    def hand_over_gradients(self, replacing: bool = False) -> None:
        """Add the gradients to the master's, in its dtype, and forget them here.

        With `replacing` the master's were of another update, but for those of what is shared.
        """
        first = _Pairs()  # one call of torch for many tensors: a GPU waits for the CPU otherwise
        further = _Pairs()
        for master, copy in zip(self._masters, self._copies, strict=True):
            if copy.grad is None:
                continue
            pairs = further
            if master.grad is None:
                master.grad = torch.empty_like(master)
                pairs = first
            elif replacing and id(master) not in self._shared:
                pairs = first
            pairs.into.append(master.grad)
            pairs.taken.append(copy.grad[: len(master)])
            copy.grad = None
        if first.into:
            torch._foreach_copy_(first.into, first.taken)
        if further.into:
            torch._foreach_add_(further.into, further.taken)


@dataclass
class _Pairs:
    """Tensors, and what is to be put into each."""

    into: list[Tensor] = field(default_factory=list)
    taken: list[Tensor] = field(default_factory=list)


def _embeddings(model: Transformer) -> list[Tensor]:
    shared: list[Tensor] = []
    for embedding in (model.src_embedding, model.tgt_embedding):
        shared.append(embedding.tokens.weight)
        if isinstance(embedding.positions, nn.Parameter):
            shared.append(embedding.positions)
    return shared


def _rows(rows: int, weight: Tensor) -> int:
    """How many rows the output matrix gets on its device."""
    if weight.device.type == "cpu":
        return rows
    return -(-rows // _ROW_MULTIPLE) * _ROW_MULTIPLE


def _with_rows(parameter: Tensor, rows: int) -> nn.Parameter:
    """A copy, frozen or not as the parameter is, with zeros in further rows: [V, ...] → [rows, ...]."""
    values = parameter.detach()
    larger = values.new_zeros(rows, *values.shape[1:])
    larger[: len(values)] = values
    return nn.Parameter(larger, requires_grad=parameter.requires_grad)

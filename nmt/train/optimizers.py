"""What turns gradients into changes of the parameters: Adam, AdamW, or Muon with AdamW.

Shapes: k matrices of one shape [o,i], stacked as [k,o,i].
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nmt.config.schema import TrainConfig
from nmt.model.linear import Linear
from nmt.model.transformer import Transformer

_MOMENTUM = 0.95
# a, b, c of the steps x ← a·x + b·(x xᵀ)x + c·(x xᵀ)²x: the first four of Amsel et al. (2025, arXiv:2505.16932),
# after which singular values that began between 0.001 and 1 are between 0.44 and 1.56.
_STEPS = (
    (8.287212, -23.595887, 17.300387),
    (4.107059, -2.947850, 0.544843),
    (3.948691, -2.908902, 0.551819),
    (3.318420, -2.488488, 0.510049),
)
_MARGIN = 1.01  # for rounding: larger values would grow without bound
# The root mean square of an update of AdamW, about; so one learning rate suits both (Liu et al., 2025, §2.2).
_SIZE = 0.2


def make_optimizers(
    config: TrainConfig,
    model: nn.Module,
    dtype: torch.dtype = torch.float32,
    is_recorded: bool = False,
) -> list[torch.optim.Optimizer]:
    """The optimizers of a model's trained parameters: with muon a second one, for the matrices of its layers.

    Only matrices decay; biases and norms do not. `dtype` is that of Muon's products. `is_recorded` says that a CUDA
    graph will hold their steps.
    """
    layers = list(_layers(model)) if config.optimizer == "muon" else []
    in_layers = {id(layer.weight) for layer in layers}
    rest = [p for p in model.parameters() if p.requires_grad and id(p) not in in_layers]
    optimizers = [_adam(config, rest, is_recorded)] if rest else []
    if layers:
        optimizers.append(Muon(layers, config.weight_decay, dtype))
    return optimizers


def _layers(model: nn.Module) -> Iterator[Linear]:
    """What maps states to states in the layers: neither embeddings nor the output."""
    outer = {id(model.output)} if isinstance(model, Transformer) else set()
    for module in model.modules():
        if isinstance(module, Linear) and id(module) not in outer and module.weight.requires_grad:
            yield module


def _adam(
    config: TrainConfig, parameters: list[nn.Parameter], is_recorded: bool
) -> torch.optim.Optimizer:
    matrices = [p for p in parameters if p.dim() > 1]
    vectors = [p for p in parameters if p.dim() <= 1]
    groups = []
    if matrices:
        groups.append({"params": matrices, "weight_decay": config.weight_decay})
    if vectors:
        groups.append({"params": vectors, "weight_decay": 0.0})
    kind = torch.optim.Adam if config.optimizer == "adam" else torch.optim.AdamW
    fused = steps_are_fused(parameters[0].device)
    return kind(groups, lr=0.0, betas=config.betas, eps=1e-9, fused=fused, capturable=is_recorded)


def steps_are_fused(device: torch.device) -> bool:
    """Whether torch has optimizers that do all in one call; on MPS they ignore `found_inf`."""
    return device.type != "mps"


def step_if(optimizer: torch.optim.Optimizer, rate: float | Tensor, is_finite: Tensor) -> None:
    """Apply the gradients if `is_finite`; only where the optimizer cannot tell, wait for the device."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    if steps_are_fused(is_finite.device):
        # As the scaler does: such optimizers change nothing where `found_inf` is 1.
        optimizer.found_inf = (~is_finite).float()  # type: ignore[attr-defined]
        optimizer.step()
    elif is_finite:
        optimizer.step()


class Muon(torch.optim.Optimizer):
    """Momentum whose matrices are made orthogonal before they are applied.

    Jordan et al. (2024), https://kellerjordan.github.io/posts/muon/. torch.optim.Muon computes in bfloat16 alone,
    which takes a CPU without bfloat16 many times as long, and it applies gradients that are not finite. This one
    changes nothing where `found_inf` is 1, as torch's fused optimizers do. A layer that holds several matrices, such
    as those of queries, keys and values, is taken apart.
    """

    found_inf: Tensor | None = (
        None  # 1: the gradients are not finite; None: whoever steps has looked
    )

    def __init__(self, layers: list[Linear], weight_decay: float, dtype: torch.dtype) -> None:
        groups: dict[Any, dict[str, Any]] = {}
        for layer in layers:
            key = (tuple(layer.weight.shape), layer.stacked)
            group = groups.setdefault(key, {"params": [], "stacked": layer.stacked})
            group["params"].append(layer.weight)
        super().__init__(groups.values(), {"lr": 0.0, "weight_decay": weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Apply the gradients."""
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if parameters:
                self._step_alike(group, parameters)

    def _step_alike(self, group: dict[str, Any], parameters: list[nn.Parameter]) -> None:
        """Apply the gradients of parameters of the same shape."""
        if self.found_inf is None:
            is_finite = torch.ones((), dtype=torch.bool, device=parameters[0].device)
        else:
            is_finite = self.found_inf == 0
        matrices = torch.cat([self._direction(p, group["stacked"], is_finite) for p in parameters])
        updates = orthogonal(matrices.to(self.dtype)).to(matrices.dtype)  # [k,o,i]
        size = _SIZE * max(updates.shape[1:]) ** 0.5
        kept = 1 - group["lr"] * group["weight_decay"]
        step = torch.as_tensor(group["lr"] * size)
        for parameter, update in zip(parameters, updates.split(group["stacked"]), strict=True):
            changed = (parameter * kept).addcmul_(update.reshape_as(parameter), step, value=-1)
            parameter.copy_(torch.where(is_finite, changed, parameter))

    def _direction(self, parameter: nn.Parameter, stacked: int, is_finite: Tensor) -> Tensor:
        """Move the momentum towards the gradient, and give where Nesterov's would go next [stacked,o,i]."""
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        momentum: Tensor = state["momentum"]
        assert parameter.grad is not None  # noqa: S101 - the caller has looked
        gradient = torch.where(is_finite, parameter.grad, momentum)
        momentum.lerp_(gradient, 1 - _MOMENTUM)
        return gradient.lerp(momentum, _MOMENTUM).unflatten(0, (stacked, -1))


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices [k,o,i] with the same singular vectors, and singular values not far from 1.

    That serves as well as exactly 1. It takes products of matrices alone, as the iteration of Newton and Schulz does.
    """
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if is_tall else matrices
    x = x / (_MARGIN * x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for a, b, c in _STEPS:
        squares = x @ x.mT
        polynomial = torch.baddbmm(squares, squares, squares, beta=b, alpha=c)
        x = torch.baddbmm(x, polynomial, x, beta=a)
    return x.mT if is_tall else x

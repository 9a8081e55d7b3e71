"""Layer normalisation whose gradients are exact in bfloat16 too."""

from torch import Tensor, nn
from torch.nn import functional as F

from nmt.machine.device import accumulation_dtype


class LayerNorm(nn.LayerNorm):
    """torch's, but training on a CPU computes in float32 or wider.

    There torch's backward sums the gradients of weight and bias in the dtype of x, and in bfloat16
    a long sum stops growing.
    """

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape [..., d] → the same shape and dtype."""
        if not self.training or x.device.type != "cpu":
            return super().forward(x)
        inside = accumulation_dtype(x.dtype)
        weight = self.weight.to(inside)
        bias = None if self.bias is None else self.bias.to(inside)
        normed = F.layer_norm(x.to(inside), self.normalized_shape, weight, bias, self.eps)
        return normed.to(x.dtype)

"""The products of the layers."""

from torch import nn


class Linear(nn.Linear):
    """torch's, but built without values: `initialise` or a checkpoint brings them.

    It may store several matrices as one, `stacked` on top of each other: one product serves all.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool, stacked: int = 1) -> None:
        super().__init__(inputs, stacked * outputs, bias)
        self.stacked = stacked

    def reset_parameters(self) -> None:
        """Draw nothing."""

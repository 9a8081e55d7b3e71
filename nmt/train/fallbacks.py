"""Ways to go on where a gradient cannot be computed as planned: in smaller parts, or without torch's compiler."""

from collections.abc import Callable

from torch import Tensor

from nmt.machine.oom import none_on_oom
from nmt.train.data.micro_batches import Splitter


class Fallbacks:
    """Computes again what did not fit in memory, or what the compiler could not do."""

    def __init__(
        self,
        splitter: Splitter,
        drop_gradients: Callable[[], None],
        stop_compiling: Callable[[], None] | None = None,
    ) -> None:
        """`stop_compiling` is None where nothing is compiled."""
        self._splitter = splitter
        self._drop_gradients = drop_gradients
        self._stop_compiling = stop_compiling

    def compute(self, forward_backward: Callable[[], Tensor]) -> tuple[Tensor, list[str]]:
        """What is computed in the end, and warnings of what was changed for that, from now on.

        Raises UserError if a single pair does not fit in memory.
        """
        warnings: list[str] = []
        most_before = self._splitter.most_positions
        while (loss := self._attempt(forward_backward, warnings)) is None:
            self._drop_gradients()
        most = self._splitter.most_positions
        if most != most_before:
            effect = f"larger batches are split at {most} positions"
            warnings.append(f"it did not fit in memory; {effect}")
        return loss, warnings

    def _attempt(
        self, forward_backward: Callable[[], Tensor], warnings: list[str]
    ) -> Tensor | None:
        """What is computed; None if it has to be tried again, in the way that is now set."""
        try:
            loss = none_on_oom(forward_backward)
        except Exception as error:  # torch's compiler raises errors of many kinds
            if self._stop_compiling is None:
                raise
            self._stop_compiling()  # it has failed, or will soon fail again
            self._stop_compiling = None
            reason = str(error).strip().splitlines()[0]
            warnings.append(f"torch.compile failed ({reason}); training goes on without it")
            return None
        if loss is None:
            self._splitter.halve()
        return loss

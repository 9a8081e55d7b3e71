"""Whether training goes well, as a function of the updates alone: interruptions change nothing in it."""

import math
from dataclasses import dataclass, replace

from nmt.train.update import Updated

_BAD_IN_A_ROW = 5  # updates whose gradients are not finite, before training gives up
_FAR = 1.0  # nats above the lowest mean loss: no noise of batches reaches so far
_FAR_IN_A_ROW = 300  # updates
_SHARE = 0.01  # of the newest update in the mean loss
_HIGHEST = 5.0  # nats above the lowest that a single update counts for, so that an outlier is soon forgotten


@dataclass(frozen=True)
class Health:
    """How the updates so far went."""

    sound: int = 0  # the newest update with a finite gradient and no loss far above the lowest
    bad: int = 0  # updates in a row whose gradients were not finite
    far: int = 0  # updates in a row with a mean loss far above the lowest
    loss: float | None = None  # mean of the last hundred or so
    lowest: float | None = None  # that this mean has been

    def after(self, update: int, updated: Updated, settling: bool) -> "Health":
        """How they went with one more; `settling` forgives a gradient that is not finite."""
        if not (updated.applied and math.isfinite(updated.loss)):
            return self if settling else replace(self, bad=self.bad + 1)
        if self.loss is None or self.lowest is None:
            return Health(update, loss=updated.loss, lowest=updated.loss)
        loss = self.loss + _SHARE * (min(updated.loss, self.lowest + _HIGHEST) - self.loss)
        limit = self.lowest + _FAR
        sound = update if max(updated.loss, loss) < limit else self.sound
        return Health(sound, 0, self.far + 1 if loss > limit else 0, loss, min(loss, self.lowest))

    def fault(self, update: int) -> str | None:
        """Why training is to end, if it is."""
        if self.bad >= _BAD_IN_A_ROW:
            return f"{self.bad} gradients in a row, up to update {update}, were not finite"
        if self.far >= _FAR_IN_A_ROW:
            return f"the loss has diverged: {self.loss:.2f} at update {update}, and it was {self.lowest:.2f} before"
        return None

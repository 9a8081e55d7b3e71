"""Whether training goes well: a function of its updates alone, so interruptions change nothing."""

import math
from dataclasses import dataclass, replace

from nmt.train.update import UpdateResult

# Training gives up after this many updates in a row whose gradients are not finite.
_MOST_BAD = 5
# It also gives up after this many updates in a row whose mean loss is this many nats above the lowest
# mean. The noise of batches does not reach so far.
_MOST_FAR = 300
_FAR = 1.0
# The share of the newest update in the mean loss.
_SHARE = 0.01
# An update counts as at most this many nats above the lowest mean: an outlier is soon forgotten.
_MOST_ABOVE = 5.0


@dataclass(frozen=True)
class Health:
    """How the updates so far went.

    `last_sound_update` is the newest update with a finite gradient and a loss not far above the lowest. The streaks
    count the updates in a row up to now whose gradients were not finite, and whose mean loss was far above the lowest.
    `loss` is the mean of about a hundred updates, `lowest` its lowest value.
    """

    last_sound_update: int = 0
    nonfinite_streak: int = 0
    diverged_streak: int = 0
    loss: float | None = None
    lowest: float | None = None

    def after(self, update: int, updated: UpdateResult, settling: bool) -> "Health":
        """The health after one more update; while `settling`, a gradient may be infinite."""
        if not (updated.applied and math.isfinite(updated.loss)):
            return self if settling else replace(self, nonfinite_streak=self.nonfinite_streak + 1)
        if self.loss is None or self.lowest is None:
            return Health(update, loss=updated.loss, lowest=updated.loss)
        newest = min(updated.loss, self.lowest + _MOST_ABOVE)
        loss = self.loss + _SHARE * (newest - self.loss)
        limit = self.lowest + _FAR
        is_sound = max(updated.loss, loss) < limit
        return Health(
            last_sound_update=update if is_sound else self.last_sound_update,
            nonfinite_streak=0,
            diverged_streak=self.diverged_streak + 1 if loss > limit else 0,
            loss=loss,
            lowest=min(loss, self.lowest),
        )

    def fault(self, update: int) -> str | None:
        """Why training has to end after this update, or None."""
        if self.nonfinite_streak >= _MOST_BAD:
            return f"{self.nonfinite_streak} gradients in a row, up to update {update}, were not finite"
        if self.diverged_streak >= _MOST_FAR:
            now = f"{self.loss:.2f} at update {update}"
            return f"the loss has diverged: {now}, and it was {self.lowest:.2f} before"
        return None

"""Where training stands; with the weights and the optimizer's state, all that resuming needs."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from nmt.corpus.batching import Position
from nmt.train.health import Health


@dataclass(frozen=True)
class Progress:
    """After so many updates."""

    update: int = 0
    position: Position = field(default_factory=Position)
    seconds: float = 0.0
    best: str = ""  # the checkpoint that scored best
    best_score: float = math.nan
    since_best: int = 0  # validations
    health: Health = field(default_factory=Health)

    def as_json(self) -> dict[str, Any]:
        """Plain values; NaN as None."""
        return asdict(self) | {"best_score": None if math.isnan(self.best_score) else self.best_score}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Progress":
        """Undo `as_json`."""
        score = math.nan if values["best_score"] is None else values["best_score"]
        position, health = Position(**values["position"]), Health(**values.get("health", {}))
        return cls(**values | {"position": position, "best_score": score, "health": health})

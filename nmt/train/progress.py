"""Where training stands; with the weights and the optimizer's state, all that resuming needs."""

from dataclasses import dataclass, field
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
    best_score: float | None = None
    since_best: int = 0  # validations
    health: Health = field(default_factory=Health)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Progress":
        """Undo `asdict`."""
        position, health = Position(**values["position"]), Health(**values.get("health", {}))
        return cls(**values | {"position": position, "health": health})

"""How far training has come: what resuming needs besides the weights and the optimizer."""

from dataclasses import dataclass, field
from typing import Any

from nmt.train.data.batching import Position
from nmt.train.health import Health


@dataclass(frozen=True)
class Progress:
    """The state of a training after `update` updates.

    `seconds` counts all its time, reading and saving too; `best` names the checkpoint that scored best on dev,
    and `since_best` counts the validations after it.
    """

    update: int = 0
    position: Position = field(default_factory=Position)
    seconds: float = 0.0
    best: str = ""
    best_score: float | None = None
    since_best: int = 0
    health: Health = field(default_factory=Health)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Progress":
        """Undo `asdict`."""
        position = Position(**values["position"])
        health = Health(**values["health"])
        return cls(**{**values, "position": position, "health": health})

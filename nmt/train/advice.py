"""What is said of a configuration that does not fit its corpus or its machine. It is trained all the same."""

import torch

from nmt.config.schema import TrainConfig
from nmt.train.progress import Progress

# Parameters for each pair. configs/tatoeba.yaml has 360, configs/toy.yaml 300, configs/base.yaml 150 on the half
# million pairs that it is meant for, and this many on 80,000. On corpora of that size and smaller, models and
# dropout that fit them gain up to 7.3 BLEU over Transformer base (Araabi and Monz, 2020).
_MOST_PARAMETERS = 1000
# A smaller model is trained within minutes, whether it fits or not.
_SMALL = 5_000_000
# Pairs below which configs/toy.yaml is the nearer example.
_FEW = 10_000
# Seconds, and a hundred times what configs/tatoeba.yaml takes on two cores.
_LONG = 3 * 24 * 3600
# The first update of a process is slow, and so are the first batches of each shape: the pace after these seconds and
# updates counts.
_SETTLED_AFTER = 60.0
_LEAST_UPDATES = 3


def too_large(train: TrainConfig, parameters: int, pairs: int) -> str | None:
    """Advice where a corpus is too small to teach a new model of so many parameters."""
    if train.start_from is not None or parameters <= max(_SMALL, _MOST_PARAMETERS * pairs):
        return None
    example = "toy" if pairs < _FEW else "tatoeba"
    return (
        f"{parameters:,} parameters are more than {pairs:,} pairs can teach: the model will learn them by heart; "
        f"a smaller one, with more dropout, would translate better: see configs/{example}.yaml"
    )


def too_slow(
    train: TrainConfig, progress: Progress, begun: Progress, device: torch.device
) -> str | None:
    """Advice where training would take days on a CPU at the pace since `begun`, once that is known."""
    updates = progress.update - begun.update
    seconds = progress.seconds - begun.seconds
    if device.type != "cpu" or updates < _LEAST_UPDATES or seconds < _SETTLED_AFTER:
        return None
    left = (train.updates - progress.update) * seconds / updates
    if train.max_minutes is not None or left < _LONG:
        return None
    return (
        f"at this pace the updates left take {left / 86400:,.0f} days on this CPU: set train.max_minutes, use a GPU, "
        "or a smaller model (configs/tatoeba.yaml is trained within an hour)"
    )

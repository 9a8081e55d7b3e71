"""What counts as divergence, and what does not."""

import torch

from nmt.train.health import Health
from nmt.train.update import UpdateResult


def after(losses: list[float]) -> Health:
    health = Health()
    for update, loss in enumerate(losses, 1):
        health = health.after(update, UpdateResult(loss, 1.0, 100, applied=True), settling=False)
    return health


def test_neither_noise_nor_an_outlier_nor_a_plateau_is_divergence() -> None:
    chance = torch.Generator().manual_seed(1)
    noise = torch.randn(2000, generator=chance).mul(0.8).tolist()
    falling = [2 + 6 * 0.99**update + noise[update] for update in range(2000)]
    assert after(falling).fault(2000) is None
    assert after([*falling, 1e9, *falling[1000:]]).fault(3001) is None
    assert after([7.0] * 2000).fault(2000) is None
    diverged = after([*falling, *([5.0] * 500)])
    assert str(diverged.fault(2500)).startswith("the loss has diverged: 4.9")
    assert 1900 < diverged.last_sound_update <= 2000

"""The learning rate of each update: a function of its number alone."""

import math

from nmt.config.schema import TrainConfig


def learning_rate(config: TrainConfig, d_model: int, update: int) -> float:
    """The rate of update number `update`, counted from 1.

    noam is Vaswani et al. (2017), §5.3, times peak_lr; inverse_sqrt has the same shape with its
    peak at peak_lr. wsd (warm-up, stable, decay) is the constant rate with a cooldown to zero by
    1 - √ of the share done, of Hägele et al. (2024, arXiv:2405.18392, §3).
    """
    warmed_up = min(1.0, update / config.warmup) if config.warmup else 1.0
    if config.schedule == "noam":
        return config.peak_lr * d_model**-0.5 * min(update**-0.5, update * config.warmup**-1.5)
    if config.schedule == "inverse_sqrt":
        return config.peak_lr * min(warmed_up, math.sqrt(config.warmup / update))
    if config.schedule == "cosine" and update > config.warmup:
        done = (update - config.warmup) / max(1, config.updates - config.warmup)
        return config.peak_lr * (1 + math.cos(math.pi * min(1.0, done))) / 2
    if config.schedule == "wsd":
        done = min(1.0, max(0, update - config.stable_updates) / config.cooldown_updates)
        return config.peak_lr * min(warmed_up, 1 - math.sqrt(done))
    return config.peak_lr * warmed_up

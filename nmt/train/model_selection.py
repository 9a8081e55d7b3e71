"""Models are judged by their scores on dev."""

import math
from dataclasses import replace

from nmt.model.transformer import Transformer
from nmt.train.log import Log
from nmt.train.progress import Progress
from nmt.train.validation import Validator


def is_better(score: float, best: float | None, metric: str) -> bool:
    """Whether a score beats the best so far: a loss must be lower, BLEU and chrF higher."""
    if best is None:
        return not math.isnan(score)
    if metric == "loss":
        return score < best
    return score > best


class ModelSelection:
    """Measures models, logs their scores, and compares them by one metric."""

    def __init__(self, validator: Validator, log: Log, metric: str) -> None:
        self.validator = validator
        self.log = log
        self.metric = metric

    @property
    def can_measure(self) -> bool:
        """Whether dev has a pair that fits the model."""
        return len(self.validator) > 0

    def measure(
        self, model: Transformer, name: str, update: int
    ) -> tuple[dict[str, float], list[str]]:
        """The scores of checkpoint `name`, and its translations of dev."""
        scores, translations = self.validator.measure(model)
        kind = "dev" if name.startswith("step") else "average"
        self.log.record(kind, update, **scores)
        self.log.say(f"dev, {name}: {shown(scores)}")
        for source, translation, reference in self.validator.examples(translations):
            self.log.say(f"    {source}\n      → {translation}\n      = {reference}")
        return scores, translations

    def is_best(self, scores: dict[str, float], progress: Progress) -> bool:
        """Whether these scores beat the best checkpoint so far."""
        return is_better(scores[self.metric], progress.best_score, self.metric)

    def judged(self, progress: Progress, name: str, scores: dict[str, float]) -> Progress:
        """The progress after validating `name`, which is the new best or counts against patience."""
        if self.is_best(scores, progress):
            score = scores[self.metric]
            return replace(progress, best=name, best_score=score, since_best=0)
        return replace(progress, since_best=progress.since_best + 1)


def shown(scores: dict[str, float]) -> str:
    """Scores in words: `loss 2.345  bleu 12.345`."""
    return "  ".join(f"{metric} {value:.3f}" for metric, value in scores.items())

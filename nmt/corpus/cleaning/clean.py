"""What prepare does to one pair by itself: normalise, convert, filter, repair, vary; and the keys that compare it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

from nmt.chinese.typography import repair
from nmt.config.schema import AugmentConfig, Config, PrepareConfig
from nmt.corpus.cleaning.augment import variants
from nmt.corpus.cleaning.clean_pair import CleanPair, to_line
from nmt.corpus.cleaning.filters import FILTERS, RAW_FILTERS, Filter, Limits, failed
from nmt.corpus.cleaning.ledger import READ
from nmt.corpus.identity.dedupe import pair_key, side_key
from nmt.corpus.reading.pairs import SentencePair
from nmt.errors import ConfigError
from nmt.text.normalize import normalize
from nmt.text.scripts import is_traditional

# How many pairs of which corpus were read, or failed which rule.
Outcomes = Counter[tuple[int, str]]
# A pair as it was read: the number and the weight of its corpus, its source and target. A plain tuple, since a
# NamedTuple takes three times as long to reach another process.
RawPair = tuple[int, float, str, str]


@dataclass(frozen=True)
class Cleaner:
    """The settings that decide about a pair. Picklable, so that processes can share the work."""

    limits: Limits
    raw_filters: dict[str, Filter]
    filters: dict[str, Filter]
    convert_traditional: bool
    repair_typography: bool
    augment: AugmentConfig
    seed: int

    @classmethod
    def of(cls, config: Config) -> Self:
        """Take over the settings. Raises ConfigError if Traditional is to be converted without opencc."""
        settings = config.prepare
        convert_traditional = settings.traditional == "convert"
        if convert_traditional:
            converter()
        return cls(
            limits=Limits(
                languages=(config.src.language, config.tgt.language),
                max_tokens=settings.max_tokens,
                max_ratio=settings.max_ratio,
            ),
            raw_filters=RAW_FILTERS if settings.filters else {},
            filters=_filters(settings),
            convert_traditional=convert_traditional,
            repair_typography=settings.typography and config.tgt.language == "zh",
            augment=settings.augment.without_case() if config.src.lowercase else settings.augment,
            seed=settings.seed,
        )

    def for_held_out(self) -> Self:
        """A cleaner that normalises and makes keys as this one does, but passes every pair, and as it is."""
        return replace(
            self,
            raw_filters={},
            filters={},
            repair_typography=False,  # references stay as they were written
            augment=AugmentConfig(masked=0),
        )

    def __call__(self, chunk: Iterable[RawPair]) -> tuple[Outcomes, list[str]]:
        """Clean pairs; gives those that passed as lines of CleanPair."""
        outcomes: Outcomes = Counter()
        lines: list[str] = []
        src_language, tgt_language = self.limits.languages
        for corpus, weight, src, tgt in chunk:
            outcomes[corpus, READ] += 1
            raw = SentencePair(src, tgt)
            pair = SentencePair(
                self._normalized(src, src_language), self._normalized(tgt, tgt_language)
            )
            rule = self._failed_rule(raw, pair)
            if rule is None:
                lines.append(to_line(self._finished(pair, corpus, weight)))
            else:
                outcomes[corpus, rule] += 1
        return outcomes, lines

    def _normalized(self, text: str, language: str) -> str:
        """Normalised, and Traditional characters made Simplified where that is asked for."""
        text = normalize(text, language)
        if self.convert_traditional and language == "zh" and is_traditional(text):
            return str(converter().convert(text))
        return text

    def _failed_rule(self, raw: SentencePair, pair: SentencePair) -> str | None:
        return failed(raw, self.raw_filters, self.limits) or failed(pair, self.filters, self.limits)

    def _finished(self, pair: SentencePair, corpus: int, weight: float) -> CleanPair:
        tgt = repair(pair.tgt) if self.repair_typography else pair.tgt
        repaired = SentencePair(pair.src, tgt)
        key = pair_key(repaired, self.seed)
        return CleanPair(
            corpus=corpus,
            key=key,
            src_key=side_key(pair.src),
            tgt_key=side_key(pair.tgt),
            src=pair.src,
            tgt=tgt,
            given=pair.tgt,
            variants=variants(repaired, key, self.augment, weight),
        )


def _filters(settings: PrepareConfig) -> dict[str, Filter]:
    if not settings.filters:
        return {}
    filters = dict(FILTERS)
    if settings.traditional != "drop":
        del filters["traditional"]
    return filters


@cache
def converter() -> Any:
    """Load opencc's converter from Traditional to Simplified, once per process."""
    try:
        import opencc
    except ImportError:
        raise ConfigError(
            "prepare.traditional=convert needs opencc; "
            "run pip install opencc, or choose drop or keep"
        ) from None
    return opencc.OpenCC("t2s")

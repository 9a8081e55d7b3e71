"""What prepare does to one pair on its own: normalise, convert, filter, mend, vary; and the keys that compare it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, Self

from nmt.config.schema import AugmentConfig, Config
from nmt.corpus.augment import variants
from nmt.corpus.dedupe import pair_key, side_key
from nmt.corpus.filters import FILTERS, RAW_FILTERS, Filter, Limits, failed
from nmt.corpus.lines import SentencePair
from nmt.errors import ConfigError
from nmt.text.normalize import normalize
from nmt.text.scripts import is_traditional
from nmt.text.typography import repair

# A pair that passed the filters: the number of its corpus, the keys of the pair, of its source and of its target, and
# the columns that `_finish` makes of it. Plain values, since processes pass on no others as fast.
Clean = tuple[int, int, int, int, str]
Numbered = tuple[
    int, int, str, str
]  # a pair as it was read, after the number of its corpus and the weight
Outcomes = Counter[
    tuple[int, str]
]  # how many pairs of which corpus were "read", or failed which rule


@dataclass(frozen=True)
class Cleaner:
    """The settings that decide about a pair. Picklable, so that processes can share the work."""

    limits: Limits
    raw_filters: dict[str, Filter]
    filters: dict[str, Filter]
    convert: bool
    mend: bool
    augment: AugmentConfig
    seed: int

    @classmethod
    def of(cls, config: Config) -> Self:
        """Take over the settings. Raises ConfigError if Traditional is to be converted without opencc."""
        settings = config.prepare
        if convert := settings.traditional == "convert":
            converter()
        limits = Limits(
            (config.src.language, config.tgt.language), settings.max_tokens, settings.max_ratio
        )
        filters = {
            name: FILTERS[name]
            for name in FILTERS
            if name != "traditional" or settings.traditional == "drop"
        }
        augment = settings.augment.without_case() if config.src.lowercase else settings.augment
        mend = settings.typography and config.tgt.language == "zh"
        cleaner = cls(limits, RAW_FILTERS, filters, convert, mend, augment, settings.seed)
        return cleaner if settings.filters else replace(cleaner, raw_filters={}, filters={})

    def for_test(self) -> Self:
        """Normalise and make keys as this one does, but keep every pair, and as it is."""
        return replace(
            self, raw_filters={}, filters={}, mend=False, augment=AugmentConfig(masked=0)
        )

    def __call__(self, chunk: Iterable[Numbered]) -> tuple[Outcomes, list[Clean]]:
        """Clean pairs."""
        outcomes: Outcomes = Counter()
        kept: list[Clean] = []
        src_language, tgt_language = self.limits.languages
        for corpus, weight, src, tgt in chunk:
            outcomes[corpus, "read"] += 1
            raw = SentencePair(src, tgt)
            pair = SentencePair(
                self._normalize(src, src_language), self._normalize(tgt, tgt_language)
            )
            if rule := failed(raw, self.raw_filters, self.limits) or failed(
                pair, self.filters, self.limits
            ):
                outcomes[corpus, rule] += 1
            else:
                kept.append(self._finish(corpus, weight, pair))
        return outcomes, kept

    def _finish(self, corpus: int, weight: int, pair: SentencePair) -> Clean:
        """Its columns: source, target, target before its typography was mended, and of each variant kind and sides.

        A test's reference is nobody's to mend.
        """
        mended = SentencePair(pair.src, repair(pair.tgt)) if self.mend else pair
        key = pair_key(mended, self.seed)
        columns = [
            *mended,
            pair.tgt,
            *chain.from_iterable(variants(mended, key, self.augment, weight)),
        ]
        return (
            corpus,
            key,
            side_key(pair.src),
            side_key(pair.tgt),
            "\t".join(columns),
        )  # no sentence holds a tab

    def _normalize(self, text: str, language: str) -> str:
        """Normalised, and Traditional characters made Simplified where that is asked for."""
        text = normalize(text, language)
        converts = self.convert and language == "zh" and is_traditional(text)
        return str(converter().convert(text)) if converts else text


@cache
def converter() -> Any:
    """Load opencc's converter from Traditional to Simplified, once a process."""
    try:
        import opencc
    except ImportError:
        mend = "run pip install 'nmt[opencc]', or choose drop or keep"
        raise ConfigError(f"prepare.traditional=convert needs opencc; {mend}") from None
    return opencc.OpenCC("t2s")

"""What became of the pairs of a corpus, in numbers: counted by prepare, and told in its report."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from nmt.errors import counted

READ = "read"
KEPT = "kept"  # in train
REPAIRED = "mended"  # kept, with the typography of the target repaired
OVERLAP = "in_dev_or_test"
PUBLIC_TEST = "in_public_test"
DUPLICATE = "duplicate"
NOT_DRAWN = "below_weight"  # its corpus has a weight below 1
COPIES = "copies"  # of the kept pairs, in train
_NOT_DROPPED = (READ, KEPT, "test", "dev", REPAIRED, COPIES)


@dataclass(frozen=True)
class Ledger:
    """The counts of one corpus, or of several."""

    # Pairs read, kept, drawn for test or dev, and repaired; every other name is a rule that dropped pairs.
    outcomes: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)  # added to train, by kind

    @classmethod
    def total(cls, ledgers: Iterable["Ledger"]) -> Self:
        """Add up the ledgers of several corpora."""
        total = cls()
        for ledger in ledgers:
            total.outcomes.update(ledger.outcomes)
            total.variants.update(ledger.variants)
        return total

    def entry(self) -> dict[str, Any]:
        """The counts as prepare.json has them, the most frequent rules and kinds first."""
        dropped = dict(self.outcomes.most_common())
        for name in _NOT_DROPPED:
            dropped.pop(name, None)
        return {
            "read": self.outcomes[READ],
            "kept": self.outcomes[KEPT],
            "test": self.outcomes["test"],
            "dev": self.outcomes["dev"],
            "mended": self.outcomes[REPAIRED],
            "variants": dict(self.variants.most_common()),
            "dropped": dropped,
        }


def ledger_line(entry: dict[str, Any]) -> str:
    """Put an entry of prepare.json into one line."""
    counts = [f"{counted(entry['read'], 'pair')} read", f"{entry['kept']:,} kept"]
    if entry["mended"]:
        counts.append(f"{entry['mended']:,} with Chinese punctuation repaired")
    for split in ("test", "dev"):
        if entry[split]:
            counts.append(f"{entry[split]:,} drawn for {split}")
    line = f"{', '.join(counts)}; dropped: {_listed(entry['dropped']) or 'none'}"
    if entry["variants"]:
        line += f"; added: {_listed(entry['variants'])}"
    return line


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())

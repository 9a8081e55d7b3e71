"""Which sentences of a corpus are in a public test set: a model that is trained on them is tested on what it knows.

`public_tests/NAME.npy` holds the keys (`nmt.corpus.identity.dedupe.side_key`) of both sides of one set, uint64, rising.
`scripts/fingerprint.py` makes such a file.

A match tells something only if the text is long: "Good luck." is in a test set and in any corpus. So the letters
of the sides that match are added up, a Han character counting as three, and 30 of them are contamination. Both
figures are measured: see docs/lab/contamination.md.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nmt.corpus.identity.dedupe import fold, side_key
from nmt.text.scripts import HAN

Keys = npt.NDArray[np.uint64]

FOLDER = Path(__file__).parent / "public_tests"
_HAN_RUN = re.compile(f"[{HAN}]+")
_HAN_LETTERS = 3  # what a Han character counts
_TELLING = 30  # letters
_EFFECTS = {
    "drop": "left out of train (to train on them all the same: prepare.allowed_tests=[{names}])",
    "keep": "kept, so scores on these sets will say little",
}
_MOSTLY = 0.9  # of the lines of a file, from which on it is the set itself


def key_file(name: str) -> Path:
    """The file of a public test set's keys."""
    return FOLDER / f"{name}.npy"


def load_keys(name: str) -> Keys:
    """The keys of a public test set, rising."""
    keys: Keys = np.load(key_file(name), allow_pickle=False)
    return keys


def keys_of(lines: Iterable[str]) -> Keys:
    """The keys of lines, each once, rising; blank lines have none."""
    return np.array(sorted({side_key(line) for line in lines if line.strip()}), np.uint64)


def public_tests() -> list[str]:
    """The names of the public test sets that are known, in order."""
    return sorted(path.stem for path in FOLDER.glob("*.npy"))


def letters(text: str) -> int:
    """How much a match of this text tells: its letters and digits, a Han character counting as three."""
    folded = fold(text)
    han = sum(map(len, _HAN_RUN.findall(folded)))
    return len(folded) + (_HAN_LETTERS - 1) * han


def is_telling(texts: Iterable[str]) -> bool:
    """Whether it cannot be chance that all of these, the sides of one pair, are elsewhere, too."""
    return sum(map(letters, texts)) >= _TELLING


class Contamination:
    """Finds pairs that are in public test sets, and counts them by set and corpus."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        """`allowed` are the names of sets that are not looked for."""
        names = [name for name in public_tests() if name not in allowed]
        self._keys = {name: load_keys(name) for name in names}
        # For a quick answer: hardly any pair is in a test set.
        self._any_set = frozenset(key for keys in self._keys.values() for key in keys.tolist())
        self._counts: Counter[tuple[str, str]] = Counter()  # of a set and a corpus

    def may_have(self, src_key: int, tgt_key: int) -> bool:
        """Whether a side with one of these keys is in any of the sets, however short it is."""
        return src_key in self._any_set or tgt_key in self._any_set

    def has(self, corpus: str, src: str, tgt: str) -> bool:
        """Whether a pair is in a set; if so, it is counted for its corpus. A side is normalised text."""
        found = self._sets_with(src, tgt)
        for name in found:
            self._counts[name, corpus] += 1
        return bool(found)

    def _sets_with(self, src: str, tgt: str) -> list[str]:
        """The sets that a pair is in, by their names."""
        sides = {side_key(src): src, side_key(tgt): tgt}
        found = []
        for name, keys in self._keys.items():
            matching = [text for key, text in sides.items() if _holds(keys, key)]
            if is_telling(matching):
                found.append(name)
        return found

    def entry(self) -> dict[str, dict[str, int]]:
        """The counts as prepare.json has them: set → corpus → pairs, the set with the most first."""
        totals: Counter[str] = Counter()
        for (name, _corpus), count in self._counts.items():
            totals[name] += count
        entry: dict[str, dict[str, int]] = {}
        for name, _total in totals.most_common():
            of_set = {corpus: n for (each, corpus), n in self._counts.items() if each == name}
            entry[name] = of_set
        return entry


def contamination_line(report: dict[str, Any], setting: str) -> str | None:
    """What prepare says of the `public_tests` in its report, under the setting of that name; None: nothing."""
    found = report["public_tests"]
    if not found:
        return None
    sets = []
    for name, corpora in found.items():
        of_corpora = ", ".join(f"{corpus} {count:,}" for corpus, count in corpora.items())
        sets.append(f"{name} ({of_corpora})")
    stand = f"training pairs that are also in public test sets: {', '.join(sets)}"
    return f"{stand}; {_EFFECTS[setting].format(names=','.join(found))}"


def recognised(lines: Sequence[str]) -> str | None:
    """The public test set that nearly all of these lines, of both sides or of one, are in; None if there is none."""
    keys = keys_of(lines)
    if not len(keys):
        return None
    shares = {name: float(np.isin(keys, load_keys(name)).mean()) for name in public_tests()}
    likeliest = max(shares, key=lambda name: shares[name])
    return likeliest if shares[likeliest] >= _MOSTLY else None


def _holds(keys: Keys, key: int) -> bool:
    """Whether a key is among rising ones."""
    place = int(np.searchsorted(keys, np.uint64(key)))
    return place < len(keys) and int(keys[place]) == key

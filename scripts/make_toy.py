#!/usr/bin/env python3
"""Write the toy corpus `data/toy/{train,dev,test}.{en,zh}`: English-Chinese pairs made for this project.

The pairs have two sources. `data/toy/handwritten.tsv` holds everyday sentences, translated one by one; all
of them go to train. The others are composed here by a small phrase grammar: a little world of people, things
and places (toy/lexicon.py) and what can be said of it (toy/patterns.py). Its slots are typed, so that food is
eaten and clothes have colours, and a word keeps its translation from sentence to sentence: a small model can
learn this world in minutes on a CPU. It is a corpus for tests and first steps, not for translating real text.

    python scripts/make_toy.py            write the six files
    python scripts/make_toy.py --check    exit 1 if the six files differ from what this script would write
"""

import argparse
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from toy.lexicon import LEXICON
from toy.patterns import PATTERNS
from toy.words import Word, agree

SEED = 1
ROUNDS = 67  # how often every pattern is drawn; what is drawn again is dropped
HELD_OUT = 200  # pairs in dev, and in test
TOY = Path(__file__).resolve().parent.parent / "data" / "toy"
SLOT = re.compile(
    r"""
    \{ (?P<name>\w+)
    (?:
        \. (?P<form>\w+)      # {thing.s}
        | \+ (?P<verb>\w+)    # {who+like}
    )?
    \}
    """,
    re.VERBOSE,
)


class ToyError(Exception):
    """The grammar or the handwritten pairs break a promise of the corpus; the message shows the sentences."""


class Pair(NamedTuple):
    """A sentence and its translation; also a pattern and its translation."""

    en: str
    zh: str


def draw(pattern: Pair, random: Random) -> dict[str, Word]:
    """Draw words for the slots of a pattern, all different: slot → word.

    Draws with `random.random` alone, the one method whose sequence Python promises to keep.
    """
    words: dict[str, Word] = {}
    for slot in SLOT.finditer(pattern.en):
        for name in slot.group("name", "verb"):
            if name is None or name in words:
                continue
            word_class = LEXICON.get(name.rstrip("2"), [])  # the verb in {who+like} has none
            free = [word for word in word_class if word not in words.values()]
            if free:
                words[name] = free[int(random.random() * len(free))]
    return words


def fill(template: str, words: Mapping[str, Word], side: str) -> str:
    """Put the words into the slots of one side of a pattern; `side` is `en` or `zh`."""

    def one(slot: re.Match[str]) -> str:
        word = words[slot["name"]]
        if slot["verb"]:
            verb = words[slot["verb"]].en[""] if slot["verb"] in words else slot["verb"]
            return agree(word, verb)
        forms = word.en if side == "en" else word.zh
        return forms[slot["form"] or ""]

    return SLOT.sub(one, template)


def say(pattern: Pair, random: Random) -> Pair:
    """Say the pattern in both languages with words drawn for its slots."""
    words = draw(pattern, random)
    english = fill(pattern.en, words, "en")
    return Pair(english[0].upper() + english[1:], fill(pattern.zh, words, "zh"))


def compose(random: Random) -> list[Pair]:
    """What the grammar says in `ROUNDS` rounds, a pair of every pattern in each; some come again."""
    pairs = []
    for _ in range(ROUNDS):
        for pattern in PATTERNS:
            pair = say(Pair(*pattern), random)
            if not 3 <= len(pair.en.split()) <= 15:
                raise ToyError(f"{pair.en!r} does not have 3 to 15 words; change its pattern")
            pairs.append(pair)
    return pairs


def fold(text: str) -> str:
    """What is left of a sentence without case, width, punctuation and spaces."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs without repetitions; ToyError if two of them share a sentence up to case and punctuation."""
    known: dict[str, Pair] = {}
    for pair in pairs:
        for sentence in pair:
            other = known.setdefault(fold(sentence), pair)
            if other != pair:
                raise ToyError(
                    f"{' = '.join(pair)} clashes with {' = '.join(other)}; change one of them"
                )
    return list(dict.fromkeys(known.values()))


def handwritten() -> list[Pair]:
    """The pairs of handwritten.tsv."""
    pairs = []
    for line in (TOY / "handwritten.tsv").read_text("utf-8").splitlines():
        if line.count("\t") != 1:
            raise ToyError(f"handwritten.tsv has {line!r}; a line is English, one tab, Chinese")
        pairs.append(Pair(*line.split("\t")))
    if len(distinct(pairs)) < len(pairs):
        raise ToyError("handwritten.tsv has a pair twice; drop one")
    return pairs


def corpus() -> dict[Path, bytes]:
    """The six files and their content; as parts of one list of distinct pairs they share no sentence."""
    random = Random(SEED)
    own = handwritten()
    composed = distinct(own + compose(random))[len(own) :]
    composed.sort(key=lambda _: random.random())  # a shuffle by `random.random` alone
    splits = {
        "dev": composed[:HELD_OUT],
        "test": composed[HELD_OUT : 2 * HELD_OUT],
        "train": own + composed[2 * HELD_OUT :],
    }
    files = {}
    for split, pairs in splits.items():
        pairs.sort()
        files[TOY / f"{split}.en"] = "".join(f"{pair.en}\n" for pair in pairs).encode()
        files[TOY / f"{split}.zh"] = "".join(f"{pair.zh}\n" for pair in pairs).encode()
    return files


def main() -> None:
    """Write the files, or compare them with `--check`."""
    parser = argparse.ArgumentParser(description="Write the toy corpus data/toy.")
    parser.add_argument(
        "--check", action="store_true", help="only compare; exit 1 if a file differs"
    )
    options = parser.parse_args()
    try:
        wanted = corpus()
    except ToyError as error:
        sys.exit(f"make_toy.py: {error}")
    stale = []
    for path, content in wanted.items():
        if not path.exists() or path.read_bytes() != content:
            stale.append(path)
    if options.check and stale:
        names = ", ".join(path.name for path in stale)
        sys.exit(f"{names} differ from the grammar; run scripts/make_toy.py")
    for path in stale:
        path.write_bytes(wanted[path])


if __name__ == "__main__":
    main()

"""Text to measure with, if none is given: as long as everyday sentences are, words as frequent as words are."""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.cleaning.prepare import prepare
from nmt.corpus.encoding.encode import build_vocabularies
from nmt.run.folder import RunDir, Split

TOY = Path(__file__).resolve().parents[2] / "data" / "toy"

# Words a side of Tatoeba's English-Chinese sentences: log-normal, and long sentences have long translations.
_SRC_MEAN = 7.2
_TGT_MEAN = 6.6
_SPREAD = 0.42
_LONGEST = 40


def write_words(folder: Path, pairs: int, types: int) -> None:
    """Write train.en and train.zh of words without meaning; word number n is as frequent as 1 / n (Zipf)."""
    chance = Random(1)
    weights = [1 / (n + 1) for n in range(types)]
    drawn = iter(chance.choices(range(types), weights, k=pairs * 3 * _LONGEST))
    with (folder / "train.en").open("w") as src, (folder / "train.zh").open("w") as tgt:
        for first in range(0, types - 7, 8):  # each word once, so that the vocabulary is whole
            line = _line(range(first, first + 8))
            src.write(line)
            tgt.write(line)
        for _ in range(pairs):
            stretch = chance.gauss(0, 1)
            src.write(_line(islice(drawn, _length(_SRC_MEAN, stretch, chance))))
            tgt.write(_line(islice(drawn, _length(_TGT_MEAN, stretch, chance))))


def _line(words: Iterable[int]) -> str:
    return " ".join(f"w{word}" for word in words) + "\n"


def _length(mean: float, stretch: float, chance: Random) -> int:
    """Words in a sentence: `stretch` is what it shares with its translation."""
    deviation = 0.9 * stretch + 0.44 * chance.gauss(0, 1)
    length = mean * math.exp(_SPREAD * deviation - _SPREAD**2 / 2)
    return max(1, min(_LONGEST, round(length)))


def write_sentences(folder: Path, pairs: int) -> None:
    """Write train.en and train.zh of real words: two sentences of the toy corpus to a line, no two lines alike."""
    english = (TOY / "train.en").read_text().splitlines()
    chinese = (TOY / "train.zh").read_text().splitlines()
    with (folder / "train.en").open("w") as src, (folder / "train.zh").open("w") as tgt:
        for one, other in islice(_couples(len(english)), pairs):
            src.write(f"{english[one]} {english[other]}\n")
            tgt.write(f"{chinese[one]}{chinese[other]}\n")


def _couples(count: int) -> Iterator[tuple[int, int]]:
    for step in range(1, count):
        for one in range(count):
            yield one, (one + step) % count


def encoded_run(config: Config, folder: Path) -> RunDir:
    """A run in `folder`, prepared and with vocabularies."""
    run = RunDir(folder / "run")
    run.path.mkdir()
    prepare(config, run)
    build_vocabularies(config, run)
    return run


def configure(
    text: Path | None, folder: Path, overrides: list[str], pairs: int, types: int
) -> Config:
    """A configuration over given text (words by white space, jieba), or over made words if there is none."""
    settings = [
        f"src.vocab_size={types}",
        f"tgt.vocab_size={types}",
        "prepare.dev_size=50",
        "prepare.test_size=0",
    ]
    if text is None:
        text = folder / "text"
        text.mkdir()
        write_words(text, pairs, types)
        settings += [
            "src.tokenizer=plain",
            "tgt.tokenizer=plain",
            "prepare.filters=false",
            "src.min_frequency=1",
            "tgt.min_frequency=1",
        ]
    src, tgt = text_file(text, "train", "en"), text_file(text, "train", "zh")
    corpora = f"data.corpora=[{{src: '{src}', tgt: '{tgt}'}}]"
    return load_config(None, [corpora, *settings, *overrides])


def text_file(folder: Path, split: Split, language: str) -> Path:
    """The text of one split in a folder, plain or .gz."""
    plain = folder / f"{split}.{language}"
    return plain if plain.exists() else folder / f"{split}.{language}.gz"

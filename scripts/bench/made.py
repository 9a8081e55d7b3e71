"""Text to measure with, where none is given: as long as everyday sentences are, words as frequent as words are."""

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.encode import build_vocabularies
from nmt.corpus.prepare import prepare
from nmt.run_dir import RunDir

TOY = Path(__file__).resolve().parents[2] / "data" / "toy"
# Words a side of Tatoeba's English-Chinese sentences: 7.2 and 6.6 on average, log-normal, at most 40.
_MEANS, _SPREAD, _LONGEST = (7.2, 6.6), 0.42, 40


def write_words(folder: Path, pairs: int, types: int) -> None:
    """Write train.en and train.zh of words without meaning; word number n is as frequent as 1 / n (Zipf)."""
    chance = Random(1)
    weights = [1 / (n + 1) for n in range(types)]
    drawn = iter(chance.choices(range(types), weights, k=pairs * 3 * _LONGEST))
    with (folder / "train.en").open("w") as src, (folder / "train.zh").open("w") as tgt:
        # each word once, so that the vocabulary is whole
        lines = zip(*(iter(range(types)),) * 8, strict=False)
        for words in lines:
            for file in (src, tgt):
                file.write(" ".join(f"w{word}" for word in words) + "\n")
        for _ in range(pairs):
            stretch = chance.gauss(0, 1)  # a long sentence has a long translation
            for file, mean in zip((src, tgt), _MEANS, strict=True):
                length = mean * math.exp(
                    _SPREAD * (0.9 * stretch + 0.44 * chance.gauss(0, 1)) - _SPREAD**2 / 2
                )
                words_drawn = islice(drawn, max(1, min(_LONGEST, round(length))))
                file.write(" ".join(f"w{word}" for word in words_drawn) + "\n")


def write_sentences(folder: Path, pairs: int) -> None:
    """Write train.en and train.zh of real words: two sentences of the toy corpus to a line, no two lines alike."""
    sentences = list(
        zip(
            *((TOY / f"train.{side}").read_text().splitlines() for side in ("en", "zh")),
            strict=True,
        )
    )
    with (folder / "train.en").open("w") as src, (folder / "train.zh").open("w") as tgt:
        for one, other in islice(_couples(len(sentences)), pairs):
            src.write(f"{sentences[one][0]} {sentences[other][0]}\n")
            tgt.write(f"{sentences[one][1]}{sentences[other][1]}\n")


def _couples(count: int) -> Iterator[tuple[int, int]]:
    return ((one, (one + step) % count) for step in range(1, count) for one in range(count))


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
    tokenizers = []
    if text is None:
        text = folder / "text"
        text.mkdir()
        write_words(text, pairs, types)
        tokenizers = [
            "src.tokenizer=plain",
            "tgt.tokenizer=plain",
            "prepare.filters=false",
            "src.min_frequency=1",
        ]
        tokenizers += ["tgt.min_frequency=1"]
    corpora = f"data.corpora=[{{src: '{text / 'train.en'}', tgt: '{text / 'train.zh'}'}}]"
    sizes = [
        f"src.vocab_size={types}",
        f"tgt.vocab_size={types}",
        "prepare.dev_size=50",
        "prepare.test_size=0",
    ]
    return load_config(None, [corpora, *sizes, *tokenizers, *overrides])

"""The two sides of a run as `build-vocab` left them, and what its settings say of both."""

import hashlib
from pathlib import Path

from nmt.config.schema import AugmentConfig, Config, SideConfig
from nmt.errors import ModelError
from nmt.files import readable_or
from nmt.run.folder import RunDir, SideName
from nmt.spans.masking import Numbers
from nmt.text.reading import ReadingSettings, reading_for
from nmt.text.side import Side
from nmt.text.tokenizers import load_tokenizer
from nmt.text.vocab import Vocab


def load_side(config: Config, run: RunDir, name: SideName) -> Side:
    """The side as `build-vocab` left it. Raises ModelError where a file cannot be read, or is damaged."""
    side = config.side(name)
    pieces = run.pieces(name)
    with readable_or(ModelError):
        tokenizer = load_tokenizer(side.tokenizer, pieces)
        vocab = Vocab.load(run.vocab(name))
    prefix = config.src.prefix if name == "src" else ()
    reading = reading_settings(config, name)
    return Side(
        language=side.language,
        tokenizer=tokenizer,
        vocab=vocab,
        reading=reading_for(tokenizer, reading),
        never_unknown=side.unknown == "spell",
        identity=_identity(side, pieces, reading, prefix),
        prefix=_prefix_ids(vocab, prefix, run.vocab(name)),
    )


def _identity(
    side: SideConfig, pieces: Path, reading: ReadingSettings, prefix: tuple[str, ...]
) -> str:
    model = ""
    if side.tokenizer == "sentencepiece":
        model = hashlib.sha256(pieces.read_bytes()).hexdigest()
    case = "known" if reading.recase else str(reading.lowercase)
    words = ["detached"] if reading.detach else []
    return " ".join([side.language, side.tokenizer, case, *words, model, *prefix])


def _prefix_ids(vocab: Vocab, prefix: tuple[str, ...], source: Path) -> tuple[int, ...]:
    for token in prefix:
        if token not in vocab.ids:
            raise ModelError(f"src.prefix: {source} does not list {token}; run nmt build-vocab")
    return tuple(vocab.ids[token] for token in prefix)


def reading_settings(config: Config, name: SideName) -> ReadingSettings:
    """How a side is read. Only a source is read as anything but its case."""
    if name == "src":
        src = config.src
        return ReadingSettings(src.lowercase, src.recase, src.detach)
    return ReadingSettings(config.tgt.lowercase)


def numbers_masked(taught: AugmentConfig, chinese: bool) -> Numbers:
    """Which numbers travel as placeholders in the first search.

    `taught`: the variants of pairs that the model was trained with. To one that never saw the placeholder of a
    number, it is a word that it does not know where to put. `chinese`: it translates into Chinese, which leaves
    figures as they are; the 12 of 12月 is another matter.
    """
    return "figures" if taught.masked_numbers > 0 and chinese else "long"

"""A translation memory as a decoder sees it."""

from collections.abc import Iterator
from pathlib import Path

from nmt.corpus.memory_pairs import memory_pairs
from nmt.corpus.pairs import SentencePair
from nmt.errors import DataError, Say, counted
from nmt.translate.decoder import Decoder
from nmt.translate.memory import IdPair, Memory


def load_memory(path: Path, decoder: Decoder, say: Say) -> Memory:
    """The pairs of a file or a run; `say` is told how many. Raises DataError if it has none, and as `memory_pairs`."""
    languages = (decoder.src.language, decoder.tgt.language)
    pairs = memory_pairs(path, languages)
    encoded = list(_encoded(pairs, decoder))
    if not encoded:
        raise DataError(f"{path}: no pair in it that the model could read; give some")
    memory = Memory(encoded, len(decoder.src.vocab))
    say(f"nmt: memory {path}, {counted(len(memory.pairs), 'pair')}")
    return memory


def _encoded(pairs: Iterator[SentencePair], decoder: Decoder) -> Iterator[IdPair]:
    """The pairs as ids; without those that are empty on a side or longer than the model."""
    for pair in pairs:
        masked = decoder.masked(pair.src, pair.tgt)
        src = decoder.src.encode(masked.src)
        tgt = decoder.tgt.encode(masked.tgt)
        if src and tgt and max(len(src), len(tgt)) <= decoder.longest:
            yield src, tgt

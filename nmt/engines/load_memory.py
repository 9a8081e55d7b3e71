"""A translation memory as a decoder sees it."""

from pathlib import Path

from nmt.engines.decoder import Decoder
from nmt.engines.encoded_pairs import EncodedPair, encode_pair
from nmt.errors import DataError, Say, counted
from nmt.neighbours.memory import TranslationMemory
from nmt.neighbours.memory_pairs import memory_pairs


def load_memory(path: Path, decoder: Decoder, say: Say) -> TranslationMemory:
    """The pairs of a file or a run; `say` is told how many. Raises DataError if it has none, and as `memory_pairs`."""
    languages = (decoder.src.language, decoder.tgt.language)
    pairs = memory_pairs(path, languages)
    encoded = [encode_pair(decoder, pair) for pair in pairs]
    fitting = [(pair.src, pair.tgt) for pair in encoded if isinstance(pair, EncodedPair)]
    if not fitting:
        raise DataError(f"{path}: no pair in it that the model could read; give some")
    memory = TranslationMemory(fitting, len(decoder.src.vocab))
    left_out = len(encoded) - len(fitting)
    note = f" ({left_out:,} left out: empty or too long)" if left_out else ""
    say(f"nmt: memory {path}, {counted(len(memory.pairs), 'pair')}{note}")
    return memory

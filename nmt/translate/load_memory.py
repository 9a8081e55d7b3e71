"""A translation memory as a decoder sees it."""

from pathlib import Path

from nmt.corpus.memory_pairs import memory_pairs
from nmt.corpus.pairs import SentencePair
from nmt.errors import DataError, Say, counted
from nmt.translate.decoder import Decoder
from nmt.translate.memory import IdPair, Memory

# Characters, on average. To encode a line of megabytes only to see that it is too long takes gigabytes.
_LONGEST_TOKEN = 64


def load_memory(path: Path, decoder: Decoder, say: Say) -> Memory:
    """The pairs of a file or a run; `say` is told how many. Raises DataError if it has none, and as `memory_pairs`."""
    languages = (decoder.src.language, decoder.tgt.language)
    pairs = memory_pairs(path, languages)
    encoded = [_encoded(pair, decoder) for pair in pairs]
    fitting = [pair for pair in encoded if pair is not None]
    if not fitting:
        raise DataError(f"{path}: no pair in it that the model could read; give some")
    memory = Memory(fitting, len(decoder.src.vocab))
    left_out = len(encoded) - len(fitting)
    note = f" ({left_out:,} left out: empty or too long)" if left_out else ""
    say(f"nmt: memory {path}, {counted(len(memory.pairs), 'pair')}{note}")
    return memory


def _encoded(pair: SentencePair, decoder: Decoder) -> IdPair | None:
    """The pair as ids, with placeholders as in translating; None if it is empty on a side or longer than the model."""
    if max(map(len, pair)) > _LONGEST_TOKEN * decoder.longest:
        return None
    masked = decoder.masked(pair.src, pair.tgt)
    src = decoder.src.encode(masked.src)
    tgt = decoder.tgt.encode(masked.tgt)
    fits = src and tgt and max(len(src), len(tgt)) <= decoder.longest
    return (src, tgt) if fits else None

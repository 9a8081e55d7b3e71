"""What a decoder is made of: of each run the best checkpoint, or the last whole one; and a translation memory."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from nmt.config.schema import Config
from nmt.engines.base import EngineRequest
from nmt.engines.decoder import Decoder
from nmt.engines.encoded_pairs import EncodedPair, encode_pair
from nmt.errors import DataError, Say, counted
from nmt.machine.cpu import keep_kernels
from nmt.machine.device import open_device, resolve_precision
from nmt.model.loading import built
from nmt.neighbours.memory import TranslationMemory
from nmt.neighbours.memory_pairs import memory_pairs
from nmt.run.choice import check_fits, load_checkpoint, refuse_other_vocabularies
from nmt.run.folder import RunDir
from nmt.run.sides import load_side, numbers_masked
from nmt.text.side import is_into_chinese

_KERNELS = 16_384  # the shapes of decoding are many and small


def load_decoder(
    config: Config,
    run: RunDir,
    asked: EngineRequest,
    warn: Say,
    say: Say,
) -> tuple[Decoder, tuple[Path, ...]]:
    """The engine on torch of a run, and the checkpoints that it has, the run's first; as `load_translator`."""
    keep_kernels(_KERNELS)
    folder, meta, weights = load_checkpoint(run, warn)
    src = load_side(config, run, "src")
    tgt = load_side(config, run, "tgt")
    check_fits(folder, meta, src, tgt)
    where = open_device(asked.device)
    resolved = resolve_precision(asked.precision, where)
    build = partial(built, sides=(src, tgt), device=where, precision=resolved)
    models = [build(config, folder, weights)]
    folders = [folder]
    for its_config, its_run in asked.others:
        its_folder, its_meta, its_weights = load_checkpoint(its_run, warn)
        refuse_other_vocabularies(its_folder, its_meta, folder, src, tgt)
        models.append(build(its_config, its_folder, its_weights))
        folders.append(its_folder)

    numbers = numbers_masked(config.prepare.augment, is_into_chinese(src, tgt))
    decoder = Decoder(models[0], src, tgt, resolved, warn, numbers, models[1:])
    say(f"nmt: {_named(folders, run.note)}, {resolved} on {where}")
    return decoder, tuple(folders)


def _named(folders: Sequence[Path], note: str) -> str:
    """For people: "model A", or of an ensemble "models A, B and C"; the note goes with the first."""
    *most, last = [f"{folders[0]}{note}", *map(str, folders[1:])]
    return f"models {', '.join(most)} and {last}" if most else f"model {last}"


def load_memory(path: Path, decoder: Decoder, say: Say) -> TranslationMemory:
    """The pairs of a file or a run; `say` gets a line with their number.

    Raises DataError if it has none, and as `memory_pairs`.
    """
    languages = (decoder.src.language, decoder.tgt.language)
    pairs = memory_pairs(path, languages)
    encoded = [encode_pair(decoder, pair) for pair in pairs]
    fitting = [(pair.src, pair.tgt) for pair in encoded if isinstance(pair, EncodedPair)]
    if not fitting:
        raise DataError(f"{path}: no sentence pair that the model can read")
    memory = TranslationMemory(fitting, len(decoder.src.vocab))
    left_out = len(encoded) - len(fitting)
    note = f" ({left_out:,} left out: empty or too long)" if left_out else ""
    say(f"nmt: memory {path}, {counted(len(memory.pairs), 'pair')}{note}")
    return memory

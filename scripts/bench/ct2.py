"""The yardstick of decoding: CTranslate2, given the same weights. It has to be installed; nmt itself never needs it."""

from collections.abc import Callable
from pathlib import Path

from nmt.exchange.exporters.ctranslate2 import convert
from nmt.model.transformer import Transformer
from nmt.text.vocab import SPECIALS

BATCHES = {"greedy": (64, 256), "beam": (32, 128)}  # sentences; what was best for it is among these


def installed() -> bool:
    """Whether CTranslate2 can be compared with."""
    try:
        import ctranslate2  # noqa: F401
    except ImportError:
        return False
    return True


def export(model: Transformer, folder: Path) -> None:
    """Write a model as CTranslate2 reads it; its tokens are ids in digits. Raises ModelError if it cannot run it."""
    folder.mkdir()
    src_tokens = _ids_as_tokens(len(model.src_embedding.tokens.weight))
    tgt_tokens = _ids_as_tokens(model.tgt_tokens)
    convert(model, src_tokens, tgt_tokens, folder)


def _ids_as_tokens(count: int) -> list[str]:
    return [*SPECIALS, *map(str, range(len(SPECIALS), count))]


def translate(
    folder: Path,
    kind: str,
    method: str,
    batch: int,
    threads: int,
    limit: int,
    device: str = "cpu",
) -> Callable[[list[list[int]]], list[list[str]]]:
    """A function from sources (lists of ids) to lists of ids in digits: `kind` is float32, float16 or int8."""
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder), device=device, compute_type=kind, inter_threads=1, intra_threads=threads
    )
    beam_size = 5 if method == "beam" else 1

    def run(sources: list[list[int]]) -> list[list[str]]:
        tokens = [list(map(str, ids)) for ids in sources]
        found = translator.translate_batch(
            tokens, beam_size=beam_size, max_batch_size=batch, max_decoding_length=limit
        )
        return [result.hypotheses[0] for result in found]

    return run

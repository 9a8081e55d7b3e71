"""What the engines in int8 of Firefox Translations find in a `.bin`, checked before one gets it.

They are made for Mozilla's files, and end with more than an error where an array is missing.
"""

import math
from collections.abc import Iterator

from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.importers.marian_binary import Stored, read_stored
from nmt.exchange.marian_format import (
    ACTIVATIONS,
    FLOAT32,
    INTGEMM8,
    MULTIPLIER,
    SETTINGS,
    TABLES,
    shapes_of,
)

_OUTPUTS = (f"none{ACTIVATIONS}", f"decoder_Wemb{ACTIVATIONS}")  # one is enough


def refuse_unfit(
    content: bytes, config: ModelConfig, src_rows: int, tgt_rows: int, place: str
) -> None:
    """Raise ModelError for a `.bin` that is not this model in int8, with SSRU, whole."""
    if config.decoder != "ssru" or config.norm != "post" or config.activation != "relu":
        raise ModelError(f"{place}: not post-norm with SSRU and relu, as the engine needs it")
    stored = read_stored(content, place)
    missing = list(_missing(config, src_rows, tgt_rows, stored))
    if not any(_is_number(stored.get(name)) for name in _OUTPUTS):
        missing.append(_OUTPUTS[0])
    if SETTINGS not in stored:
        missing.append(SETTINGS)
    if missing:
        raise ModelError(f"{place}: no {missing[0]} as the engine needs it; import it again")


def _missing(
    config: ModelConfig, src_rows: int, tgt_rows: int, stored: dict[str, Stored]
) -> Iterator[str]:
    """The arrays in the layers, and the tables, that are not there, or not as they should be."""
    for name, shape in shapes_of(config, src_rows, tgt_rows).items():
        is_vector = shape[0] == 1
        found = stored.get(name)
        kind = FLOAT32 if is_vector else INTGEMM8
        if found is None or found.kind != kind or found.shape != shape:
            yield name
        if is_vector or name.endswith(TABLES):
            continue
        multiplier = stored.get(f"{name}{ACTIVATIONS}")
        if multiplier is None or multiplier.kind != FLOAT32 or not _is_number(multiplier):
            yield f"{name}{ACTIVATIONS}"


def _is_number(found: Stored | None) -> bool:
    """Whether an array is one number that inputs can be multiplied with."""
    if found is None or set(found.shape) - {1} or found.kind not in (FLOAT32, INTGEMM8):
        return False
    behind = 1 if found.kind == INTGEMM8 else 0
    (number,) = MULTIPLIER.unpack_from(found.data, behind)
    return math.isfinite(number) and number > 0

"""Our Transformer under Marian's names, its rows in the order of a sentencepiece model.

Marian computes positions, sines before cosines, multiplies embeddings with √d, and starts from zeros. The tables and
the last norm take up what is ours otherwise; a model that starts from a trained vector cannot be expressed.

Shapes: d = d_model, V rows of a table.
"""

import math
import re
from collections.abc import Iterator

import numpy as np

from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.exporters.arrays import Array
from nmt.exchange.exporters.hugging_face import Tensors, tensors_of
from nmt.exchange.exporters.trained import Trained
from nmt.exchange.marian_format import (
    BIAS,
    DECODER_PARTS,
    ENCODER_PARTS,
    OUTSIDE,
    SHARED,
    SOURCE,
    TARGET,
    VALUES,
    layers_of,
)
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, UNK

ACTIVATIONS = ("relu", "swish")  # Marian's gelu is an approximation
WIDTH = 64  # bytes of int8 that an engine multiplies at a time
_LAYER = re.compile(r"model\.(encoder|decoder)\.layers\.(\d+)\.(.+)\.(weight|bias)")


def refuse_inexpressible(config: ModelConfig) -> None:
    """Raise ModelError, naming the setting, for a model that Firefox's engines cannot run."""
    needs = {
        "norm=pre": (config.norm == "pre", "post"),
        "final_norm=true": (config.has_final_norm, "false"),
        "embedding_norm=true": (config.embedding_norm, "false"),
        "positions=learned": (config.positions == "learned", "sinusoidal"),
        f"activation={config.activation}": (
            config.activation not in ACTIVATIONS,
            " or ".join(ACTIVATIONS),
        ),
        "tie_embeddings=none": (config.tie_embeddings == "none", "target or all"),
        f"d_model={config.d_model}": (config.d_model % WIDTH != 0, f"a multiple of {WIDTH}"),
        f"d_ff={config.d_ff}": (config.d_ff % WIDTH != 0, f"a multiple of {WIDTH}"),
    }
    for setting, (is_so, needed) in needs.items():
        if is_so:
            message = f"model.{setting}: Firefox's engines need {needed}"
            raise ModelError(f"{message}; nmt export ct2 may take this model")


def refuse_trained_start(model: Transformer) -> None:
    """Raise ModelError for a decoder that does not start from zeros."""
    if model.tgt_embedding.tokens.weight[BOS].any():
        fix = "Marian's decoder starts from zeros; train with model.decoder_start=zeros"
        raise ModelError(f"model.decoder_start=bos: {fix}")


def arrays_of(trained: Trained, src_rows: list[int], tgt_rows: list[int]) -> dict[str, Array]:
    """The weights by Marian's names; of the tables, row i is that of our id in row i of these lists.

    With one table for both sides, the two lists are equal. <unk> is never written.
    """
    tensors = tensors_of(trained.model, [*trained.forbidden, UNK])
    factor = np.float32(table_factor(trained.model))
    for table, rows in ((SHARED, src_rows), (SOURCE, src_rows), (TARGET, tgt_rows)):
        if table in tensors:
            tensors[table] = tensors[table][rows] * factor
    tensors[BIAS] = tensors[BIAS][:, tgt_rows]
    last = f"model.decoder.layers.{len(trained.model.decoder) - 1}.final_layer_norm"
    for part in ("weight", "bias"):
        tensors[f"{last}.{part}"] /= factor
    return dict(_renamed(tensors))


def table_factor(model: Transformer) -> float:
    """What the tables are multiplied with, and the last norm divided by, since Marian's embeddings get √d."""
    return float(model.src_embedding.scale / math.sqrt(model.config.d_model))


def inputs_of(config: ModelConfig) -> dict[str, str]:
    """Our module that reads what each of Marian's matrices does, by the matrix's name."""
    inputs = {}
    for stack, layer, sources in layers_of(config):
        for ours, theirs in sources.items():
            if ours.endswith("norm"):
                continue
            for part in theirs:
                name = f"model.{stack}.layers.{layer}.{part}.weight"
                inputs[_name(name)] = f"{stack}.{layer}.{ours}"
    return inputs


def _renamed(tensors: Tensors) -> Iterator[tuple[str, Array]]:
    for name, tensor in tensors.items():
        if name.endswith(f"{VALUES}.bias"):
            continue  # SSRU has none
        in_layer = _LAYER.fullmatch(name)
        is_matrix = in_layer is not None and tensor.ndim == 2
        array = tensor.T if is_matrix else np.atleast_2d(tensor)
        yield _name(name), np.ascontiguousarray(array)


def _name(name: str) -> str:
    """Marian's name for one of transformers'."""
    in_layer = _LAYER.fullmatch(name)
    if in_layer is None:
        return next(marians for marians, theirs in OUTSIDE.items() if theirs == name)
    stack, layer, part, kind = in_layer.groups()
    for (matrix, bias), theirs in (ENCODER_PARTS | DECODER_PARTS).items():
        if theirs == part:
            return f"{stack}_l{int(layer) + 1}_{matrix if kind == 'weight' else bias}"
    raise AssertionError(name)

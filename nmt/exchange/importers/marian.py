"""Marian's Transformer (Junczys-Dowmunt et al., 2018) in our terms, whichever file it comes from.

The readers of files give the weights the names that transformers' MarianMT has. From these come ours: matrices
that are multiplied with the same vector are stacked, and the rows of the vocabularies are put into our order. Marian's
positions have all sines before all cosines, ours alternate: everything over d_model is put in our order too, unless
the file has a table of other positions, which are then learned ones.

Shapes: V tokens, d = d_model, f = d_ff, P positions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.importers.fields import brief
from nmt.exchange.marian_format import (
    BIAS,
    OUTPUT,
    SHARED,
    SOURCE,
    TARGET,
    layers_of,
)
from nmt.run.checkpoint import Weights
from nmt.text.normalize import unpaired_surrogate
from nmt.text.vocab import SPECIALS, Vocab, is_marked

_WITHOUT_BIAS = "attention.values"
# The last names of our parts whose matrices read [d], and of those that write it.
_READS = ("qkv", "q", "kv", "inner", "values", "forget")
_WRITES = ("out", "values", "forget", "norm")
_KINDS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_TABLES = {  # of positions
    "src": "model.encoder.embed_positions.weight",
    "tgt": "model.decoder.embed_positions.weight",
}
_ROUNDING = 1e-5  # between two programs' tables of the same positions


@dataclass(frozen=True)
class Tokens:
    """The tokens of one side in the file's order, and the rows of those that are ours too.

    A row may serve twice: Marian's decoder starts from the embedding of padding, which is zero.
    """

    listed: list[str]
    pad: int
    unk: int
    start: int
    eos: int

    def order(self) -> list[int]:
        """The file's row for each of our ids."""
        specials = [self.pad, self.unk, self.start, self.eos]
        return specials + [row for row in range(len(self.listed)) if row not in specials]

    def vocab(self) -> Vocab:
        """The same as our vocabulary. Nothing is known of the counts in train."""
        tokens = [self.listed[row] for row in self.order()[len(SPECIALS) :]]
        return Vocab(tokens, [0] * len(tokens))


@dataclass(frozen=True)
class MarianSide:
    """One language of a model."""

    language: str
    tokens: Tokens
    pieces: bytes  # its sentencepiece model


@dataclass(frozen=True)
class Marian:
    """A model that was read: in our names, its rows in our order."""

    kind: str  # where such files come from, in words
    config: ModelConfig
    src: MarianSide
    tgt: MarianSide
    shared: bool  # one vocabulary for both sides
    weights: Weights
    files: tuple[Path, ...]  # that it was read from
    binary: bytes | None = None  # the content of a .bin


def tokens_by_row(ids: dict[str, Any], place: str) -> list[str]:
    """Tokens in the order of their rows. Raises ModelError unless each row has one that a vocabulary may have."""
    rows: list[str | None] = [None] * len(ids)
    for token, row in ids.items():
        if not _is_row(row, len(rows)) or rows[row] is not None:
            message = f"the tokens are not numbered from 0 to {len(rows) - 1}, each once"
            raise ModelError(f"{place}: {message}, see {brief(token)}")
        rows[row] = token
    listed = [token for token in rows if token is not None]
    for token in listed:
        is_broken = unpaired_surrogate(token) is not None
        if not token or "\t" in token or "\n" in token or is_marked(token) or is_broken:
            raise ModelError(f"{place}: {brief(token)} cannot be a token in nmt's vocabulary")
    return listed


def _is_row(value: Any, rows: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < rows


def model_config(place: str, **settings: object) -> ModelConfig:
    """Our settings of a model. Raises ModelError, in one line, for what nmt has no such model for."""
    try:
        return ModelConfig.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "its shape"
        reason = first["msg"].removeprefix("Value error, ")
        raise ModelError(f"{place}: nmt has no such model ({name}: {reason})") from None


class Store:
    """The weights of a file, by transformers' names, taken out one by one.

    `numbers` is how many the file can hold, if several names may stand for the same ones.
    """

    def __init__(self, path: Path, tensors: dict[str, Tensor], numbers: float = math.inf) -> None:
        self._path = path
        self._tensors = dict(tensors)
        self._left = numbers

    def take(self, name: str, *shape: int) -> Tensor:
        """Take a tensor in fp32. Raises ModelError if it is missing, of another shape, or not of finite numbers."""
        if name not in self._tensors:
            raise ModelError(f"{self._path}: '{name}' is missing; fetch the file again")
        tensor = self._tensors.pop(name)
        if tuple(tensor.shape) != shape:
            expected = f"the settings make it {list(shape)}"
            raise ModelError(f"{self._path}: '{name}' has shape {list(tensor.shape)}, {expected}")
        self._left -= tensor.numel()
        if self._left < 0:
            raise ModelError(f"{self._path}: '{name}' is more than a file of this size can hold")
        if tensor.dtype not in _KINDS:
            raise ModelError(f"{self._path}: '{name}' holds {tensor.dtype}, not plain fractions")
        tensor = tensor.float()
        if not tensor.isfinite().all():
            raise ModelError(f"{self._path}: '{name}' holds values that are not finite numbers")
        return tensor

    def first_of(self, names: tuple[str, ...], *shape: int) -> Tensor:
        """Take what some files have under one of these names, some under several."""
        present = [name for name in names if name in self._tensors]
        taken = self.take(present[0] if present else names[0], *shape)
        for name in present[1:]:
            del self._tensors[name]
        return taken

    def leave(self, name: str) -> None:
        """Do without a tensor that may be there."""
        self._tensors.pop(name, None)

    def refuse_rest(self) -> None:
        """Raise ModelError if there is more than was taken: it belongs to a model that works otherwise."""
        for name in self._tensors:
            message = f"{brief(name)} is no part of the model that its settings describe"
            raise ModelError(f"{self._path}: {message}; nmt cannot express it")


def our_weights(
    config: ModelConfig, src: Tokens, tgt: Tokens, shared: bool, store: Store
) -> Weights:
    """All weights of the model by our names, taken from the store."""
    weights: Weights = {}
    weights |= _embeddings(config, src, tgt, shared, store)
    for stack, layer, parts in layers_of(config):
        for part, sources in parts.items():
            theirs = [f"model.{stack}.layers.{layer}.{source}" for source in sources]
            weights |= _stacked(f"{stack}.{layer}.{part}", theirs, config, store)
    for part, source in _norms(config):
        weights |= _stacked(part, [source], config, store)
    store.refuse_rest()
    return weights


def _norms(config: ModelConfig) -> Iterator[tuple[str, str]]:
    """The norms outside of layers: ours and theirs."""
    if config.embedding_norm:
        yield "src_embedding.norm", "model.encoder.layernorm_embedding"
        yield "tgt_embedding.norm", "model.decoder.layernorm_embedding"
    if config.has_final_norm:
        yield "encoder_norm", "model.encoder.layer_norm"
        yield "decoder_norm", "model.decoder.layer_norm"


def _embeddings(
    config: ModelConfig, src: Tokens, tgt: Tokens, shared: bool, store: Store
) -> Weights:
    width = config.d_model
    axes = _axes(config)
    of_output = (OUTPUT,) if config.tie_embeddings != "none" else ()
    weights: Weights = {}
    if shared:
        names = (SHARED, TARGET, SOURCE, *of_output)
        source = target = store.first_of(names, len(src.listed), width)[src.order()][:, axes]
    else:
        source = store.take(SOURCE, len(src.listed), width)[src.order()][:, axes]  # [V,d]
        names = (TARGET, *of_output)
        target = store.first_of(names, len(tgt.listed), width)[tgt.order()][:, axes]
    weights["src_embedding.tokens.weight"] = source
    if config.tie_embeddings != "all":
        weights["tgt_embedding.tokens.weight"] = target
    if config.tie_embeddings == "none":
        output = store.take(OUTPUT, len(tgt.listed), width)
        weights["output.weight"] = output[tgt.order()][:, axes]
    weights["output.bias"] = store.take(BIAS, 1, len(tgt.listed))[0, tgt.order()]
    return weights | _positions(config, store)


# --- positions ---


def kind_of_positions(tensors: dict[str, Tensor]) -> str:
    """`model.positions` of a file: of one whose tables, if it has any, are Marian's own, `sinusoidal`."""
    tables = [tensors[name] for name in _TABLES.values() if name in tensors]
    return "sinusoidal" if all(map(_is_usual, tables)) else "learned"


def _is_usual(table: Tensor) -> bool:
    if table.ndim != 2 or table.shape[1] % 2:
        return False
    usual = sinusoids_in_halves(*table.shape)
    return torch.allclose(table.float(), usual, rtol=0, atol=_ROUNDING)


def _positions(config: ModelConfig, store: Store) -> Weights:
    """The tables [P,d] of a file's own positions."""
    weights: Weights = {}
    for side, name in _TABLES.items():
        if config.positions == "learned":
            weights[f"{side}_embedding.positions"] = store.take(
                name, config.max_length, config.d_model
            )
        else:
            store.leave(name)
    return weights


def _axes(config: ModelConfig) -> Tensor:
    """[d]: the file's axis for each of ours."""
    axes = torch.arange(config.d_model)
    return axes if config.positions == "learned" else axes.unflatten(0, (2, -1)).t().flatten()


def sinusoids_in_halves(length: int, width: int) -> Tensor:
    """[length, width]: all sines, then all cosines, of Vaswani et al., §3.5 (`MarianSinusoidalPositionalEmbedding`)."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    axis = torch.arange(width, dtype=torch.float64)
    angles = position / 10000.0 ** (2 * (axis // 2) / width)
    return torch.cat((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=1).float()


def _stacked(ours: str, theirs: list[str], config: ModelConfig, store: Store) -> Weights:
    """The weight of one of our parts, and its bias if it has one."""
    width = config.d_model
    rows = config.d_ff if ours.endswith("feed_forward.inner") else width
    columns = config.d_ff if ours.endswith("feed_forward.out") else width
    is_norm = ours.rpartition(".")[2].endswith("norm")
    shape = (width,) if is_norm else (rows, columns)
    weight = torch.cat([store.take(f"{name}.weight", *shape) for name in theirs])
    stacked = {f"{ours}.weight": weight}
    if not ours.endswith(_WITHOUT_BIAS):
        stacked[f"{ours}.bias"] = torch.cat([store.take(f"{name}.bias", rows) for name in theirs])
    return {name: _in_our_order(ours, tensor, config) for name, tensor in stacked.items()}


def _in_our_order(ours: str, tensor: Tensor, config: ModelConfig) -> Tensor:
    """A weight or bias of one of our parts, with the axes of d_model in our order."""
    kind = ours.rpartition(".")[2].removeprefix("encoder_").removeprefix("decoder_")
    axes = _axes(config)
    if kind in _WRITES:
        tensor = tensor[axes]
    if kind in _READS and tensor.ndim == 2:
        tensor = tensor[:, axes]
    return tensor

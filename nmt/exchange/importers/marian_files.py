"""A folder of Marian's own files, as OPUS-MT's zips, TC-big, HPLT and Mozilla's models and teachers have them.

    *.npz *.bin              the weights, with the settings as YAML in the array special:model.yml
    *vocab*.yml              pieces → rows, for both sides; or one for each, named in decoder.yml
    source.spm target.spm    text → pieces
    *vocab*.spm              instead of these four: sentencepiece with Marian's rows, for both sides or one for each
    metadata.json            of Firefox Translations: languages, and the size and hash of the .bin

.bin and .spm may be packed by gzip. Shortlists (lex*.bin) are of use for Marian's own search alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nmt.archives import open_archive, read_unpacked
from nmt.errors import ModelError
from nmt.exchange.importers.fields import brief, yaml_fields
from nmt.exchange.importers.firefox import check_metadata
from nmt.exchange.importers.marian import (
    Marian,
    MarianSide,
    Store,
    Tokens,
    our_weights,
)
from nmt.exchange.importers.marian_binary import Array, read_binary
from nmt.exchange.importers.marian_config import marian_config, refuse_other_models
from nmt.exchange.importers.marian_vocab import find_sides
from nmt.exchange.marian_format import (
    BIAS,
    DECODER_PARTS,
    ENCODER_PARTS,
    OUTPUT,
    OUTSIDE,
    SETTINGS,
    SHARED,
    SOURCE,
    TARGET,
    VALUES,
)

_MODELS = ("*.npz", "*.bin", "*.bin.gz")
_SHORTLIST = "lex"
_PAD = "<pad>"
_LAYER = re.compile(r"(encoder|decoder)_l([1-9]\d{0,3})_(\w+)")


def has_marian_files(folder: Path) -> bool:
    """Whether a folder has a model that may be Marian's."""
    return bool(_models(folder))


def read_marian_files(folder: Path) -> Marian:
    """The model in a folder. Raises ModelError, in one line, if it is damaged or nmt cannot express it."""
    path = _only_model(folder)
    files = find_sides(folder)
    binary = None if path.suffix == ".npz" else read_unpacked(path)
    arrays, settings = _read_model(path, binary)
    fields = yaml_fields(settings, f"{path}: {SETTINGS}")
    refuse_other_models(fields)
    tensors = _renamed(arrays, path)
    shared = SHARED in tensors
    if shared and files.src.listed != files.tgt.listed:
        message = "the model has one vocabulary for both sides, and the files differ"
        raise ModelError(f"{folder}: {message}; fetch them again")
    config = marian_config(fields, tensors, path)
    src = _tokens(files.src.listed, files.src.place)
    tgt = _tokens(files.tgt.listed, files.tgt.place)
    _add_padding(tensors)
    return Marian(
        kind="Marian .npz" if path.suffix == ".npz" else "Marian .bin",
        config=config,
        src=MarianSide("en", src, files.src.pieces),
        tgt=MarianSide("zh", tgt, files.tgt.pieces),
        shared=shared,
        weights=our_weights(config, src, tgt, shared, Store(path, tensors)),
        files=(path, *files.read),
        binary=binary,
    )


def _only_model(folder: Path) -> Path:
    models = _models(folder)
    if len(models) != 1:
        names = ", ".join(path.name for path in models)
        raise ModelError(f"{folder}: holds several models ({names}); leave one of them there")
    return models[0]


def _models(folder: Path) -> list[Path]:
    found = [path for pattern in _MODELS for path in folder.glob(pattern)]
    return sorted(path for path in found if not path.name.startswith(_SHORTLIST))


def _read_model(path: Path, binary: bytes | None) -> tuple[dict[str, Array], bytes]:
    """The arrays of a file by name, and its settings; `binary` is the content of a .bin.

    Raises ModelError for a damaged file.
    """
    if binary is None:
        arrays = _read_npz(path)
    else:
        check_metadata(path, binary)
        arrays = read_binary(binary, str(path))
    if SETTINGS not in arrays:
        raise ModelError(f"{path}: no {SETTINGS} in it, so not Marian's; name another model")
    return arrays, arrays.pop(SETTINGS).tobytes().rstrip(b"\0")


def _read_npz(path: Path) -> dict[str, Array]:
    with open_archive(path):
        pass  # nothing in it unpacks to more than its size
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except Exception as error:  # for damaged headers numpy raises many kinds of errors
        reason = str(error) or type(error).__name__
        raise ModelError(f"{path}: not whole .npz ({reason[:80]}); fetch it again") from None


# --- tokens and weights in transformers' terms ---


def _tokens(listed: list[str], place: str) -> Tokens:
    """Marian's tokens, and after them a row of zeros: padding, and what the decoder starts from."""
    for token in ("</s>", "<unk>"):
        if token not in listed:
            raise ModelError(f"{place}: '{token}' is missing; fetch it again")
    pad = len(listed)
    unk = listed.index("<unk>")
    return Tokens([*listed, _PAD], pad=pad, unk=unk, start=pad, eos=listed.index("</s>"))


def _add_padding(tensors: dict[str, Tensor]) -> None:
    """A last row of zeros for each vocabulary."""
    for name in (SHARED, SOURCE, TARGET, OUTPUT):
        if name in tensors and tensors[name].ndim == 2:
            tensors[name] = torch.nn.functional.pad(tensors[name], (0, 0, 0, 1))
    if BIAS not in tensors:
        rows = [tensors[name] for name in (OUTPUT, TARGET, SHARED) if name in tensors]
        tensors[BIAS] = torch.zeros(1, len(rows[0]) if rows else 0)
    elif tensors[BIAS].ndim == 2:
        tensors[BIAS] = torch.nn.functional.pad(tensors[BIAS], (0, 1))


def _renamed(arrays: dict[str, Array], path: Path) -> dict[str, Tensor]:
    """The arrays under transformers' names, matrices turned over. Raises ModelError for an array without a meaning."""
    tensors: dict[str, Tensor] = {}
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.float16, np.float64) or array.ndim > 2:
            kind = f"{array.ndim} axes of {array.dtype}"
            raise ModelError(f"{path}: {brief(name)} has {kind}; nmt imports plain fractions")
        for theirs, tensor in _translated(name.removesuffix("_pre"), torch.from_numpy(array)):
            if theirs in tensors:
                raise ModelError(f"{path}: {brief(name)} is in it twice; fetch it again")
            tensors[theirs] = tensor
    _add_missing_biases(tensors)
    return tensors


def _translated(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """An array under the names that transformers has for it; what it has none for keeps its own."""
    inside = _LAYER.fullmatch(name)
    if inside is not None:
        yield _in_layer(inside, tensor)
    elif name == "Wpos":
        yield "model.encoder.embed_positions.weight", tensor
        yield "model.decoder.embed_positions.weight", tensor
    elif name == "decoder_ff_logit_out_W":
        yield OUTPUT, tensor.t()
    elif name == "decoder_ff_logit_out_Wt":
        yield OUTPUT, tensor
    elif name in OUTSIDE and "_ln_" in name:
        yield OUTSIDE[name], tensor.flatten()
    else:
        yield OUTSIDE.get(name, name), tensor


def _in_layer(inside: re.Match[str], tensor: Tensor) -> tuple[str, Tensor]:
    """Part of a layer; Marian counts layers from 1."""
    stack, number, part = inside[1], int(inside[2]), inside[3]
    base = f"model.{stack}.layers.{number - 1}"
    parts = ENCODER_PARTS if stack == "encoder" else ENCODER_PARTS | DECODER_PARTS
    for (matrix, bias), theirs in parts.items():
        if part == matrix:
            is_norm = matrix.endswith("_ln_scale")
            return f"{base}.{theirs}.weight", tensor.flatten() if is_norm else tensor.t()
        if part == bias:
            return f"{base}.{theirs}.bias", tensor.flatten()
    return inside[0], tensor


def _add_missing_biases(tensors: dict[str, Tensor]) -> None:
    """Zeros where a matrix of a layer has no bias, and ours has."""
    for name in [name for name in tensors if ".layers." in name]:
        bias = f"{name.removesuffix('.weight')}.bias"
        has_one = not bias.endswith(f"{VALUES}.bias")
        if name.endswith(".weight") and bias not in tensors and tensors[name].ndim and has_one:
            tensors[bias] = torch.zeros(len(tensors[name]))

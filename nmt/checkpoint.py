"""Checkpoints: folders that appear whole or not at all, hold no pickled code, and say what they belong to.

`step-00012000/` holds `model.safetensors`, `training.pt` (optimizer and scaler state, loaded with
`weights_only=True`) and `meta.json`. There is no random state and no schedule in it: both are functions of the seed
and the number of updates. `average-00012000/` is the mean of several; it has no training state.

`meta.json` holds a checksum of each other file, and of itself in `seal`; that and `format` stay so in every format.
"""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import safetensors.torch
import torch
from torch import Tensor, nn

from nmt.errors import FormatError, ModelError, UserError
from nmt.files import read_bytes, read_json, remove, replacing, write_json, write_text
from nmt.run_dir import CHECKPOINT, SIDES, RunDir

FORMAT = 1
WEIGHTS, TRAINING, META = "model.safetensors", "training.pt", "meta.json"

Weights = dict[str, Tensor]  # by the parameters' names


@dataclass(frozen=True)
class Meta:
    """What a checkpoint says of itself."""

    update: int
    fingerprints: tuple[str, str]  # of both sides
    scores: dict[str, float] = field(default_factory=dict)
    progress: dict[str, Any] = field(
        default_factory=dict
    )  # what resuming needs beside weights and optimizer
    origin: dict[str, Any] = field(
        default_factory=dict
    )  # what made it: versions, seed, fingerprints


def save(
    run: RunDir, name: str, weights: Weights, meta: Meta, training: dict[str, Any] | None = None
) -> Path:
    """Write one checkpoint folder; gives its path."""
    folder = run.checkpoints / name
    with replacing(folder) as part:
        part.mkdir()
        _write_tensors(part, weights, training)
        checksums = {file.name: checksum(file) for file in sorted(part.iterdir())}
        described: dict[str, Any] = {"format": FORMAT, **vars(meta), "sha256": checksums}
        described |= zip(SIDES, described.pop("fingerprints"), strict=True)
        write_json(part / META, described | {"seal": _seal(described)})
    return folder


def _write_tensors(part: Path, weights: Weights, training: dict[str, Any] | None) -> None:
    """Raises UserError where they cannot be written, on a full disk for one; the libraries have errors of their own."""
    try:
        packed = safetensors.torch.save(
            {key: x.detach().contiguous().cpu() for key, x in weights.items()}
        )
        (part / WEIGHTS).write_bytes(packed)
        if training is not None:
            torch.save(training, part / TRAINING)
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        mend = "free some space: earlier ones are whole"
        raise UserError(
            f"{part.name}: the checkpoint cannot be written ({reason}); {mend}"
        ) from None


def step_name(update: int) -> str:
    """The folder's name of the checkpoint after `update` updates."""
    return f"step-{update:08d}"


def average_name(update: int) -> str:
    """The folder's name of an average whose last member is `update`."""
    return f"average-{update:08d}"


def parameters_of(model: nn.Module) -> Weights:
    """The model's parameters by name, each shared one once."""
    return {name: parameter.data for name, parameter in model.named_parameters()}


def read_meta(folder: Path) -> Meta:
    """What a checkpoint says of itself. Raises ModelError if it is missing, damaged or of a later format."""
    try:
        meta = _read_sealed(folder / META)
        version = meta["format"]
        if version == FORMAT:
            sides, origin = (meta["src"], meta["tgt"]), meta.get("origin", {})
            return Meta(meta["update"], sides, meta["scores"], meta["progress"], origin)
    except (OSError, KeyError, TypeError) as error:
        raise ModelError(f"{folder / META}: missing or damaged ({error})") from None
    mend = "install the nmt that wrote it"
    raise FormatError(f"{folder}: written in format {version}, but this nmt reads {FORMAT}; {mend}")


def _read_sealed(path: Path) -> dict[str, Any]:
    meta: dict[str, Any] = read_json(path)
    if "seal" in meta and meta.pop("seal") != _seal(meta):
        raise ModelError(f"{path}: changed since it was written")
    return meta


def _seal(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def load_weights(folder: Path) -> Weights:
    """The weights of a checkpoint. Raises ModelError if they are missing or damaged."""
    path = _intact(folder / WEIGHTS)
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        raise ModelError(f"{path}: not whole safetensors ({error})") from None


def load_training(folder: Path) -> dict[str, Any]:
    """The optimizer's state. No pickled code is executed. Raises ModelError if it is missing or damaged."""
    path = _intact(folder / TRAINING)
    _refuse_inflated(path)
    try:
        return cast(dict[str, Any], torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises whatever the damage leads it into
        raise ModelError(
            f"{path}: not the training state of this program ({type(error).__name__})"
        ) from None


def _refuse_inflated(path: Path) -> None:
    """Raise ModelError for an archive that says it holds more than its own size; torch.save compresses nothing."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ModelError(f"{path}: not the training state of this program ({error})") from None
    if inside > path.stat().st_size:
        raise ModelError(f"{path}: says that it holds {inside:,} bytes, more than its size")


def put_weights(model: nn.Module, weights: Weights, origin: Path) -> None:
    """Copy weights into a model. Raises ModelError naming the first key that is missing, foreign or not fit for it."""
    wanted = parameters_of(model)
    for key in [*wanted, *weights]:
        if key not in weights or key not in wanted:
            where = "missing from" if key not in weights else "unknown to the model but in"
            raise ModelError(
                f"{origin}: '{key}' is {where} the checkpoint; it was trained with another model section"
            )
        if weights[key].shape != wanted[key].shape:
            have, want = list(weights[key].shape), list(wanted[key].shape)
            raise ModelError(
                f"{origin}: '{key}' has shape {have}, the configuration makes it {want}"
            )
        if not (weights[key].is_floating_point() and weights[key].isfinite().all()):
            raise ModelError(f"{origin}: '{key}' holds what is no number; take another checkpoint")
    for key, tensor in wanted.items():
        tensor.copy_(weights[key])


def set_aside(folder: Path) -> None:
    """Rename a checkpoint that is of no use, so that it is taken for one no more."""
    aside = folder.with_name(f"{folder.name}.damaged")
    shutil.rmtree(aside, ignore_errors=True)
    folder.rename(aside)


def mark_best(run: RunDir, folder: Path) -> None:
    """Say which checkpoint is best."""
    write_text(run.best, folder.name + "\n")


def best(run: RunDir) -> Path | None:
    """The checkpoint marked as best, if there is one."""
    try:
        name = read_bytes(run.best).decode().strip()
    except (OSError, UnicodeDecodeError, ModelError):
        return None
    folder = run.checkpoints / name
    return folder if CHECKPOINT.fullmatch(name) and folder.is_dir() else None


def prune(run: RunDir, keep: Sequence[Path]) -> None:
    """Delete every checkpoint but those in `keep` and the best."""
    for folder in sorted({*run.steps(), *run.steps("average")} - {*keep, best(run)}):
        remove(folder)


def average(folders: Sequence[Path]) -> Weights:
    """The mean of several checkpoints' weights (Vaswani et al., 2017, §6.1), summed in float64."""
    mean: Weights = {}
    for folder in folders:
        for key, tensor in load_weights(folder).items():
            mean[key] = mean.get(key, 0) + tensor.double() / len(folders)
    return {key: tensor.float() for key, tensor in mean.items()}


def _intact(path: Path) -> Path:
    """The file, which is byte for byte what was written; if not, raises ModelError."""
    try:
        intact = _read_sealed(path.parent / META)["sha256"][path.name] == checksum(path)
    except (OSError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: missing or damaged ({error})") from None
    if not intact:
        raise ModelError(f"{path}: truncated or changed since it was written")
    return path


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

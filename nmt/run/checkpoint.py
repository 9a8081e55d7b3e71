"""Checkpoints: folders that appear whole or not at all, hold no code, and say where they come from.

`step-00012000/` holds `model.safetensors`, `training.pt` (optimizer and scaler state, loaded with
`weights_only=True`) and `meta.json`. It holds no random state and no schedule: both are functions
of the seed and the number of updates. `average-00012000/` is the mean of several checkpoints and
has no training state.

`meta.json` holds a checksum of every other file, and one of itself in `seal`. These checksums and
`format` stay the same in every later format.

torch is imported only where tensors are read or written: what only asks which checkpoint is best starts without it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from nmt.archives import open_archive
from nmt.errors import FormatError, ModelError, UserError
from nmt.files import (
    checksum,
    read_bytes,
    read_json,
    remove,
    replacing,
    unreadable,
    write_json,
    write_text,
)
from nmt.run.folder import CHECKPOINT, META, TRAINING, WEIGHTS, RunDir
from nmt.run.int8_weights import values_of_int8
from nmt.run.ownership import is_own_checkpoint
from nmt.run.provenance import Provenance

if TYPE_CHECKING:
    from torch import Tensor, nn

FORMAT = 1
RESTORE = "restore it from a copy, or use another checkpoint"

Weights = dict[str, "Tensor"]  # by the names of the parameters


# --- a checkpoint and what it says about itself ---


@dataclass(frozen=True)
class Meta:
    """What a checkpoint says about itself.

    `progress` is what resuming needs besides the weights and the optimizer.
    """

    update: int
    fingerprints: tuple[str, str]  # of the source and the target side
    scores: dict[str, float] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)


def step_name(update: int) -> str:
    """The folder name of the checkpoint after `update` updates."""
    return f"step-{update:08d}"


def average_name(update: int) -> str:
    """The folder name of an average whose last member is `update`."""
    return f"average-{update:08d}"


# --- writing ---


def save(
    run: RunDir, name: str, weights: Weights, meta: Meta, training: dict[str, Any] | None = None
) -> Path:
    """Write one checkpoint folder and return its path. Raises UserError if it cannot be written."""
    folder = run.checkpoints / name
    if folder.exists() and not is_own_checkpoint(folder):
        set_aside(folder)
    with replacing(folder) as part:
        part.mkdir()
        _write_tensors(part, folder, weights, training)
        _write_meta(part, meta)
    return folder


def _write_tensors(
    part: Path, folder: Path, weights: Weights, training: dict[str, Any] | None
) -> None:
    """Write into `part`, which will be `folder`."""
    import safetensors.torch
    import torch

    on_cpu = {key: tensor.detach().contiguous().cpu() for key, tensor in weights.items()}
    try:
        (part / WEIGHTS).write_bytes(safetensors.torch.save(on_cpu))
        if training is not None:
            with (part / TRAINING).open("wb") as file:
                torch.save(training, file)
    except (OSError, RuntimeError) as error:
        # On a full disk torch raises an error of its own, after ours.
        cause = error if isinstance(error, OSError) else error.__context__
        if not isinstance(cause, OSError):
            raise  # such as an error of a GPU, which has waited for the first who copies from it
        message = f"the checkpoint cannot be written ({cause.strerror})"
        fix = "free some space; checkpoints before it are intact"
        raise UserError(f"{folder}: {message}; {fix}") from None


def _write_meta(part: Path, meta: Meta) -> None:
    src, tgt = meta.fingerprints
    values = {
        "format": FORMAT,
        "update": meta.update,
        "scores": meta.scores,
        "progress": meta.progress,
        "origin": meta.provenance.as_json(),
        "sha256": {file.name: checksum(file) for file in sorted(part.iterdir())},
        "src": src,
        "tgt": tgt,
    }
    write_json(part / META, {**values, "seal": _seal(values)})


def _seal(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


# --- reading ---


def read_meta(folder: Path) -> Meta:
    """What a checkpoint says about itself.

    Raises ModelError if it is missing or damaged, FormatError if it has a later format.
    """
    try:
        values = _read_sealed(folder / META)
        version = values["format"]
        if version == FORMAT:
            return Meta(
                update=values["update"],
                fingerprints=(values["src"], values["tgt"]),
                scores=values["scores"],
                progress=values["progress"],
                provenance=Provenance.from_json(values.get("origin", {})),
            )
    except (OSError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(folder / META, error) from None
    fix = "install the nmt that wrote it"
    raise FormatError(f"{folder}: written in format {version}, but this nmt reads {FORMAT}; {fix}")


def _read_sealed(path: Path) -> dict[str, Any]:
    values = read_json(path, RESTORE)
    if not isinstance(values, dict):
        raise TypeError("no JSON object")
    if "seal" in values and values.pop("seal") != _seal(values):
        raise ModelError(f"{path}: changed since it was written; {RESTORE}")
    return values


def _damaged(path: Path, error: Exception) -> ModelError:
    """The error for a file of a checkpoint that cannot be read, or does not hold what it has to."""
    if isinstance(error, PermissionError):
        return ModelError(unreadable(path, error))
    reason = str(error)
    if isinstance(error, OSError):
        reason = str(error.strerror)
    if isinstance(error, KeyError):
        reason = f"no {error} in it"
    return ModelError(f"{path}: missing or damaged ({reason}); {RESTORE}")


def load_weights(folder: Path) -> Weights:
    """The weights of a checkpoint. Raises ModelError if they are missing or damaged."""
    import safetensors.torch

    path = _intact(folder / WEIGHTS)
    try:
        return values_of_int8(safetensors.torch.load_file(path))
    except (OSError, safetensors.SafetensorError) as error:
        raise ModelError(f"{path}: not whole safetensors ({error}); {RESTORE}") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}; {RESTORE}") from None


def load(folder: Path) -> tuple[Meta, Weights]:
    """What a checkpoint says about itself, and its weights.

    Raises ModelError if they are missing or damaged, FormatError if it has a later format.
    """
    return read_meta(folder), load_weights(folder)


def load_training(folder: Path) -> dict[str, Any]:
    """The state of the optimizer and the scaler. No pickled code is executed.

    Raises ModelError if it is missing or damaged.
    """
    import torch

    path = _intact(folder / TRAINING)
    with open_archive(path):
        pass  # nothing in it unpacks to more than its size
    try:
        return cast(dict[str, Any], torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # a damaged file can make torch raise anything
        reason = type(error).__name__
        raise ModelError(f"{path}: not the training state of this program ({reason})") from None


def weights_hash(folder: Path) -> str:
    """The SHA-256 that a checkpoint's weights were written with. Raises ModelError if it is missing or damaged."""
    try:
        return str(_read_sealed(folder / META)["sha256"][WEIGHTS])
    except (OSError, KeyError, TypeError) as error:
        raise _damaged(folder / META, error) from None


def _intact(path: Path) -> Path:
    """The path, if its file is byte for byte what was written. Raises ModelError if it is not."""
    try:
        checksums = _read_sealed(path.parent / META)["sha256"]
        intact = checksums[path.name] == checksum(path)
    except (OSError, KeyError, TypeError) as error:
        raise _damaged(path, error) from None
    if not intact:
        raise ModelError(f"{path}: truncated or changed since it was written; {RESTORE}")
    return path


# --- weights and models ---


def parameters_of(model: "nn.Module") -> Weights:
    """The model's parameters by name; a shared parameter appears once."""
    return {name: parameter.data for name, parameter in model.named_parameters()}


def put_weights(model: "nn.Module", weights: Weights, source: Path) -> None:
    """Copy weights, which come from `source`, into a model. Raises ModelError as `refuse_misfits` does."""
    refuse_misfits(model, weights, source)
    copy_weights(model, weights)


def refuse_misfits(model: "nn.Module", weights: Weights, source: Path) -> None:
    """Raise ModelError naming the first key that is missing, unknown or of the wrong shape or kind.

    The model may be one of shapes only.
    """
    parameters = parameters_of(model)
    for key in [*parameters, *weights]:
        _refuse_misfit(key, parameters, weights, source)


def copy_weights(model: "nn.Module", weights: Weights) -> None:
    """Copy weights that fit into a model."""
    for key, parameter in parameters_of(model).items():
        parameter.copy_(weights[key])


def _refuse_misfit(key: str, parameters: Weights, weights: Weights, source: Path) -> None:
    other_model = "it was trained with another model section"
    if key not in weights:
        message = f"'{key}' is missing from the checkpoint; {other_model}"
        raise ModelError(f"{source}: {message}")
    if key not in parameters:
        message = f"'{key}' is unknown to the model but in the checkpoint; {other_model}"
        raise ModelError(f"{source}: {message}")
    weight = weights[key]
    found = list(weight.shape)
    expected = list(parameters[key].shape)
    if found != expected:
        message = f"'{key}' has shape {found}, the configuration makes it {expected}"
        raise ModelError(f"{source}: {message}")
    if not (weight.is_floating_point() and weight.isfinite().all()):
        message = f"'{key}' holds values that are not finite numbers; use another checkpoint"
        raise ModelError(f"{source}: {message}")


def average(folders: Sequence[Path]) -> Weights:
    """The mean of several checkpoints' weights (Vaswani et al., 2017, §6.1), summed in float64."""
    mean: Weights = {}
    for folder in folders:
        for key, tensor in load_weights(folder).items():
            mean[key] = mean.get(key, 0) + tensor.double() / len(folders)
    return {key: tensor.float() for key, tensor in mean.items()}


# --- the checkpoints of a run ---


def mark_best(run: RunDir, folder: Path) -> None:
    """Note which checkpoint is best."""
    write_text(run.best, folder.name + "\n")


def best(run: RunDir) -> Path | None:
    """The checkpoint marked as best, if there is one."""
    name = _marked(run)
    while name is not None:
        folder = run.checkpoints / name
        if folder.is_dir():
            return folder
        before, name = name, _marked(run)
        if name == before:
            return None  # and no training has just marked another
    return None


def _marked(run: RunDir) -> str | None:
    try:
        name = read_bytes(run.best).decode().strip()
    except (OSError, UnicodeDecodeError, ModelError):
        return None
    return name if CHECKPOINT.fullmatch(name) else None


def set_aside(folder: Path) -> None:
    """Rename a useless checkpoint, so that nobody takes it for one any more."""
    aside = folder.with_name(f"{folder.name}.damaged")
    if is_own_checkpoint(aside):
        remove([aside])
    for number in count(2):
        if not aside.exists():
            break
        aside = folder.with_name(f"{folder.name}.damaged-{number}")
    folder.rename(aside)


def prune(run: RunDir, keep: Sequence[Path]) -> None:
    """Delete every checkpoint except those in `keep`, the best, and those to which the user has added something."""
    present = set(run.steps_and_averages())
    superfluous = sorted(present - {*keep, best(run)})
    remove([folder for folder in superfluous if is_own_checkpoint(folder)])

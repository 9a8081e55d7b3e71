"""How many parameters the parts of a model have, read from the head of its file: no torch, no values."""

from pathlib import Path

from safetensors import SafetensorError, safe_open

from nmt.errors import ModelError
from nmt.files import unreadable
from nmt.run.checkpoint import RESTORE
from nmt.run.folder import WEIGHTS

_PARTS = {
    "src_embedding": "source embedding",
    "encoder": "encoder",
    "encoder_norm": "encoder",
    "tgt_embedding": "target embedding",
    "decoder": "decoder",
    "decoder_norm": "decoder",
    "output": "output",
}


def parameters_by_part(checkpoint: Path) -> dict[str, int]:
    """Part → parameters; what has no place in our Transformer is `other`. Raises ModelError if it is damaged."""
    path = checkpoint / WEIGHTS
    sizes: dict[str, int] = {}
    try:
        path.open("rb").close()  # safetensors takes what is forbidden for what is missing
        with safe_open(path, framework="numpy") as file:
            for key in file.keys():  # noqa: SIM118 - it is no dict
                part = _PARTS.get(key.split(".")[0], "other")
                size = 1
                for length in file.get_slice(key).get_shape():
                    size *= length
                sizes[part] = sizes.get(part, 0) + size
    except PermissionError as error:
        raise ModelError(unreadable(path, error)) from None
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{path}: not whole safetensors ({reason}); {RESTORE}") from None
    order = list(dict.fromkeys([*_PARTS.values(), "other"]))
    return {part: sizes[part] for part in order if part in sizes}

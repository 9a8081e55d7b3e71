"""Checkpoints that are damaged, forged or of another version."""

import json
import os
from pathlib import Path

import torch

from nmt.run import checkpoint


class Exploit:
    """Unpickled, it makes a folder `executed`."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("executed",)


def spoil(path: Path, damage: str) -> None:
    """Damage a file in one of four ways: truncate, flip, remove, pickle."""
    data = path.read_bytes()
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        path.write_bytes(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])
    elif damage == "remove":
        path.unlink()
    else:
        torch.save(Exploit(), path)


def rewrite_meta(folder: Path, **changes: object) -> None:
    """Change what a checkpoint says about itself, and seal it anew."""
    path = folder / checkpoint.META
    meta = {**json.loads(path.read_text()), **changes}
    del meta["seal"]
    path.write_text(json.dumps({**meta, "seal": checkpoint._seal(meta)}))

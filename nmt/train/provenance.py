"""What a checkpoint comes from: program, settings, data. Equal origins make equal parameters on equal machines."""

import hashlib
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nmt import __version__
from nmt.checkpoint import checksum
from nmt.config.load import dump
from nmt.config.schema import Config
from nmt.run_dir import RunDir

_PACKAGE = Path(__file__).resolve().parents[1]


def origin(config: Config, run: RunDir) -> dict[str, Any]:
    """Versions, seed, and fingerprints of the configuration, the encoded train text and the source code."""
    settings = {key: value for key, value in dump(config).items() if key != "run_dir"}
    python = platform.python_version()
    versions = {
        "nmt": __version__,
        "python": python,
        "torch": torch.__version__,
        "numpy": np.__version__,
    }
    return versions | {
        "seed": config.train.seed,
        "config": hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest(),
        "data": _digest(run.store("train").iterdir()),
        "source": _digest(
            _PACKAGE.rglob("*.py")
        ),  # differs from the commit's where there are changes of one's own
        "git": _commit(_PACKAGE.parent / ".git"),
    }


def _digest(files: Iterable[Path]) -> str:
    return hashlib.sha256(
        b"".join(bytes.fromhex(checksum(path)) for path in sorted(files))
    ).hexdigest()


def _commit(git: Path) -> str | None:
    """The commit that is checked out, where the package lies in a git repository."""
    try:
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        name = head.removeprefix("ref: ")
        if name == head or (git / name).is_file():
            return head if name == head else (git / name).read_text(encoding="utf-8").strip()
        packed = (git / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), None)
    except OSError:
        return None

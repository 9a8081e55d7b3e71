"""Where a checkpoint's weights come from, as others may read it: without the folders of this machine."""

from pathlib import Path
from typing import Any

Origin = dict[str, Any]


def without_folders(origin: Origin) -> Origin:
    """The origin with the bare names of folders that weights were imported from or started from.

    A name on the hub stays: `imported` has a revision beside it.
    """
    told = dict(origin)
    imported = origin.get("imported")
    if isinstance(imported, dict) and not imported.get("revision"):
        told["imported"] = {**imported, "source": _last(imported.get("source"))}
    started = origin.get("started_from")
    if isinstance(started, dict):
        before = started.get("origin")
        told["started_from"] = {**started, "checkpoint": _run_and_step(started.get("checkpoint"))}
        if isinstance(before, dict):
            told["started_from"]["origin"] = without_folders(before)
    return told


def _last(path: Any) -> str:
    return Path(str(path)).name or "a folder"


def _run_and_step(path: Any) -> str:
    """The names of a checkpoint and its run: mine/step-00012000, also where the path is no more than that."""
    *folders, step = Path(str(path)).parts or ("a checkpoint",)
    runs = [folder for folder in folders if folder not in ("checkpoints", "/")]
    return f"{runs[-1] if runs else 'a run'}/{step}"

"""Models converted for CTranslate2, kept in the user's cache: converted once, found again without torch.

Each is a folder named by a hash of all that it was made from, so that it is never out of date. The cache lies outside
the runs: a run may be read-only, and what comes with one from elsewhere is not given to a library that trusts files.
"""

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from nmt.config.schema import Config
from nmt.errors import EngineError, ModelError, Say, print_nothing
from nmt.exchange.exporters.tokens import unique_tokens
from nmt.files import remove, replacing
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.text.side import Side

Numbers = Literal["int8", "float32"]
_KEPT = 8  # the conversions used last
_NAME = 32  # characters of a folder's name
_FORMAT = 1  # of what is made; raised when the same model gives another folder


class Conversion(NamedTuple):
    """A converted checkpoint, and the folder that CTranslate2 loads."""

    checkpoint: Path
    folder: Path


def converted(
    config: Config, run: RunDir, src: Side, tgt: Side, numbers: Numbers, warn: Say
) -> Conversion:
    """The conversion of the checkpoint that `run` names, or of its best; made with torch if it is not in the cache.

    Raises ModelError if there is no checkpoint, or if CTranslate2 has no place for the model.
    """
    found = _cached(config, run, src, tgt, numbers)
    if found is not None:
        return found
    with _one_at_a_time():
        # Another process may have made it meanwhile, such as a worker beside this one.
        return _cached(config, run, src, tgt, numbers) or _made(
            config, run, src, tgt, numbers, warn
        )


def _made(
    config: Config, run: RunDir, src: Side, tgt: Side, numbers: Numbers, warn: Say
) -> Conversion:
    from nmt.exchange.exporters.ctranslate2 import convert
    from nmt.exchange.exporters.trained import load_trained

    trained = load_trained(config, run, warn, print_nothing)
    chosen = run.checkpoints / trained.checkpoint
    folder = _place(chosen, config, src, tgt, numbers)
    names = unique_tokens(src.vocab, tgt.vocab)
    with replacing(folder) as part:
        part.mkdir()
        convert(trained.model, *names, part, numbers, tgt.never_written)
    _prune(folder.parent)
    return Conversion(chosen, folder)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Wait until no other process converts. The system frees the lock of a process that dies."""
    root = _root()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (root / ".lock").open("a")
    except OSError as error:
        fix = "name a folder for it as $XDG_CACHE_HOME, or take --engine torch"
        problem = f"the model cannot be converted for CTranslate2 there ({error.strerror})"
        raise EngineError(f"{root}: {problem}; {fix}") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _cached(
    config: Config, run: RunDir, src: Side, tgt: Side, numbers: Numbers
) -> Conversion | None:
    chosen = run.checkpoint or checkpoint.best(run)
    if chosen is None:
        return None
    try:
        folder = _place(chosen, config, src, tgt, numbers)
    except ModelError:
        return None  # whoever loads the checkpoint says what is wrong with it
    if not folder.is_dir():
        return None
    with suppress(OSError):  # a cache that came with a read-only system
        os.utime(folder)  # it is used
    return Conversion(chosen, folder)


def _place(chosen: Path, config: Config, src: Side, tgt: Side, numbers: Numbers) -> Path:
    """Where the conversion of a checkpoint is, or will be."""
    made_from = [
        _FORMAT,
        checkpoint.weights_hash(chosen),
        config.model.model_dump(mode="json"),
        src.fingerprint(),
        tgt.fingerprint(),
        tgt.never_written,
        numbers,
    ]
    return _root() / hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:_NAME]


def _root() -> Path:
    """The folder of all conversions; without a home, one for each user among the temporary files.

    Raises EngineError if that one is somebody else's, who could put any model there.
    """
    cache = os.environ.get("XDG_CACHE_HOME")
    if cache:
        return Path(cache) / "nmt" / "ctranslate2"
    try:
        return Path.home() / ".cache" / "nmt" / "ctranslate2"
    except RuntimeError:
        own = Path(tempfile.gettempdir()) / f"nmt-{os.getuid()}"
    if own.exists() and own.stat().st_uid != os.getuid():
        fix = "name another folder as $XDG_CACHE_HOME, or take --engine torch"
        raise EngineError(f"{own}: belongs to another user; {fix}")
    return own / "ctranslate2"


def _prune(root: Path) -> None:
    """Delete the conversions that were not used for the longest time."""
    conversions = [path for path in root.iterdir() if path.is_dir() and len(path.name) == _NAME]
    conversions.sort(key=lambda path: path.stat().st_mtime)
    remove(conversions[:-_KEPT])

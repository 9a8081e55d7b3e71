"""Models converted for CTranslate2, kept in the user's cache: converted once, found again without torch.

Each is a folder named by a hash of all that it was made from, so that it is never out of date. The cache lies outside
the runs: a run may be read-only, and what comes with one from elsewhere is not given to a library that trusts files.
"""

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from nmt.config.schema import Config
from nmt.errors import ConfigError, EngineError, ModelError, Say, print_nothing
from nmt.exchange.exporters.tokens import unique_tokens
from nmt.files import opened_alone, refuse_unwritable, remove, replacing, user_cache
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.text.side import Side

Numbers = Literal["int8", "float32"]
_KEPT = 8  # the conversions used last
_LENGTH = 32  # characters of a folder's name
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
    root = cache_folder()
    with _one_at_a_time(root):
        # Another process may have made it meanwhile, such as a worker beside this one.
        found = _cached(config, run, src, tgt, numbers)
        return found or _made(root, config, run, src, tgt, numbers, warn)


def _made(
    root: Path, config: Config, run: RunDir, src: Side, tgt: Side, numbers: Numbers, warn: Say
) -> Conversion:
    from nmt.exchange.exporters.ctranslate2 import convert
    from nmt.exchange.exporters.trained import load_trained

    trained = load_trained(config, run, warn, print_nothing)
    chosen = run.checkpoints / trained.checkpoint
    folder = root / _name(chosen, config, src, tgt, numbers)
    names = unique_tokens(src.vocab, tgt.vocab)
    with replacing(folder) as part:
        part.mkdir()
        convert(trained.model, *names, part, numbers, tgt.never_written)
    _prune(root)
    return Conversion(chosen, folder)


@contextmanager
def _one_at_a_time(root: Path) -> Iterator[None]:
    """Wait until no other process converts into this folder."""
    with ExitStack() as stack:
        try:
            for folder in (root.parent, root):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(opened_alone(root / ".lock"))
        except OSError as error:
            fix = "name a folder for it as $XDG_CACHE_HOME, or use --engine torch"
            problem = f"the model cannot be converted for CTranslate2 there ({error.strerror})"
            raise EngineError(f"{root}: {problem}; {fix}") from None
        yield


def _cached(
    config: Config, run: RunDir, src: Side, tgt: Side, numbers: Numbers
) -> Conversion | None:
    chosen = run.checkpoint or checkpoint.best(run)
    if chosen is None:
        return None
    try:
        name = _name(chosen, config, src, tgt, numbers)
    except ModelError:
        return None  # whoever loads the checkpoint says what is wrong with it
    for folder in (root / name for root in _roots()):
        if folder.is_dir():
            with suppress(OSError):  # a cache that came with a read-only system
                os.utime(folder)  # it is used
            return Conversion(chosen, folder)
    return None


def _name(chosen: Path, config: Config, src: Side, tgt: Side, numbers: Numbers) -> str:
    """The name of the conversion of a checkpoint."""
    made_from = [
        _FORMAT,
        checkpoint.weights_hash(chosen),
        config.model.model_dump(mode="json"),
        src.fingerprint(),
        tgt.fingerprint(),
        tgt.never_written,
        numbers,
    ]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:_LENGTH]


# --- the folders of conversions ---


def cache_folder() -> Path:
    """The folder to which new conversions go. Raises EngineError where none can be trusted."""
    *_, last = _roots()
    return last


def _roots() -> Iterator[Path]:
    """The folders in which conversions may be; new ones go to the last. Raises EngineError as `_temporary` does."""
    try:
        usual = user_cache("ctranslate2")
    except RuntimeError:  # nobody's home is known
        yield _temporary()
        return
    yield usual
    is_named = bool(os.environ.get("XDG_CACHE_HOME"))
    if not (is_named or _can_be_written_to(usual)):
        yield _temporary()


def _can_be_written_to(folder: Path) -> bool:
    try:
        refuse_unwritable(folder)
    except ConfigError:
        return False
    return True


def _temporary() -> Path:
    """A folder of this user's among the temporary files.

    Raises EngineError if it is somebody else's, who could put any model there, or if there are no temporary files.
    """
    fix = "name another folder as $XDG_CACHE_HOME, or use --engine torch"
    try:
        own = Path(tempfile.gettempdir()) / f"nmt-{os.getuid()}"
    except FileNotFoundError as error:
        raise EngineError(f"no folder for the converted model ({error.strerror}); {fix}") from None
    with suppress(FileNotFoundError):
        found = own.lstat()
        is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022
        if found.st_uid != os.getuid() or not is_private:
            problem = "belongs to another user, or other users can write to it"
            raise EngineError(f"{own}: {problem}; {fix}")
    return own / "ctranslate2"


def _prune(root: Path) -> None:
    """Delete the conversions that were not used for the longest time."""
    conversions = [path for path in root.iterdir() if path.is_dir() and len(path.name) == _LENGTH]
    conversions.sort(key=lambda path: path.stat().st_mtime)
    remove(conversions[:-_KEPT])

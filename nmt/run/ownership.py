"""What nmt wrote in a run folder. Anything else there is the user's: it is neither replaced nor deleted.

`written.json` holds the SHA-256 of each file of settings, text and vocabularies, by its name in the run folder. A file
is noted before it gets its name, so that a killed process leaves none that is unknown; up to two hashes stand for a
name, those of the newest file and of the one before. Stores, checkpoints and logs are known by what is in them.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.errors import ConfigError, ModelError
from nmt.files import (
    PART,
    checksum,
    read_bytes,
    read_json,
    remove,
    replacing,
    write_json,
    write_text,
)
from nmt.run.folder import CHECKPOINT, LATEST, META, SPLITS, TRAINING, WEIGHTS, RunDir

_FIX = "move it away, or give another run_dir"
_LATEST_HEAD = "# the run that was trained last here; nmt translate takes it if none is named"
_OF_A_STORE = {"src.ids", "tgt.ids", "offsets.npy", "meta.json"}
_SET_ASIDE = re.compile(rf"({CHECKPOINT.pattern})\.damaged(-\d+)?")
_VALIDATION = re.compile(rf"({CHECKPOINT.pattern})\.[a-z]{{2,3}}")  # such as step-00000100.zh
# How the first line of each log begins.
_LOGS = {
    "metrics.jsonl": re.compile(r'\{"kind": "'),
    "train.log": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "),
    "best": CHECKPOINT,
}


# --- what is refused ---


def refuse_foreign_files(run: RunDir, paths: Iterable[Path]) -> None:
    """Raise ConfigError for a file in the way of one that nmt writes, unless it is as nmt wrote it."""
    record = _Record(run)
    for path in paths:
        is_absent = not path.exists() and not path.is_symlink()
        is_ours = path.is_file() and not path.is_symlink() and record.holds(path)
        if not (is_absent or is_ours):
            raise ConfigError(f"{path}: not as nmt wrote it, and would be replaced; {_FIX}")


def refuse_foreign_stores(run: RunDir) -> None:
    """Raise ConfigError for anything of the user's in the folders that the encoded pairs take."""
    for store in map(run.store, SPLITS):
        inside = store.iterdir() if store.is_dir() else [store]
        for path in sorted(inside):
            if path.exists() and path.name not in _OF_A_STORE:
                raise ConfigError(f"{path}: not written by nmt, and would be deleted; {_FIX}")


def refuse_foreign_places(run: RunDir) -> None:
    """Raise ConfigError where a training would append to a file, or need a folder, that is something else."""
    for folder in run.folders():
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder}: there is a file where nmt needs a folder; {_FIX}")
    for path in (run.metrics, run.log, run.best):
        if path.exists() and not (path.is_file() and _begins_as_ours(path)):
            raise ConfigError(f"{path}: not written by nmt, and would be changed; {_FIX}")


def _begins_as_ours(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(100).decode(errors="replace")
    return start == "" or _LOGS[path.name].match(start) is not None


def refuse_sources_in_the_way(run: RunDir, sources: Iterable[Path]) -> None:
    """Raise ConfigError for a corpus that lies where nmt is to write, even if nmt itself wrote it."""
    places = [*run.places(), *run.data.glob("*")]
    taken = [path for path in places if path.is_file() and _is_written(run, path)]
    for source in sources:
        if any(source.samefile(path) for path in taken):
            raise ConfigError(
                f"{source}: a corpus that would be replaced by its own clean text; "
                "move it out of the run's folder, or give another run_dir"
            )


def _is_written(run: RunDir, path: Path) -> bool:
    """Whether nmt may write a file of this name; a zipped one would be taken for the same the next time."""
    return path.parent != run.data or path.name.partition(".")[0] in SPLITS


# --- the run that was trained last ---


def write_latest(run: RunDir) -> None:
    """Make this the run that was trained last. Raises ConfigError if `runs/latest` is something of the user's."""
    if (LATEST.exists() or LATEST.is_symlink()) and not _is_latest(LATEST):
        raise ConfigError(f"{LATEST}: not written by nmt, and left as it is")
    write_text(LATEST, f"{_LATEST_HEAD}\n{run.path}\n")


def read_latest() -> Path:
    """The folder of the run that was trained last. Raises OSError if there is none."""
    return Path(LATEST.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2])


def _is_latest(path: Path) -> bool:
    """Whether nmt wrote it."""
    if path.is_symlink() or not path.is_file():
        return False
    return path.read_bytes().startswith(f"{_LATEST_HEAD}\n".encode())


# --- what is written ---


def refuse_foreign_config(run: RunDir, text: str) -> None:
    """Raise ConfigError for a `config.yaml` that nmt did not write, and that this text would replace."""
    is_the_same = run.config.is_file() and read_bytes(run.config) == text.encode()
    if not is_the_same:
        refuse_foreign_files(run, [run.config])


def write_config(run: RunDir, text: str) -> None:
    """Write `config.yaml`."""
    _Record(run).note({run.config: hashlib.sha256(text.encode()).hexdigest()})
    write_text(run.config, text)


class _Staged(RunDir):
    """A run folder within another, in which one stage writes; what earlier stages wrote is read from the other."""

    def __init__(self, path: Path, prepared: RunDir | None) -> None:
        super().__init__(path)
        if prepared is not None:
            self.data = prepared.data
            self.prepare_report = prepared.prepare_report


@contextmanager
def staging(run: RunDir, prepared: RunDir | None = None) -> Iterator[RunDir]:
    """Yield a run folder for a stage to write in. What is in it moves to `run` if nothing is raised.

    A stage after `prepare` reads what that wrote from `prepared`.
    """
    with TemporaryDirectory(dir=run.path, prefix=".stage.", suffix=PART) as folder:
        staged = _Staged(Path(folder), prepared)
        yield staged
        _move(staged.path, run)


def _move(staged: Path, run: RunDir) -> None:
    """Note what was staged, and move it to its places: the reports last, since they say that the rest is whole."""
    reports = [path.name for path in (run.prepare_report, run.vocab_report)]
    new = sorted(_staged_files(staged), key=lambda path: (path.name in reports, path))
    places = [run.path / path.relative_to(staged) for path in new]
    hashes = {}
    for path, place in zip(new, places, strict=True):
        if path.is_file():
            hashes[place] = checksum(path)
    _Record(run).note(hashes)
    for place in places:
        if place.name in reports:
            place.unlink(missing_ok=True)
    for path, place in zip(new, places, strict=True):
        with replacing(place) as part:
            path.replace(part)


def _staged_files(staged: Path) -> Iterator[Path]:
    """The files that a stage wrote, each store counting as one."""
    for path in staged.iterdir():
        if path.name in ("data", "store"):
            yield from path.iterdir()
        else:
            yield path


class _Record:
    """The hashes of what nmt wrote in a run's folder."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._hashes = _read_hashes(run.written) if run.written.exists() else {}

    def _name(self, path: Path) -> str:
        return path.relative_to(self._run.path).as_posix()

    def holds(self, path: Path) -> bool:
        """Whether this file is, byte for byte, one that nmt wrote here."""
        return checksum(path) in self._hashes.get(self._name(path), [])

    def note(self, hashes: dict[Path, str]) -> None:
        """Note files before they get to their places."""
        for place, new in hashes.items():
            before = self._hashes.get(self._name(place), [])
            self._hashes[self._name(place)] = list(dict.fromkeys([new, *before]))[:2]
        write_json(self._run.written, self._hashes)


def _read_hashes(path: Path) -> dict[str, list[str]]:
    try:
        hashes = read_json(path)
    except ModelError:
        hashes = None
    is_ours = isinstance(hashes, dict) and all(isinstance(each, list) for each in hashes.values())
    if not is_ours:
        raise ConfigError(f"{path}: not written by nmt, and would be replaced; {_FIX}")
    return dict(hashes)


# --- what is deleted ---


def is_own_checkpoint(folder: Path) -> bool:
    """Whether nmt alone wrote what is in a folder: it holds a checkpoint, and nothing beside it."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    if not {path.name for path in folder.iterdir()} <= {WEIGHTS, TRAINING, META}:
        return False
    try:
        meta = read_json(folder / META)
    except (OSError, ModelError):
        return False
    return isinstance(meta, dict) and meta.keys() >= {"format", "update", "sha256"}


def refuse_to_delete(run: RunDir) -> None:
    """Raise ConfigError for what has the name of a checkpoint but holds something of the user's."""
    for folder in run.steps_and_averages():
        if not is_own_checkpoint(folder):
            raise ConfigError(f"{folder}: more than a checkpoint of nmt's, or less; {_FIX}")


def delete_training(run: RunDir) -> None:
    """Delete all that a training left, and nothing else."""
    folders = run.steps_and_averages()
    if run.checkpoints.is_dir():
        folders += [path for path in run.checkpoints.iterdir() if _SET_ASIDE.fullmatch(path.name)]
    remove([folder for folder in folders if is_own_checkpoint(folder)])
    for file in _training_files(run):
        file.unlink(missing_ok=True)
    for folder in (run.checkpoints, run.validation, run.tensorboard):
        with suppress(OSError):  # it is missing, or holds something of the user's
            folder.rmdir()


def _training_files(run: RunDir) -> Iterator[Path]:
    yield from (run.best, run.metrics, run.log)
    yield from run.tensorboard.glob("events.out.tfevents.*")
    for path in run.validation.glob("*"):
        if _VALIDATION.fullmatch(path.name):
            yield path

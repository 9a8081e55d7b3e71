"""Where a checkpoint's weights come from: program, settings, data, licences, and the checkpoint before it.

On equal machines equal provenance gives equal parameters. A checkpoint's meta.json and an export's export.json hold
it as `origin`. Nothing here loads torch until a training asks for the versions.
"""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from nmt import __version__
from nmt.config.load import dump
from nmt.config.schema import Config
from nmt.files import checksum
from nmt.run.folder import RunDir
from nmt.run.version import source_hash

_REPOSITORY = Path(__file__).resolve().parents[2]
_PROGRAMS = ("nmt", "python", "torch", "numpy", "sacrebleu")


# --- the record ---


@dataclass(frozen=True)
class Corpus:
    """A corpus to train on, as the configuration states it."""

    name: str
    licence: str | None = None
    source: str | None = None

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Raises TypeError if it is malformed."""
        _refuse_no_object(values, "a corpus")
        name = _text(values, "name") or ""
        return cls(name, _text(values, "licence"), _text(values, "source"))


@dataclass(frozen=True)
class Imported:
    """A model from elsewhere."""

    source: str  # its name on the hub, or a folder
    revision: str | None = None  # on the hub
    kind: str | None = None  # such as "Hugging Face MarianMT"
    sha256: dict[str, str] = field(default_factory=dict)  # of its files

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Raises TypeError if it is malformed."""
        _refuse_no_object(values, "what it was imported from")
        sums = values.get("sha256", {})
        _refuse_no_object(sums, "sha256")
        sha256 = {name: _text(sums, name) or "" for name in sums}
        source = _text(values, "source") or ""
        return cls(source, _text(values, "revision"), _text(values, "kind"), sha256)

    def without_folders(self) -> Self:
        """The bare name of a folder. A name on the hub stays: it has a revision."""
        if self.revision:
            return self
        return replace(self, source=Path(self.source).name or "a folder")


@dataclass(frozen=True)
class Ancestor:
    """A checkpoint that weights were started from."""

    checkpoint: str  # its folder
    update: int | None
    provenance: "Provenance"

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Raises TypeError if it is malformed."""
        _refuse_no_object(values, "what it was started from")
        provenance = Provenance.from_json(values.get("origin", {}))
        return cls(_text(values, "checkpoint") or "", _whole(values, "update"), provenance)

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        origin = self.provenance.as_json()
        return {"checkpoint": self.checkpoint, "update": self.update, "origin": origin}

    def without_folders(self) -> Self:
        """The names of the checkpoint and its run: mine/step-00012000, also where its folder is no more than that."""
        *folders, step = Path(self.checkpoint).parts or ("a checkpoint",)
        runs = [folder for folder in folders if folder not in ("checkpoints", "/")]
        name = f"{runs[-1] if runs else 'a run'}/{step}"
        return replace(self, checkpoint=name, provenance=self.provenance.without_folders())


@dataclass(frozen=True)
class Provenance:
    """What made a checkpoint. Fingerprints are SHA-256."""

    versions: dict[str, str] = field(default_factory=dict)  # of nmt and what it computes with
    seed: int | None = None
    config: str | None = None  # fingerprint of the settings
    data: str | None = None  # fingerprint of the encoded train text
    source: str | None = None  # fingerprint of nmt's code, which may differ from the commit
    git: str | None = None  # the commit
    licence: str | None = None  # of the model
    corpora: tuple[Corpus, ...] = ()
    imported: Imported | None = None
    started_from: Ancestor | None = None

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """What `as_json` gave. Raises TypeError if it is malformed; the file is untrusted."""
        _refuse_no_object(values, "its origin")
        texts = {name: _text(values, name) for name in _PROGRAMS}
        corpora = values.get("corpora", [])
        if not isinstance(corpora, list):
            raise TypeError("its corpora are no list")
        imported = values.get("imported")
        started_from = values.get("started_from")
        return cls(
            versions={name: version for name, version in texts.items() if version},
            seed=_whole(values, "seed"),
            config=_text(values, "config"),
            data=_text(values, "data"),
            source=_text(values, "source"),
            git=_text(values, "git"),
            licence=_text(values, "licence"),
            corpora=tuple(map(Corpus.from_json, corpora)),
            imported=Imported.from_json(imported) if imported else None,
            started_from=Ancestor.from_json(started_from) if started_from else None,
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order of meta.json. What is not known has no key, but for two."""
        values = {
            **self.versions,
            "seed": self.seed,
            "config": self.config,
            "data": self.data,
            "source": self.source,
            "git": self.git,
            "licence": self.licence,
            "corpora": [asdict(corpus) for corpus in self.corpora] or None,
            "imported": asdict(self.imported) if self.imported else None,
            "started_from": self.started_from.as_json() if self.started_from else None,
        }
        told = {key for key, value in values.items() if value is not None}
        if self.source:
            told.add("git")  # null: nmt was installed, not cloned
        if self.imported:
            told.add("licence")  # null: its makers state none
        return {key: value for key, value in values.items() if key in told}

    def without_folders(self) -> Self:
        """The same for others to read: no folders of this machine."""
        imported = self.imported.without_folders() if self.imported else None
        started_from = self.started_from.without_folders() if self.started_from else None
        return replace(self, imported=imported, started_from=started_from)

    def ancestors(self) -> Iterator[Ancestor]:
        """The checkpoints that the weights have come from, the newest first."""
        ancestor = self.started_from
        while ancestor is not None:
            yield ancestor
            ancestor = ancestor.provenance.started_from

    def all_corpora(self) -> list[Corpus]:
        """The corpora of this training and of those before it, each once."""
        return list(dict.fromkeys(c for each in self._generations() for c in each.corpora))

    def all_licences(self) -> list[str]:
        """The licences of the model, its corpora, and all that it has come from, each once."""
        licences = []
        for each in self._generations():
            licences += [each.licence, *(corpus.licence for corpus in each.corpora)]
        return list(dict.fromkeys(licence for licence in licences if licence))

    def _generations(self) -> Iterator["Provenance"]:
        yield self
        for ancestor in self.ancestors():
            yield ancestor.provenance


# --- untrusted JSON ---


def _refuse_no_object(values: Any, what: str) -> None:
    if not isinstance(values, dict):
        raise TypeError(f"{what} is no object")


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    if not isinstance(value, str | None):
        raise TypeError(f"{name} is no text")
    return value or None


def _whole(values: dict[str, Any], name: str) -> int | None:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | None):
        raise TypeError(f"{name} is no whole number")
    return value


# --- of a training ---


def provenance_of(config: Config, run: RunDir, started_from: Ancestor | None) -> Provenance:
    """The provenance of what a training makes here."""
    settings = dump(config)
    del settings["run_dir"]
    corpora = [Corpus(each.name, each.licence, each.source) for each in config.data.corpora]
    return Provenance(
        versions=_versions(),
        seed=config.train.seed,
        config=hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest(),
        data=_fingerprint(run.store("train").iterdir()),
        source=source_hash(),
        git=_commit(_REPOSITORY / ".git"),
        licence=config.train.licence or None,
        corpora=tuple(corpora),
        started_from=started_from,
    )


def _versions() -> dict[str, str]:
    import numpy as np
    import torch

    return {
        "nmt": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "sacrebleu": metadata.version("sacrebleu"),
    }


def _fingerprint(files: Iterable[Path]) -> str:
    checksums = b"".join(bytes.fromhex(checksum(path)) for path in sorted(files))
    return hashlib.sha256(checksums).hexdigest()


def _commit(git: Path) -> str | None:
    """The commit that is checked out, if the package lies in a git repository."""
    try:
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head
        branch = head.removeprefix("ref: ")
        if (git / branch).is_file():
            return (git / branch).read_text(encoding="utf-8").strip()
        for line in (git / "packed-refs").read_text(encoding="utf-8").splitlines():
            if line.endswith(f" {branch}"):
                return line.split()[0]
    except OSError:
        pass
    return None

"""What a checkpoint was made from: program, settings, data.

On equal machines equal provenance gives equal parameters.
"""

import hashlib
import json
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nmt import __version__
from nmt.config.load import dump
from nmt.config.schema import Config
from nmt.files import checksum
from nmt.run.folder import RunDir
from nmt.run.version import source_hash

_PACKAGE = Path(__file__).resolve().parents[2]


def provenance(config: Config, run: RunDir, lineage: dict[str, Any]) -> dict[str, Any]:
    """Versions, seed, commit; fingerprints of configuration, train data and source code; licence; corpora; lineage.

    The source code may differ from the commit, so it has a fingerprint too.
    """
    settings = dump(config)
    del settings["run_dir"]
    corpora = stated_corpora(config)
    licence = config.train.licence
    started_from = {"started_from": lineage} if lineage else {}
    return {
        "nmt": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "sacrebleu": metadata.version("sacrebleu"),
        "seed": config.train.seed,
        "config": hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest(),
        "data": _fingerprint(run.store("train").iterdir()),
        "source": source_hash(),
        "git": _commit(_PACKAGE.parent / ".git"),
        **({"licence": licence} if licence else {}),
        **({"corpora": corpora} if corpora else {}),
        **started_from,
    }


def stated_corpora(config: Config) -> list[dict[str, Any]]:
    """The name, licence and source of every corpus to train on, as the configuration states them."""
    corpora = []
    for corpus in config.data.corpora:
        stated = {"name": corpus.name, "licence": corpus.licence, "source": corpus.source}
        corpora.append(stated)
    return corpora


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

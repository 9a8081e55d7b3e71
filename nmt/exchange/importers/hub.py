"""Models on the Hugging Face hub, by `owner/name`. Needs huggingface_hub, of nmt's extra `hub`."""

import re
from pathlib import Path
from typing import Any

from nmt.errors import ConfigError, ModelError
from nmt.exchange.importers import licence, marian_hf

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_SMALL = (
    marian_hf.CONFIG,
    marian_hf.TOKENIZER,
    *marian_hf.VOCABULARIES,
    *marian_hf.PIECES,
    licence.README,
    *licence.LICENCES,
)


def is_name(source: str) -> bool:
    """Whether this could be a model on the hub."""
    return _NAME.fullmatch(source) is not None


def refuse_revision_of_folder(folder: Path, revision: str | None) -> None:
    """Raise ConfigError for a revision that would be ignored."""
    if revision is not None:
        message = f"{folder} is a folder; only models on the hub have revisions"
        raise ConfigError(f"command line: --revision {revision}: {message}")


def fetch(name: str, revision: str | None) -> tuple[Path, str]:
    """The folder with the files that an import needs, and the commit that they are of.

    huggingface_hub keeps them, and gives them again where the hub cannot be reached. Raises ConfigError without
    huggingface_hub, ModelError if the model or the revision is not there, cannot be fetched, or has no weights.
    """
    try:
        import huggingface_hub
    except ImportError:
        fix = "pip install huggingface_hub, or fetch the files yourself and name their folder"
        raise ConfigError(f"{name}: models of the hub need huggingface_hub; {fix}") from None
    try:
        return _fetch(huggingface_hub, name, revision)
    except ModelError:
        raise
    except (
        Exception
    ) as error:  # the library's, its HTTP client's and the system's have no common class
        fix = "check the network, or download the files and name their folder"
        raise ModelError(f"{name}: cannot be fetched ({_reason(error)}); {fix}") from None


def _fetch(huggingface_hub: Any, name: str, revision: str | None) -> tuple[Path, str]:
    for weights in marian_hf.WEIGHTS:
        files = [*_SMALL, weights]
        fetched = huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=files)
        folder = Path(fetched)
        revision = folder.name  # the commit
        if (folder / weights).exists():
            return folder, revision
    wanted = " or ".join(marian_hf.WEIGHTS)
    raise ModelError(f"{name} at {revision}: has no {wanted}; nmt import needs one of them")


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__

"""Mozilla's list of the models of Firefox Translations, and the newest released one from English to Chinese.

    {"baseUrl": …, "models": {"en-zh": [{"releaseStatus": "Release", "architecture": …, "hash": …, "byteSize": …,
        "files": {"model": {"path": …}, "srcVocab": {"path": …}, "trgVocab": {"path": …}}}, …]}}

The hash is SHA-256 of the model, unpacked. A shortlist may be listed too; nmt does not use it.
"""

import hashlib
import os
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nmt.archives import read_unpacked
from nmt.errors import ModelError, Say
from nmt.exchange.fetching import cached, fetched, place_of, refuse_unsafe
from nmt.exchange.importers.fields import Fields, brief, json_fields
from nmt.exchange.importers.firefox import METADATA
from nmt.files import checksum, write_json

NAME = "firefox"  # instead of a folder
LICENCE = "MPL-2.0 (of Mozilla's repository of models; the models state no other)"
LIST = (
    "https://storage.googleapis.com/moz-fx-translations-data--303e-prod-translations-data/"
    "db/models.json"
)
_VARIABLE = "NMT_FIREFOX_MODELS"  # names another list, of a mirror
_PAIRS = ("en-zh", "en-zh_hans", "en-zh-Hans")
_RELEASED = "Release"
_VOCABULARIES = (("vocab",), ("srcVocab", "trgVocab"))
_LARGEST_LIST = 2**24  # bytes
_HASHES = ("uncompressedHash", "hash", "sha256")  # of a file, where it has one
_KEPT = ("architecture", "byteSize", "flores", "hash", "modelConfig")


@dataclass(frozen=True)
class Released:
    """A model of the list."""

    architecture: str
    urls: dict[str, str]  # by what they are: model, vocab or srcVocab and trgVocab
    hashes: dict[str, str]  # SHA-256 of those that have one
    metadata: dict[str, Any]


def fetch(folder: Path, say: Say) -> Released:
    """Fetch the model into an empty folder, as `nmt import` reads it. Raises ModelError, in one line."""
    address = os.environ.get(_VARIABLE) or LIST
    listed = json_fields(_list(address, say))
    released = newest(Fields(address, listed.values))
    say(f"nmt: {NAME}: {released.architecture}, from {released.urls['model']}")
    for kind, url in released.urls.items():
        path = cached(url, partial(_refuse_other, stated=released.hashes.get(kind)))
        shutil.copyfile(path, folder / path.name)
    write_json(folder / METADATA, released.metadata)
    return released


def _list(address: str, say: Say) -> Path:
    """The list as it is now, or where it cannot be fetched, that of an earlier time."""
    try:
        return fetched(address, _refuse_no_json, _LARGEST_LIST)
    except ModelError as error:
        earlier = place_of(address)
        if not earlier.exists():
            fix = "or take the files of a model from elsewhere, and name their folder"
            raise ModelError(f"{error}, {fix}") from None
        say(f"nmt: {error}; the list of an earlier time is taken")
        return earlier


def _refuse_no_json(path: Path) -> None:
    json_fields(path)


def newest(listed: Fields) -> Released:
    """The last of the released models from English to Chinese. Raises ModelError if there is none, or a damaged one."""
    models = listed.values.get("models")
    base = listed.word("baseUrl")
    if not isinstance(models, dict):
        raise listed.unfit("models", "no list of models")
    found = [entry for pair in _PAIRS for entry in _entries(models.get(pair))]
    released = [entry for entry in found if entry.get("releaseStatus") == _RELEASED]
    if not released:
        raise ModelError(f"{listed.place}: no released model from en to zh in it")
    return _read(Fields(f"{listed.place}: en-zh", released[-1]), base)


def _entries(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _read(entry: Fields, base: str) -> Released:
    files = entry.values.get("files")
    if not isinstance(files, dict):
        raise entry.unfit("files", "no files")
    named = next((kinds for kinds in _VOCABULARIES if all(kind in files for kind in kinds)), None)
    if named is None:
        raise ModelError(f"{entry.place}: no vocab, or srcVocab and trgVocab, among its files")
    urls: dict[str, str] = {}
    hashes: dict[str, str] = {}
    for kind in ("model", *named):
        file = files.get(kind)
        if not isinstance(file, dict):
            raise ModelError(f"{entry.place}: {kind} is {brief(file)} among its files")
        fields = Fields(f"{entry.place}: {kind}", file)
        urls[kind] = f"{base.rstrip('/')}/{fields.word('path').lstrip('/')}"
        refuse_unsafe(urls[kind])
        stated = [fields.word(name) for name in _HASHES if name in file]
        hashes |= {kind: stated[0]} if stated else {}
    if "hash" in entry.values:
        hashes["model"] = entry.word("hash")
    if "model" not in hashes:
        raise ModelError(f"{entry.place}: states no hash of the model")
    metadata = {name: entry.values[name] for name in _KEPT if name in entry.values}
    metadata |= {"sourceLanguage": "en", "targetLanguage": "zh"}
    return Released(entry.word("architecture", "unnamed"), urls, hashes, metadata)


def _refuse_other(path: Path, stated: str | None) -> None:
    """Raise ModelError unless a file, packed or unpacked, has this SHA-256."""
    if stated is None:
        return
    content = read_unpacked(path)
    if stated not in (hashlib.sha256(content).hexdigest(), checksum(path)):
        message = f"its SHA-256 is not {stated}, which Mozilla's list states"
        raise ModelError(f"{path}: {message}; run the command again, or fetch it by hand")

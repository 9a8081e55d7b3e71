"""Where pairs come from: the configuration's corpora, found on disk and ready to be read."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

from nmt.config.schema import STATEMENTS, Config, CorpusConfig
from nmt.corpus.reading.pairs import (
    SentencePair,
    is_from_spreadsheet,
    read_jsonl,
    read_pairs,
    read_tsv,
)
from nmt.errors import ConfigError, DataError
from nmt.files import checksum, readable_or, refuse_unreadable
from nmt.run.folder import SPLITS, Split

Read = Callable[..., Iterator[SentencePair]]
_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])")
_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}  # others are sets: [ab]


@dataclass(frozen=True)
class Source:
    """A named corpus: groups of files, and the function that reads one group."""

    name: str
    weight: float
    groups: tuple[tuple[Path, ...], ...]
    read: Read

    def pairs(self) -> Iterator[SentencePair]:
        """All pairs, file after file."""
        for group in self.groups:
            yield from self.read(*group)

    def files(self) -> list[Path]:
        """All files, group after group."""
        return [path for group in self.groups for path in group]

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(map(str, self.files()))})"


Sources = dict[Split, tuple[Source, ...]]
Stamps = dict[str, list[Any]]  # of files: bytes, nanoseconds, SHA-256


def find_sources(config: Config) -> Sources:
    """Find the corpora of each split; there are none for a `dev` or `test` that is not given.

    Raises ConfigError if no corpus is configured, DataError for files that cannot be read or do not pair up.
    """
    with readable_or(DataError):
        sources = _find(config)
    for path in _files(sources):
        refuse_unreadable(path, DataError)
        _refuse_unwritable_name(path)
    return sources


def _refuse_unwritable_name(path: Path) -> None:
    """Raise DataError for a name that reports, which are UTF-8, cannot hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="backslashreplace")
        raise DataError(f"{shown}: its name is not UTF-8; rename the file") from None


def _find(config: Config) -> Sources:
    data = config.data
    if data.path is not None:
        return _in_folder(Path(data.path), config)
    if not data.corpora:
        raise ConfigError(
            "no corpus to read; give a configuration with --config FILE, or set data.path to a folder "
            "with train files, or list data.corpora"
        )
    return {
        "train": tuple(_source(corpus, config) for corpus in data.corpora),
        "dev": (_source(data.dev, config),) if data.dev else (),
        "test": (_source(data.test, config),) if data.test else (),
    }


def spreadsheets(config: Config) -> list[Path]:
    """The tables in which a spreadsheet has put columns in quotation marks."""
    corpora = [*config.data.corpora, config.data.dev, config.data.test]
    patterns = [corpus.tsv for corpus in corpora if corpus is not None and corpus.tsv is not None]
    tables = [path for pattern in patterns for path in _expand(pattern)]
    return [path for path in tables if is_from_spreadsheet(path)]


def fingerprint(config: Config, sources: Sources) -> str:
    """Hash what the prepared text depends on beside the corpora's contents: settings, and the names of the files."""
    relevant: dict[str, Any] = {
        "languages": (config.src.language, config.tgt.language),
        "data": config.data.model_dump(mode="json", exclude={"max_bytes": True, **STATEMENTS}),
        "prepare": config.prepare.model_dump(mode="json", exclude={"workers"}),
        "files": [str(path) for path in _files(sources)],
    }
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()


def stamps(sources: Sources) -> Stamps:
    """Size, time and hash of every file."""
    return {str(path): [*_size_and_time(path), checksum(path)] for path in _files(sources)}


def changed(sources: Sources, before: Stamps) -> Path | None:
    """The first file whose contents are not as they were; only files whose time has changed are read."""
    for path in _files(sources):
        *size_and_time, content = before[str(path)]
        now = _size_and_time(path)
        if now[0] != size_and_time[0] or (now != size_and_time and checksum(path) != content):
            return path
    return None


def _files(sources: Sources) -> list[Path]:
    return [path for split in SPLITS for source in sources[split] for path in source.files()]


def _size_and_time(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _in_folder(folder: Path, config: Config) -> Sources:
    if not folder.is_dir():
        if folder.exists():
            raise DataError(f"data.path={folder}: is a file; list files under data.corpora")
        raise DataError(
            f"data.path={folder}: no such folder (relative paths start at {Path.cwd()})"
        )
    sources = {split: _split_in_folder(folder, split, config) for split in SPLITS}
    if not sources["train"]:
        names = f"train.{config.src.language} and train.{config.tgt.language}"
        raise DataError(
            f"data.path={folder}: it needs {names}, plain or .gz (dev.* and test.* are optional)"
        )
    return sources


def _split_in_folder(folder: Path, split: Split, config: Config) -> tuple[Source, ...]:
    """The split's two files as a source, or nothing if neither is there."""
    src_name = f"{split}.{config.src.language}"
    tgt_name = f"{split}.{config.tgt.language}"
    src = _plain_or_zipped(folder / src_name)
    tgt = _plain_or_zipped(folder / tgt_name)
    if src is None and tgt is None:
        return ()
    if src is None or tgt is None:
        missing = src_name if src is None else tgt_name
        raise DataError(
            f"{src or tgt} has no partner: {folder / missing} (plain or .gz) is missing"
        )
    read = partial(read_pairs, most=config.data.max_bytes)
    return (Source(split, 1, ((src, tgt),), read),)


def _plain_or_zipped(path: Path) -> Path | None:
    zipped = path.with_name(f"{path.name}.gz")
    for candidate in (path, zipped):
        if candidate.is_file():
            return candidate
    return None


def _source(corpus: CorpusConfig, config: Config) -> Source:
    """Find the files of a configured corpus; CorpusConfig holds exactly one of the three formats."""
    if corpus.src is not None and corpus.tgt is not None:
        groups = _paired_by_name(corpus.name, corpus.src, corpus.tgt)
    else:
        groups = tuple((path,) for path in _expand(corpus.tsv or corpus.jsonl or ""))
    return Source(corpus.name, corpus.weight, groups, _reader(corpus, config))


def _paired_by_name(corpus: str, src: str, tgt: str) -> tuple[tuple[Path, ...], ...]:
    """The files of two patterns, those together in which the wildcards stand for the same."""
    sources, targets = (
        {_wildcards(path, side): path for path in _expand(side)} for side in (src, tgt)
    )
    if len(sources) == len(targets) == 1:
        return ((*sources.values(), *targets.values()),)
    for found, others, other_pattern in ((sources, targets, tgt), (targets, sources, src)):
        for key, path in found.items():
            if key not in others:
                fix = (
                    "files belong together where the wildcards of both patterns stand for the same"
                )
                raise DataError(f"corpus {corpus}: {path} has no partner in {other_pattern}; {fix}")
    return tuple((path, targets[key]) for key, path in sources.items())


def _wildcards(path: Path, pattern: str) -> tuple[str, ...]:
    """What the wildcards of a pattern stand for in a file that it matches."""
    expression = "".join(
        f"({_WILDCARDS.get(part) or part.replace('[!', '[^')})" if number % 2 else re.escape(part)
        for number, part in enumerate(_WILDCARD.split(str(Path(pattern))))
    )
    match = re.fullmatch(expression, str(path), re.DOTALL)
    return () if match is None else match.groups("")


def _reader(corpus: CorpusConfig, config: Config) -> Read:
    most = config.data.max_bytes
    if corpus.tsv is not None:
        return partial(read_tsv, most=most)
    if corpus.jsonl is not None:
        languages = (config.src.language, config.tgt.language)
        return partial(read_jsonl, most=most, languages=languages)
    return partial(read_pairs, most=most)


def _expand(pattern: str) -> list[Path]:
    """The files that a name or a pattern stands for, in sorted order."""
    path = Path(pattern)
    if path.is_file():
        return [path]
    found: list[Path] = []
    if has_magic(pattern):
        found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if path.is_dir():
        raise DataError(
            f"{pattern}: is a folder; name the files in it, or give data.path={pattern}"
        )
    if not found:
        raise DataError(f"{pattern}: no such file (relative paths start at {Path.cwd()})")
    return found

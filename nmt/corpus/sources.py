"""Where pairs come from: the configuration's corpora, found on disk and ready to be read."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

from nmt.config.schema import Config, CorpusConfig
from nmt.corpus.lines import SentencePair, read_jsonl, read_pairs, read_tsv
from nmt.errors import ConfigError, DataError
from nmt.run_dir import SPLITS, Split

Read = Callable[..., Iterator[SentencePair]]


@dataclass(frozen=True)
class Source:
    """A named corpus: groups of files, and the function that reads one group."""

    name: str
    weight: int
    groups: tuple[tuple[Path, ...], ...]
    read: Read

    def pairs(self) -> Iterator[SentencePair]:
        """All pairs, file after file."""
        for group in self.groups:
            yield from self.read(*group)

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(str(path) for group in self.groups for path in group)})"


Sources = dict[Split, tuple[Source, ...]]


def find_sources(config: Config) -> Sources:
    """Find the corpora of each split; `dev` and `test` have none where none are given.

    Raises ConfigError if no corpus is configured, DataError for files that are missing or do not pair up.
    """
    data = config.data
    if data.path is not None:
        return _in_folder(Path(data.path).expanduser(), config)
    if not data.corpora:
        raise ConfigError(
            "no corpus to read; set data.path to a folder with train files, or list data.corpora"
        )
    given = {"train": data.corpora, "dev": (data.dev,), "test": (data.test,)}
    return {split: tuple(_source(one, config) for one in given[split] if one) for split in SPLITS}


def fingerprint(config: Config, sources: Sources) -> str:
    """Hash what the prepared text depends on: settings, and the inputs' names, sizes and times.

    Times stand for contents here: reading every corpus before each training would cost more than it saves.
    """
    files = [
        path
        for split in SPLITS
        for source in sources[split]
        for group in source.groups
        for path in group
    ]
    relevant: dict[str, Any] = {
        "languages": (config.src.language, config.tgt.language),
        "data": config.data.model_dump(mode="json", exclude={"max_bytes"}),
        "prepare": config.prepare.model_dump(mode="json", exclude={"workers"}),
        "files": [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files],
    }
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()


def _in_folder(folder: Path, config: Config) -> Sources:
    if not folder.is_dir():
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
    names = [f"{split}.{side.language}" for side in (config.src, config.tgt)]
    found = [
        next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
        for name in names
    ]
    present = [path for path in found if path is not None]
    if len(present) == 1:
        missing = names[found.index(None)]
        raise DataError(
            f"{present[0]} has no partner: {folder / missing} (plain or .gz) is missing"
        )
    return (
        (Source(split, 1, (tuple(present),), partial(read_pairs, most=config.data.max_bytes)),)
        if present
        else ()
    )


def _source(corpus: CorpusConfig, config: Config) -> Source:
    """The configured corpus; CorpusConfig holds exactly one of the three kinds."""
    reads: dict[tuple[str | None, ...], Read] = {
        (corpus.src, corpus.tgt): read_pairs,
        (corpus.tsv,): read_tsv,
    }
    reads |= {
        (corpus.jsonl,): partial(read_jsonl, languages=(config.src.language, config.tgt.language))
    }
    patterns, read = next(
        (patterns, read) for patterns, read in reads.items() if None not in patterns
    )
    found = [_expand(pattern) for pattern in patterns if pattern]
    if len(found[0]) != len(found[-1]):
        told = (
            f"{corpus.src} matches {len(found[0])} files but {corpus.tgt} matches {len(found[1])}"
        )
        mend = "they pair up in sorted order, so both must match the same number"
        raise DataError(f"corpus {corpus.name}: {told}; {mend}")
    groups = tuple(zip(*found, strict=True))
    return Source(corpus.name, corpus.weight, groups, partial(read, most=config.data.max_bytes))


def _expand(pattern: str) -> list[Path]:
    path = Path(pattern).expanduser()
    if path.is_file():
        return [path]
    found = (
        sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        if has_magic(pattern)
        else []
    )
    if not found:
        raise DataError(f"{pattern}: no such file (relative paths start at {Path.cwd()})")
    return found

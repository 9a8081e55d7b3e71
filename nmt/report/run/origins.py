"""Where a run's data and weights come from, under which licences, and what these ask for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.config.schema import Config
from nmt.report.run.run_files import Record, corpora_in, counts, section, whole
from nmt.run.origin import without_folders

STARTED, IMPORTED = "started from", "imported from"
_GENERATIONS = 20  # of a lineage that are told
_CREATIVE_COMMONS = re.compile(
    r"""
    \b (?: CC [ -] | creativecommons\.org/licenses/ )
    (?P<terms> BY (?: [ -] (?: NC | ND | SA ) )* )    # CC BY, CC-BY-SA, CC BY NC SA
    (?: [ /-] (?P<version> \d\.\d )                  # CC BY 4.0, …/licenses/by/4.0/
        # CC BY 2.0 FR, …/by/2.0/fr/; but not "CC BY 3.0 or later" or OR, and version 4.0 has no countries
        (?: (?<! 4\.0 ) [ /-] (?P<country> (?-i: (?<= / ) [a-z]{2} | (?! OR ) [A-Z]{2} ) ) \b )?
    )?
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class CorpusFacts:
    """A corpus that a run trains on. `read` and `kept` are pairs; None before `prepare`."""

    name: str
    licence: str | None
    source: str | None
    weight: int
    read: int | None
    kept: int | None


@dataclass(frozen=True)
class Ancestor:
    """A checkpoint that a run's weights were started from, or the model that it was imported from."""

    what: str  # STARTED or IMPORTED
    name: str  # of a run and its checkpoint, of a model on the hub, or of a folder
    licence: str | None
    corpora: tuple[tuple[str, str | None], ...] = ()  # names, with licences where they are stated
    revision: str | None = None  # on the hub
    kind: str | None = None  # of the model that was imported, such as "Hugging Face MarianMT"
    updates: int | None = None  # behind the checkpoint


def corpora_of(config: Config, prepared: Record, origin: Record) -> list[CorpusFacts]:
    """The corpora to train on, with what `prepare` counted; of an exported run, those that its checkpoint names."""
    stated = config.data.corpora
    counted = corpora_in(prepared)
    if not counted:
        configured = [
            CorpusFacts(c.name, c.licence, c.source, c.weight, None, None) for c in stated
        ]
        return configured or [_named(each) for each in corpora_in(origin)]
    # Names may repeat, but `prepare` counts the corpora in their order.
    are_those = [each.name for each in stated] == [str(entry.get("name")) for entry in counted]
    found = []
    for place, entry in enumerate(counted):
        corpus = stated[place] if are_those else None
        numbers = counts({"": entry}, "")
        found.append(
            CorpusFacts(
                name=str(entry.get("name")) if corpus else _of_folder(config, entry),
                licence=corpus.licence if corpus else None,
                source=corpus.source if corpus else None,
                weight=numbers.get("weight", 1),
                read=numbers.get("read"),
                kept=numbers.get("kept"),
            )
        )
    return found


def licence_of(config: Config, origin: Record) -> str | None:
    """The licence of the model: what its configuration states, or else its checkpoint."""
    return config.train.licence or _text(origin.get("licence"))


def _named(corpus: Record) -> CorpusFacts:
    """A corpus as a checkpoint names it."""
    name, licence = str(corpus.get("name")), _text(corpus.get("licence"))
    return CorpusFacts(name, licence, _text(corpus.get("source")), weight=1, read=None, kept=None)


def _of_folder(config: Config, entry: Record) -> str:
    """What the corpus of a `data.path` is called: as that folder, without those around it."""
    path = config.data.path
    return Path(path).resolve().name if path else str(entry.get("name"))


def lineage_of(origin: Record) -> list[Ancestor]:
    """What a checkpoint's weights have come from, the newest first."""
    found = []
    origin = without_folders(origin)
    for _ in range(_GENERATIONS):
        imported = section(origin, "imported")
        if imported:
            found.append(
                Ancestor(
                    IMPORTED,
                    str(imported.get("source")),
                    _text(origin.get("licence")),
                    revision=_text(imported.get("revision")),
                    kind=_text(imported.get("kind")),
                )
            )
        started = section(origin, "started_from")
        if not started:
            break
        origin = section(started, "origin")
        corpora = tuple(_stated(origin))
        licence = None if section(origin, "imported") else _text(origin.get("licence"))
        name = str(started.get("checkpoint"))
        updates = whole(started.get("update"))
        found.append(Ancestor(STARTED, name, licence, corpora, updates=updates))
    return found


def _stated(origin: Record) -> Iterator[tuple[str, str | None]]:
    for corpus in corpora_in(origin):
        yield str(corpus.get("name")), _text(corpus.get("licence"))


def _text(value: Any) -> str | None:
    return str(value) if value else None


def licence_address(licence: str) -> str | None:
    """Where the text of a Creative Commons licence stands; None for another licence, or without a version."""
    found = _CREATIVE_COMMONS.search(licence)
    if found is None or found["version"] is None:
        return None
    terms = found["terms"].lower().replace(" ", "-")
    country = f"{found['country'].lower()}/" if found["country"] else ""
    return f"https://creativecommons.org/licenses/{terms}/{found['version']}/{country}"


def conditions(licence: str) -> list[str]:
    """What a Creative Commons licence asks of those who pass a model on, in words."""
    found = _CREATIVE_COMMONS.search(licence)
    if found is None:
        return []
    terms = re.split("[ -]", found["terms"].upper())
    said = {
        "BY": "name its authors",
        "NC": "no commercial use",
        "ND": "no derived works",
        "SA": "share alike",
    }
    return [meaning for term, meaning in said.items() if term in terms]

"""Where a run's data and weights come from, under which licences, and what these ask for."""

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nmt.config.schema import Config
from nmt.report.run.run_files import Record, corpora_in, counts
from nmt.run.provenance import Ancestor, Provenance

STARTED, IMPORTED = "started from", "imported from"
_GENERATIONS = 20  # that are shown
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
    weight: float
    read: int | None
    kept: int | None


@dataclass(frozen=True)
class AncestorFacts:
    """A checkpoint that a run's weights were started from, or the model that it was imported from."""

    what: str  # STARTED or IMPORTED
    name: str  # of a run and its checkpoint, of a model on the hub, or of a folder
    licence: str | None
    corpora: tuple[tuple[str, str | None], ...] = ()  # names, with licences where they are stated
    revision: str | None = None  # on the hub
    kind: str | None = None  # of the model that was imported, such as "Hugging Face MarianMT"
    updates: int | None = None  # behind the checkpoint


def corpora_of(config: Config, prepared: Record, provenance: Provenance) -> list[CorpusFacts]:
    """The corpora to train on, with what `prepare` counted; of an exported run, those that its checkpoint names."""
    stated = config.data.corpora
    counted = corpora_in(prepared)
    if not counted:
        configured = [
            CorpusFacts(c.name, c.licence, c.source, c.weight, None, None) for c in stated
        ]
        return configured or [
            CorpusFacts(c.name, c.licence, c.source, 1, None, None) for c in provenance.corpora
        ]
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
                weight=corpus.weight if corpus else numbers.get("weight", 1),
                read=numbers.get("read"),
                kept=numbers.get("kept"),
            )
        )
    return found


def _of_folder(config: Config, entry: Record) -> str:
    """What the corpus of a `data.path` is called: as that folder, without those around it."""
    path = config.data.path
    return Path(path).resolve().name if path else str(entry.get("name"))


def ancestors_of(provenance: Provenance) -> list[AncestorFacts]:
    """What a checkpoint's weights have come from, the newest first."""
    told = provenance.without_folders()
    found = _imported(told)
    for ancestor in islice(told.ancestors(), _GENERATIONS):
        found += [_started(ancestor), *_imported(ancestor.provenance)]
    return found


def _started(ancestor: Ancestor) -> AncestorFacts:
    before = ancestor.provenance
    return AncestorFacts(
        STARTED,
        name=ancestor.checkpoint,
        licence=None if before.imported else before.licence,  # of one that was imported, told there
        corpora=tuple((corpus.name, corpus.licence) for corpus in before.corpora),
        updates=ancestor.update,
    )


def _imported(provenance: Provenance) -> list[AncestorFacts]:
    """The model that was imported, if one was."""
    imported = provenance.imported
    if imported is None:
        return []
    licence, revision, kind = provenance.licence, imported.revision, imported.kind
    return [AncestorFacts(IMPORTED, imported.source, licence, revision=revision, kind=kind)]


def licence_address(licence: str) -> str | None:
    """The address of a Creative Commons licence; None for another licence, or without a version."""
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

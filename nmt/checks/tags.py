"""Tags that a translation has, but in an order that no program can read: </b>here<b>."""

import re
from collections import Counter

_TAG = re.compile(r"< (?P<closes>/?) (?P<name>[A-Za-z][\w-]*) [^<>]* (?<!/) >", re.VERBOSE)


def misplaced(source: str, translation: str) -> list[str]:
    """The first tag that closes what is not open, if the same tags are well nested in the source.

    Whole pairs of tags may change places, and one may enclose another. Tags that are
    missing are no matter of order.
    """
    if "</" not in translation:
        return []
    tags = _tags(source)
    translated = _tags(translation)
    if Counter(_written(tags)) != Counter(_written(translated)):
        return []
    closed = {tag["name"] for tag in tags if tag["closes"]}  # <br> and <p> may never be
    if _first_misplaced(tags, closed) is not None:
        return []
    found = _first_misplaced(translated, closed)
    return [] if found is None else [found]


def _tags(text: str) -> list[re.Match[str]]:
    return list(_TAG.finditer(text))


def _written(tags: list[re.Match[str]]) -> list[str]:
    return [tag[0] for tag in tags]


def _first_misplaced(tags: list[re.Match[str]], closed: set[str]) -> str | None:
    """The first tag that closes something else than what was opened last."""
    still_open: list[str] = []
    for tag in tags:
        if tag["name"] not in closed:
            continue
        if not tag["closes"]:
            still_open.append(tag["name"])
        elif not still_open or still_open.pop() != tag["name"]:
            return tag[0]
    return None

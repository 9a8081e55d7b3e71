"""What a setting may be, in words, such as "a whole number from 1 to 1000"; read off the schema's JSON schema."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from nmt.config.schema import Config

Kind = dict[str, Any]  # what a value may be: a part of a JSON schema
_BOUNDS = {
    "minimum": "of at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}
_ENDLESS = 2**62  # a bound from here on is the computer's, not the setting's


@cache
def _schema() -> Kind:
    return Config.model_json_schema()


# --- the kinds ---


def kind_at(keys: Sequence[str | int]) -> Kind:
    """What the setting at `keys`, such as ("train", "betas", 0), may be. Raises KeyError if there is none."""
    kind = _schema()
    for key in keys:
        kind = _inside(kind, key)
    return kind


def _inside(kind: Kind, key: str | int) -> Kind:
    """What a setting of a section, or an item of a list, may be."""
    for each in _alternatives(kind):
        if "properties" in each:
            return dict(each["properties"][key])
        if has_length(each):
            return dict(each["prefixItems"][0])  # all items are of one kind
        if "items" in each:
            return dict(each["items"])
    raise KeyError(key)


def _alternatives(kind: Kind) -> list[Kind]:
    """`int | None` is two kinds; anything else is one."""
    return [_followed(each) for each in kind.get("anyOf", [kind])]


def _followed(kind: Kind) -> Kind:
    """A section is described in one place, and named where it is used."""
    name = kind.get("$ref", "").removeprefix("#/$defs/")
    return _schema()["$defs"][name] if name else kind


def setting_names(outer: tuple[str, ...] = ()) -> Iterator[str]:
    """The name of every section and setting, such as train.updates."""
    for name in settings_of(kind_at(outer)):
        keys = (*outer, name)
        yield ".".join(keys)
        if "$ref" in kind_at(keys):
            yield from setting_names(keys)


def settings_of(kind: Kind) -> list[str]:
    """The names of a section's settings; none where it is no section."""
    return [name for each in _alternatives(kind) for name in each.get("properties", ())]


def choices(kind: Kind) -> list[str]:
    """The words among which a setting is a choice; none where it is something else."""
    return [word for each in _alternatives(kind) for word in each.get("enum", ())]


def has_length(kind: Kind) -> bool:
    """Whether a setting is a list of so many items, neither more nor fewer."""
    return "prefixItems" in kind


def takes_any_text(kind: Kind) -> bool:
    """Whether a setting holds text of any form: a name, a path."""
    texts = [each for each in _alternatives(kind) if each["type"] == "string"]
    return any("pattern" not in each and "enum" not in each for each in texts)


# --- the words ---


def allowed(kind: Kind) -> str:
    """What a value may be; its own description if it has one."""
    return ", or ".join(map(_words, _alternatives(kind)))


def _words(kind: Kind) -> str:
    if "properties" in kind:
        return f"a section ({', '.join(kind['properties'])})"
    if "description" in kind:
        return str(kind["description"])
    if "enum" in kind:
        *others, last = kind["enum"]
        return f"{', '.join(others)} or {last}"
    if has_length(kind):
        return f"a list of {len(kind['prefixItems'])}, each {allowed(kind['prefixItems'][0])}"
    if "items" in kind:
        return f"a list, each item {allowed(kind['items'])}"
    if kind["type"] in ("integer", "number"):
        return _number(kind)
    return {"boolean": "true or false", "null": "null", "string": "text"}[kind["type"]]


def _number(kind: Kind) -> str:
    """A number and its range, such as "a number of at least 0 and below 1"."""
    noun = "a whole number" if kind["type"] == "integer" else "a number"
    if "minimum" in kind and "maximum" in kind:
        return f"{noun} from {kind['minimum']:g} to {kind['maximum']:,g}"
    limits = []
    for bound, words in _BOUNDS.items():
        if bound in kind and kind[bound] < _ENDLESS:
            limits.append(f"{words} {kind[bound]:g}")
    return " ".join([noun, " and ".join(limits)]) if limits else noun

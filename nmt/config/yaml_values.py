"""YAML 1.2 as plain values, each with its place: text, numbers, true, false, null, lists and mappings, nothing else.

PyYAML parses, and writes. What a word stands for is decided here, since PyYAML's YAML 1.1 makes 64 of 0100, a date of
2024-11-28 and a boolean of `no`, and its tags make objects.
"""

import re
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import yaml

from nmt.errors import ConfigError

Keys = tuple[str | int, ...]  # the way to a setting: ("data", "corpora", 0, "src")
# Keys and items, counted as often as aliases repeat them: ten short lines can mean billions.
_MOST_PLACES = 20_000


class Place(NamedTuple):
    """Where something was written. Places sort as a reader meets them, those outside files last."""

    line: float
    text: str

    @property
    def is_in_file(self) -> bool:
        """Whether it is a line of a file."""
        return self.line != inf

    def __str__(self) -> str:
        return self.text


COMMAND_LINE = Place(inf, "command line")

# The core schema of YAML 1.2.2 (section 10.3.2): what a word without quotes is, and its value.
_CORE: list[tuple[str, str, Callable[[str], Any]]] = [
    ("null", r"(null|Null|NULL|~)?", lambda _word: None),
    ("bool", r"true|True|TRUE", lambda _word: True),
    ("bool", r"false|False|FALSE", lambda _word: False),
    ("int", r"[-+]?[0-9]+", int),  # 0100 is a hundred
    ("int", r"0o[0-7]+", lambda word: int(word, 8)),
    ("int", r"0x[0-9a-fA-F]+", lambda word: int(word, 16)),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),  # .5, 1., 1e-4
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", lambda word: float(word.replace(".", ""))),
    ("str", r"(?s:.*)", str),
]
_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """Parses YAML; the core schema says what its words are."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - as PyYAML has it


class _Dumper(yaml.SafeDumper):
    """Writes YAML; text that YAML 1.1 or 1.2 takes for a number gets quotes."""


for _kind, _pattern, _make in _CORE:
    _whole_word = re.compile(rf"({_pattern})\Z")
    _Loader.add_implicit_resolver(_TAG + _kind, _whole_word, None)
    if _kind in ("int", "float"):
        _Dumper.add_implicit_resolver(_TAG + _kind, _whole_word, None)


def dump_yaml(settings: dict[str, Any]) -> str:
    """Settings as `config.yaml` holds them. These bytes must not change: nmt knows its own files by them."""
    return str(yaml.dump(settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def parse(
    text: str, place: Callable[[int], Place], outer: Keys = ()
) -> tuple[Any, dict[Keys, Place]]:
    """The value that YAML holds, and the place, made of its line, of each key and item, which are below `outer`.

    Raises yaml.YAMLError, ValueError or RecursionError for what is no plain value; ConfigError, with the place, for a
    key given twice, or too many.
    """
    walk = _Walk(place)
    return walk.value(yaml.compose(text, _Loader), outer), walk.places


class _Walk:
    """Makes values of YAML's nodes. Each use of an alias is a copy, so that a change of one leaves the others alone."""

    def __init__(self, place: Callable[[int], Place]) -> None:
        self._place = place
        self.places: dict[Keys, Place] = {}

    def value(self, node: yaml.Node | None, keys: Keys) -> Any:
        """What a node stands for."""
        if node is None:  # of an empty text
            return None
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            values = {}
            for written, child in node.value:
                key = _key(written)
                values[key] = self._child(written, child, (*keys, key))
            return _merged(values)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [
                self._child(item, item, (*keys, index)) for index, item in enumerate(node.value)
            ]
        if isinstance(node, yaml.ScalarNode):
            for name, pattern, make in _CORE:
                if name == kind and re.fullmatch(pattern, node.value):
                    return make(node.value)
        raise _no_plain_value(node)

    def _child(self, written: yaml.Node, node: yaml.Node, keys: Keys) -> Any:
        """A value whose key, or which itself, was `written` there."""
        place = self._place(written.start_mark.line + 1)
        if keys in self.places:
            name = ".".join(map(str, keys))
            message = f"'{name}' was already given at {self.places[keys]}; keep one of them"
            raise ConfigError(f"{place}: {message}")
        if len(self.places) >= _MOST_PLACES:
            message = f"more than {_MOST_PLACES:,} keys and items; aliases repeat too much here"
            raise ConfigError(f"{place}: {message}")
        self.places[keys] = place
        return self.value(node, keys)


def _key(node: yaml.Node) -> str:
    """A key is the word that it was written with: 3 is "3"."""
    if isinstance(node, yaml.ScalarNode) and node.tag.startswith(_TAG):
        return str(node.value)
    raise _no_plain_value(node)


def _merged(values: dict[str, Any]) -> dict[str, Any]:
    """`{<<: *defaults, a: 1}`: the settings of other mappings below those of this one."""
    others = values.get("<<")
    others = others if isinstance(others, list) else [others]
    if not all(isinstance(other, dict) for other in others):
        return values  # there is no such key, or an unknown one
    del values["<<"]
    for other in others:
        values = other | values
    return values


def _no_plain_value(node: yaml.Node) -> yaml.YAMLError:
    if node.tag in (f"{_TAG}map", f"{_TAG}seq"):
        problem = "found a list or mapping as a key"
    else:
        problem = f"could not determine a constructor for the tag {node.tag!r}"
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)

"""YAML files of messages, as Rails and many others have them. Keys stay, texts are translated.

PyYAML finds the places. A value stays in its style: plain, quoted, or a block.
"""

import re
from collections.abc import Iterator

import yaml

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.messages import message_unit
from nmt.errors import DataError

_TEXT = "tag:yaml.org,2002:str"
_LOCALE = re.compile(r"(?:en|zh)(?:[-_][A-Za-z]{2,4})?")
_NEEDS_QUOTES = re.compile(r"^[\s\-?:,\[\]{}#&*!|>'\"%@`]|:\s|\s#|[\s:]$|\n")
_RUBY = re.compile(r":[a-z_]\w*")
# [:year, :month], which PyYAML refuses
_SYMBOLS = re.compile(r"\[ *(?::[a-z_]\w* *, *)*:[a-z_]\w* *\]")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+){1,2}")  # an anchor, a tag
_BLOCK = re.compile(r"[|>][^\n]*\n")


def read(text: str, asked: Asked) -> Document:
    """The messages of a YAML file. Raises DataError with the line that cannot be read."""
    roots = _roots(text)
    units: list[Unit] = []
    about: list[Edit] = []
    for root in roots:
        locale = _locale(root, asked)
        about += locale
        for keys, node in _texts(root, (), set()):
            unit = _unit(text, keys[1:] if locale else keys, node)
            units += [unit] if unit else []
    return Document(text, units, about)


def _roots(text: str) -> list[yaml.Node]:
    try:
        shadow = _SYMBOLS.sub(lambda found: found[0].replace(":", "_"), text)
        return [root for root in yaml.compose_all(shadow, yaml.SafeLoader) if root is not None]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DataError(f"line {line}: {error.problem or 'no YAML'}") from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if isinstance(error, yaml.YAMLError) else "too deep"
        raise DataError(f"no YAML: {reason}") from None


def _locale(root: yaml.Node, asked: Asked) -> list[Edit]:
    """What names the language of a file of Rails: its only key."""
    if not isinstance(root, yaml.MappingNode) or len(root.value) != 1:
        return []
    key = root.value[0][0]
    if not isinstance(key, yaml.ScalarNode) or not _LOCALE.fullmatch(key.value) or key.style:
        return []
    return [Edit(key.start_mark.index, key.end_mark.index, asked.locale)]


def _texts(
    node: yaml.Node, keys: tuple[str, ...], seen: set[int]
) -> Iterator[tuple[tuple[str, ...], yaml.ScalarNode]]:
    """The values that are texts, with their keys; what an alias repeats comes once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        if node.tag == _TEXT:
            yield keys, node
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            yield from _texts(value, (*keys, name), seen)
    else:
        for number, item in enumerate(node.value):
            yield from _texts(item, (*keys, str(number)), seen)


def _unit(text: str, keys: tuple[str, ...], node: yaml.ScalarNode) -> Unit | None:
    end = node.end_mark.index
    properties = _PROPERTIES.match(text, node.start_mark.index, end)
    start = properties.end() if properties else node.start_mark.index
    raw = text[start:end]
    if _RUBY.fullmatch(raw):
        return None
    if node.style in ("|", ">"):
        return _block_unit(keys, node, start, raw)

    def write(translation: str) -> str:
        return _quoted(translation, node.style)

    return message_unit(".".join(keys), node.value, (start, end), write)


def _quoted(translation: str, style: str | None) -> str:
    if style == "'" and "\n" not in translation:
        return "'" + translation.replace("'", "''") + "'"
    if style is None and not _NEEDS_QUOTES.search(translation) and translation:
        return translation
    escaped = translation.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("\t", "\\t") + '"'


def _block_unit(keys: tuple[str, ...], node: yaml.ScalarNode, start: int, raw: str) -> Unit | None:
    """A block: its lines are replaced, its head and the blank lines behind it stay."""
    head = _BLOCK.match(raw)
    if head is None:
        return None
    body = raw[head.end() :]
    kept = body.rstrip("\r\n \t")
    first = next((line for line in kept.split("\n") if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" "))]
    eol = "\r\n" if head[0].endswith("\r\n") else "\n"
    between = eol * 2 if node.style == ">" else eol

    def write(translation: str) -> str:
        lines = [indent + line if line else "" for line in translation.split("\n")]
        return between.join(lines)

    place = (start + head.end(), start + head.end() + len(kept))
    return message_unit(".".join(keys), node.value.strip("\n"), place, write)

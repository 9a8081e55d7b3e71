"""JSON files of messages: nested or flat, of i18next, Vue, FormatJS, Chrome extensions, ARB.

Keys stay, and so do descriptions; values are translated.
"""

import json

from nmt.documents import placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.json_values import Reader, Value
from nmt.documents.messages import ANY, message_unit

_CHROME = placeholders.message_pattern(placeholders.CHROME)
# Beside a message: what it is for.
_NOTES = frozenset(
    ("description", "developer_comment", "comment", "placeholders", "context", "meaning", "notes")
)


def read(text: str, asked: Asked) -> Document:
    """The messages of a JSON file. Raises DataError with the line that cannot be read."""
    values = list(Reader(text).values())
    leaves = {value.keys for value in values}
    units: list[Unit] = []
    about: list[Edit] = []
    for value in values:
        if value.keys[-1:] == ("@@locale",):
            about.append(Edit(value.start, value.end, f'"{asked.locale.replace("-", "_")}"'))
        elif not _is_note(value.keys, leaves):
            unit = _unit(value, leaves)
            units += [unit] if unit else []
    return Document(text, units, about)


def _unit(value: Value, leaves: set[tuple[str, ...]]) -> Unit | None:
    def write(translation: str) -> str:
        return json.dumps(translation, ensure_ascii=False)

    parent = value.keys[:-1]
    is_chrome = value.keys[-1:] == ("message",) and len(value.keys) == 2
    note = next((name for name in ("description", "comment") if (*parent, name) in leaves), "")
    return message_unit(
        ".".join(value.keys),
        value.text,
        (value.start, value.end),
        write,
        _CHROME if is_chrome else ANY,
        context=note and ".".join((*parent, note)),
    )


def _is_note(keys: tuple[str, ...], leaves: set[tuple[str, ...]]) -> bool:
    """Whether a value describes a message: beside "message" or "defaultMessage", or below a key that begins with @."""
    if any(key.startswith("@") for key in keys):
        return True
    for place, key in enumerate(keys):
        beside = keys[:place]
        has_message = any(
            (*beside, name) in leaves for name in ("message", "defaultMessage", "string")
        )
        if key in _NOTES and has_message:
            return True
    has_message = any((*keys[:-1], name) in leaves for name in ("message", "defaultMessage"))
    return has_message and keys[-1] == "id"

r"""Java's .properties: `key = value`, with continued lines, escapes, and the `''` of MessageFormat.

The forms are those of java.util.Properties.load. A file in ASCII alone is written with \uXXXX, which every version of
Java reads.
"""

import re
from collections.abc import Iterator

from nmt.documents import placeholders
from nmt.documents.accelerators import with_key, without_key
from nmt.documents.asked import Asked
from nmt.documents.document import Document
from nmt.documents.messages import message_unit

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_KEY = re.compile(r"[ \t\f]*((?:[^\\:=\s]|\\.)+)[ \t\f]*[:=]?[ \t\f]*", re.DOTALL)
_CONTINUES = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_JOINT = re.compile(r"\\(?:\r\n|\r|\n)[ \t\f]*")
_ESCAPE = re.compile(r"\\(?:u([\da-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_ARGUMENT = re.compile(r"\{\d")
_PATTERN = placeholders.message_pattern(
    placeholders.DOLLAR, placeholders.MUSTACHE, placeholders.BRACES, placeholders.LIKELY_PRINTF
)


def read(text: str, asked: Asked) -> Document:
    """The values of a file; `asked` changes nothing."""
    del asked
    in_ascii = text.isascii()
    units = []
    for key, start, end in _values(text):
        value = _decoded(text[start:end])
        has_arguments = _ARGUMENT.search(value) is not None

        words, key_of_menu = without_key(
            value.replace("''", "'") if has_arguments else value, "_&", _PATTERN
        )

        def write(
            translation: str, has_arguments: bool = has_arguments, mark: str = key_of_menu
        ) -> str:
            whole = with_key(translation, mark)
            return _encoded(whole.replace("'", "''") if has_arguments else whole, in_ascii)

        unit = message_unit(key, words, (start, end), write, _PATTERN, can_number=True)
        units += [unit] if unit else []
    return Document(text, units)


def _values(text: str) -> Iterator[tuple[str, int, int]]:
    """Each key with the place of its value, from the first character to before the line break."""
    lines = iter([match for match in _LINE.finditer(text) if match[0]])
    for line in lines:
        if not line[0].strip() or line[0].lstrip()[:1] in "#!":
            continue
        end = _end(line)
        while _CONTINUES.search(text[line.start() : end]):
            following = next(lines, None)
            if following is None:
                break
            end = _end(following)
        key = _KEY.match(text, line.start(), end)
        if key is not None and key.end() < end:
            yield _decoded(key[1]), key.end(), end


def _end(line: re.Match[str]) -> int:
    return line.start() + len(line[0].rstrip("\r\n"))


def _decoded(raw: str) -> str:
    def character(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])

    return _ESCAPE.sub(character, _JOINT.sub("", raw))


def _encoded(value: str, in_ascii: bool) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    escaped = escaped.replace("\r", "\\r").replace("\f", "\\f")
    if escaped[:1] == " ":
        escaped = "\\" + escaped
    if not in_ascii:
        return escaped
    units = escaped.encode("utf-16-be")
    codes = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    return "".join(chr(code) if code < 128 else f"\\u{code:04X}" for code in codes)

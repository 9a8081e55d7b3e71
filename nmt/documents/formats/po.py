"""GNU gettext: .po and .pot.

Facts are those of gettext's manual, "The Format of PO Files". Chinese has one plural form. What nmt wrote is fuzzy:
`msgfmt` leaves it out until a person has looked at it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nmt.documents import placeholders
from nmt.documents.accelerators import with_key, without_key
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit, line_end
from nmt.documents.text import Text, has_words
from nmt.documents.wrapping import unwrapped
from nmt.errors import DataError

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FIELD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,2})\])?)[ \t]*(?=\")")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"[ \t]*')
_ESCAPE = re.compile(r"\\(?:x([\da-fA-F]{1,2})|([0-7]{1,3})|(.))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_WRITTEN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}

_C = placeholders.PRINTF
_UNKNOWN = (
    placeholders.PYTHON,
    placeholders.MUSTACHE,
    placeholders.RUBY,
    placeholders.DOLLAR,
    r"\{ [\w.]{0,60} \}",
    placeholders.LIKELY_PRINTF,
)
_OF_FLAG: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("c-format", "objc-format", "php-format", "lua-format", "javascript-format"), (_C,)
    ),
    **dict.fromkeys(
        ("perl-format", "awk-format", "gcc-internal-format", "object-pascal-format"), (_C,)
    ),
    "python-format": (placeholders.PYTHON, _C),
    "ruby-format": (placeholders.RUBY, _C),
    "python-brace-format": (placeholders.PYTHON_BRACE,),
    **dict.fromkeys(("perl-brace-format", "csharp-format", "java-format"), (placeholders.BRACES,)),
    **dict.fromkeys(("qt-format", "kde-format", "qt-plural-format"), (placeholders.QT,)),
    "sh-format": (placeholders.DOLLAR, r"\$ [A-Za-z_]\w{0,60}"),
}


# Whose placeholders may have numbers: %1$s, {0}
_NUMBERED = frozenset(
    ("c-format", "objc-format", "php-format", "java-printf-format", "python-brace-format")
)


@dataclass
class _Field:
    """A keyword and its strings: their decoded value, from the keyword to the end of the last string."""

    start: int
    end: int
    value: str


@dataclass
class _Entry:
    """The comments and fields that belong together."""

    number: int  # of its first line
    flags: list[str] = field(default_factory=list)
    flags_at: int | None = None  # behind the "#," of the first line of flags
    insert_at: int | None = None  # where a line of flags would come
    fields: dict[str, _Field] = field(default_factory=dict)
    is_obsolete: bool = False


def read(text: str, asked: Asked) -> Document:
    """The messages of a catalogue. Raises DataError with the line that cannot be read."""
    entries = [entry for entry in _entries(text) if "msgid" in entry.fields]
    messages = [entry for entry in entries if entry.fields["msgid"].value and not entry.is_obsolete]
    forms = _number_of_forms(entries, messages)
    units = [_unit(entry, text, forms) for entry in messages]
    about = _about(entries, text, asked, forms)
    return Document(text, [unit for unit in units if unit is not None], about)


# --- reading ---


def _entries(text: str) -> Iterator[_Entry]:
    entry = _Entry(1)
    latest: _Field | None = None
    for number, match in enumerate(_LINE.finditer(text), 1):
        line = match[0].strip()
        if not line:
            latest = None
        elif line.startswith("#"):
            if entry.fields:
                yield entry
                entry = _Entry(number)
            _take_comment(entry, line, match.start())
            latest = None
        elif line.startswith('"'):
            if latest is None:
                raise DataError(f"line {number}: a string without a keyword before it")
            _extend(latest, text, match.start(), number)
        else:
            if line.startswith(("msgctxt", "msgid ", 'msgid"')) and _begins(entry, line):
                yield entry
                entry = _Entry(number)
            latest = _take_field(entry, text, match.start(), number)
    if entry.fields:
        yield entry


def _begins(entry: _Entry, line: str) -> bool:
    """Whether a line of msgctxt or msgid is the first of another entry."""
    return "msgid" in entry.fields or (line.startswith("msgctxt") and bool(entry.fields))


def _take_comment(entry: _Entry, line: str, start: int) -> None:
    if line.startswith("#~"):
        entry.is_obsolete = True
    elif line.startswith("#,"):
        if entry.flags_at is None:
            entry.flags_at = start + 2
        entry.flags += [flag.strip() for flag in line[2:].split(",")]
    elif line.startswith("#|") and entry.insert_at is None:
        entry.insert_at = start


def _take_field(entry: _Entry, text: str, start: int, number: int) -> _Field:
    keyword = _FIELD.match(text, start) or _FIELD.match(text, _indented(text, start))
    if keyword is None:
        raise DataError(f"line {number}: neither a comment nor a keyword with a string")
    name = keyword[0].strip()
    if entry.insert_at is None:
        entry.insert_at = start
    if name in entry.fields:
        raise DataError(f"line {number}: a second {name} in one entry")
    found = entry.fields[name] = _Field(keyword.start(), keyword.end(), "")
    _extend(found, text, keyword.end(), number)
    return found


def _indented(text: str, start: int) -> int:
    while text[start : start + 1] in (" ", "\t"):
        start += 1
    return start


def _extend(found: _Field, text: str, start: int, number: int) -> None:
    string = _STRING.match(text, _indented(text, start))
    if string is None or text[string.end() : string.end() + 1] not in ("", "\r", "\n"):
        raise DataError(f"line {number}: a string that is not closed, or something behind it")
    found.value += _ESCAPE.sub(_unescaped, string[1])
    found.end = string.end(1) + 1


def _unescaped(match: re.Match[str]) -> str:
    if match[1] or match[2]:
        return chr(int(match[1] or match[2], 16 if match[1] else 8))
    return _ESCAPES.get(match[3], match[3])


# --- units ---


def _unit(entry: _Entry, text: str, forms: int) -> Unit | None:
    source = entry.fields.get("msgid_plural", entry.fields["msgid"])
    of_message = _text(source.value, entry)
    if not has_words(of_message[0].words) or not _translations(entry):
        return None
    context = entry.fields["msgctxt"].value if "msgctxt" in entry.fields else ""
    return Unit(
        name=entry.fields["msgid"].value,
        start=entry.fields["msgid"].start,
        texts=of_message[:1],
        write=lambda texts: _edits(entry, text, with_key(texts[0], of_message[1]), forms),
        existing=_existing(entry),
        context=context,
    )


def _text(value: str, entry: _Entry) -> tuple[Text, str]:
    """The text of a message and its key, such as "_F"."""
    known = [_OF_FLAG[flag] for flag in entry.flags if flag in _OF_FLAG]
    pattern = placeholders.message_pattern(*(sum(known, ()) or _UNKNOWN))
    words, key = without_key(unwrapped(value), "_&", pattern)
    can_number = bool(_NUMBERED.intersection(entry.flags))
    return placeholders.message(words, pattern, can_number), key


def _translations(entry: _Entry) -> list[_Field]:
    return [found for name, found in entry.fields.items() if name.startswith("msgstr")]


def _existing(entry: _Entry) -> str:
    values = [found.value for found in _translations(entry)]
    return values[0] if values and all(values) else ""


def _edits(entry: _Entry, text: str, translation: str, forms: int) -> Sequence[Edit]:
    eol = line_end(text)
    if "msgid_plural" in entry.fields:
        written = [_written(f"msgstr[{form}]", translation, eol) for form in range(forms)]
    else:
        written = [_written("msgstr", translation, eol)]
    strings = _translations(entry)
    return [
        *_as_fuzzy(entry, eol),
        Edit(strings[0].start, strings[-1].end, eol.join(written)),
    ]


def _as_fuzzy(entry: _Entry, eol: str) -> list[Edit]:
    if "fuzzy" in entry.flags:
        return []
    if entry.flags_at is not None:
        return [Edit(entry.flags_at, entry.flags_at, " fuzzy,")]
    at = entry.insert_at or 0
    return [Edit(at, at, f"#, fuzzy{eol}")]


def _written(keyword: str, value: str, eol: str) -> str:
    """A keyword and its strings, one for each line of the value."""
    lines = [line for line in re.split(r"(?<=\n)", value) if line]
    strings = [
        f'"{"".join(_WRITTEN.get(character, character) for character in line)}"' for line in lines
    ]
    if len(strings) == 1:
        return f"{keyword} {strings[0]}"
    return eol.join([f'{keyword} ""', *strings])


# --- the header ---


def _number_of_forms(entries: Sequence[_Entry], messages: Sequence[_Entry]) -> int:
    """Chinese has one form; a catalogue whose plurals are translated in more keeps its number."""
    kept = [entry for entry in messages if "msgid_plural" in entry.fields and _existing(entry)]
    header = _header(entries)
    stated = re.search(r"nplurals\s*=\s*(\d)", header.value) if header else None
    return int(stated[1]) if kept and stated else 1


def _header(entries: Sequence[_Entry]) -> _Field | None:
    for entry in entries:
        if not entry.fields["msgid"].value and "msgctxt" not in entry.fields:
            return entry.fields.get("msgstr")
    return None


def _about(entries: Sequence[_Entry], text: str, asked: Asked, forms: int) -> list[Edit]:
    header = _header(entries)
    if header is None or not header.value:
        return []
    value = _with_line(header.value, "Language", asked.locale.replace("-", "_"))
    if forms == 1:
        value = _with_line(value, "Plural-Forms", "nplurals=1; plural=0;")
    value = value.replace("charset=CHARSET", "charset=UTF-8")
    if value == header.value:
        return []
    return [Edit(header.start, header.end, _written("msgstr", value, line_end(text)))]


def _with_line(header: str, name: str, value: str) -> str:
    """A header that says this; what speaks of Chinese already stays."""
    line = re.search(rf"^{name}:[ \t]*(.*)$", header, re.MULTILINE | re.IGNORECASE)
    if line is None:
        return f"{header.rstrip()}\n{name}: {value}\n"
    if line[1].lower().startswith(("zh", "nplurals=1")):
        return header
    return header[: line.start()] + f"{name}: {value}" + header[line.end() :]

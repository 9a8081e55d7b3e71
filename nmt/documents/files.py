"""Files of documents: bytes in, documents out, and bytes again with the edits in their places."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.corpus.reading.encodings import guess
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, with_edits
from nmt.documents.registry import Format, format_of
from nmt.errors import DataError, UserError

if TYPE_CHECKING:
    from nmt.documents.archives import Archive

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MESSAGE = 300
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]{1,40})["']""")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.-]{1,40})""", re.IGNORECASE)


# How characters are written that an old encoding lacks: &#20013; or \u4e2d.
_ESCAPES = {
    **dict.fromkeys(("html", "xliff", "android", "qt", "tmx"), "xmlcharrefreplace"),
    "properties": "backslashreplace",
}


@dataclass(frozen=True)
class Encoding:
    """How a text is written as bytes; `errors` as `str.encode` has it, for characters that the encoding lacks."""

    mark: bytes
    name: str
    errors: str = "strict"

    def encode(self, text: str) -> bytes:
        """The bytes of a text."""
        return self.mark + text.encode(self.name, self.errors)


class DocumentFile:
    """A file, and the documents in it: one, or those of an archive."""

    def __init__(self, form: Format, data: bytes, asked: Asked) -> None:
        """Raises DataError for what cannot be read; the message does not name the file."""
        self.form = form
        self._data = data
        self._archive: Archive | None = None
        self._encoding = Encoding(b"", "utf-8")
        read = form.reader()
        if form.is_archive:
            from nmt.documents import archives

            self._archive = archives.Archive(data)
            texts = self._archive.texts(form.members())
            if not texts:
                raise DataError(f"a zip archive, but no {form.title}: it lacks the text")
        else:
            self._encoding, text = decoded(data, form.name)
            texts = {"": text}
        self.documents: dict[str, Document] = {}
        for member, text in texts.items():
            try:
                self.documents[member] = read(text, asked)
            except DataError as error:
                what = " ".join(str(error).split())[:_LONGEST_MESSAGE]  # it may quote the document
                raise DataError(f"{member}: {what}" if member else what) from None

    def written(self, edits: Mapping[str, Sequence[Edit]]) -> bytes:
        """The bytes of the file with edits, by document; those of the input if there are none."""
        changed = {
            member: with_edits(self.documents[member].text, of_member)
            for member, of_member in edits.items()
            if of_member
        }
        if not changed:
            return self._data
        if self._archive is not None:
            return self._archive.with_members(changed)
        return self._encoding.encode(changed[""])


def open_document(
    path: Path | None, data: bytes, format_name: str | None, asked: Asked
) -> DocumentFile:
    """The documents of a file, or of bytes from stdin. Errors name the place."""
    form = format_of(format_name, path, data)
    try:
        return DocumentFile(form, data, asked)
    except DataError as error:
        raise DataError(_placed(path, str(error))) from None


def _placed(path: Path | None, message: str) -> str:
    """A message that begins with a line, such as "line 3: no string", behind the name of its file."""
    place = str(path) if path is not None else "stdin"
    line = re.match(r"line (\d+): ", message)
    return f"{place}:{line[1]}: {message[line.end() :]}" if line else f"{place}: {message}"


def decoded(data: bytes, format_name: str) -> tuple[Encoding, str]:
    """The text of bytes, by its mark, its declaration, else as UTF-8. Raises DataError for other bytes."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Encoding(mark, name), _decode(data[len(mark) :], name)
    declared = None
    if format_name in ("xliff", "android", "qt", "tmx", "html"):
        declared = _DECLARED.search(data[:1000]) or (
            _CHARSET.search(data[:2000]) if format_name == "html" else None
        )
    name = declared[1].decode() if declared else "utf-8"
    if format_name == "properties":
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            name = "iso-8859-1"
    return Encoding(b"", name, _ESCAPES.get(format_name, "strict")), _decode(data, name)


def _advice(data: bytes, name: str) -> str:
    """What to do about a file that is not in an encoding."""
    if name != "utf-8":
        return "convert the file to UTF-8, and let it declare that"
    in_utf8 = sum(byte > 127 for byte in data.decode(errors="ignore").encode())
    is_mostly_utf8 = 2 * in_utf8 > sum(byte > 127 for byte in data)
    encoding = None if is_mostly_utf8 else guess(data)
    how = f" with iconv -f {encoding} -t UTF-8" if encoding else " to UTF-8"
    return f"convert the file{how}"


def _decode(data: bytes, name: str) -> str:
    try:
        text = data.decode(name)
    except LookupError:
        raise DataError(f"line 1: an encoding {name!r} that nobody knows") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"line {line}: not {name.upper()}; {_advice(data, name)}") from None
    if "\0" in text:
        raise DataError("holds NUL: it is no text")
    return text


def read_bytes(path: Path, most: int = 500 * 2**20) -> bytes:
    """The bytes of a file. Raises DataError for one that is missing or too large."""
    try:
        if path.stat().st_size > most:
            raise DataError(f"{path}: more than {most // 2**20} MB; cut it first")
        return path.read_bytes()
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder; name the files in it") from None
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None

"""The formats that nmt knows, and how a file is told to be of one: by its name, else by its first lines."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nmt.documents.asked import Asked
from nmt.documents.document import Document
from nmt.errors import ConfigError

Read = Callable[[str, Asked], Document]


@dataclass(frozen=True)
class Format:
    """A format: its module and function, and the endings of its files."""

    name: str
    title: str
    module: str
    endings: tuple[str, ...]
    function: str = "read"
    is_archive: bool = (
        False  # `MEMBERS` of the module matches the names of what is translated in it
    )
    has_bilingual: bool = False
    is_keyed: bool = False  # its values have keys, by which those of another file are found

    def reader(self) -> Read:
        """What reads a text, or a member of an archive."""
        read: Read = getattr(self._module(), self.function)
        return read

    def members(self) -> re.Pattern[str]:
        """The names of the members that are translated."""
        pattern: re.Pattern[str] = self._module().MEMBERS
        return pattern

    def _module(self) -> Any:
        return import_module(f"nmt.documents.formats.{self.module}")


FORMATS = (
    Format("po", "gettext PO", "po", (".po", ".pot")),
    Format("markdown", "Markdown", "markdown", (".md", ".markdown"), has_bilingual=True),
    Format("mdx", "MDX", "markdown", (".mdx",), "read_mdx", has_bilingual=True),
    Format("html", "HTML", "html", (".html", ".htm", ".xhtml"), has_bilingual=True),
    Format("srt", "SubRip subtitles", "subtitles", (".srt",), has_bilingual=True),
    Format("vtt", "WebVTT subtitles", "subtitles", (".vtt",), has_bilingual=True),
    Format("json", "JSON messages", "json_messages", (".json", ".arb"), is_keyed=True),
    Format("yaml", "YAML messages", "yaml_messages", (".yml", ".yaml"), is_keyed=True),
    Format("xliff", "XLIFF", "xliff", (".xlf", ".xliff")),
    Format("android", "Android strings", "android", (), is_keyed=True),
    Format("properties", "Java properties", "properties", (".properties",), is_keyed=True),
    Format("qt", "Qt Linguist", "qt", (".ts",)),
    Format("strings", "Apple strings", "strings", (".strings",), is_keyed=True),
    Format("xcstrings", "Apple string catalogue", "xcstrings", (".xcstrings",)),
    Format("tmx", "TMX", "tmx", (".tmx",)),
    Format("csv", "CSV", "table", (".csv",), "read_csv"),
    Format("tsv", "TSV", "table", (".tsv",), "read_tsv"),
    Format("docx", "Word", "docx", (".docx",), is_archive=True),
    Format("odt", "OpenDocument text", "odt", (".odt",), is_archive=True),
    Format("epub", "EPUB", "epub", (".epub",), is_archive=True, has_bilingual=True),
    Format("rst", "reStructuredText", "rst", (".rst",)),
    Format("asciidoc", "AsciiDoc", "asciidoc", (".adoc", ".asciidoc")),
    Format("text", "plain text", "plain", (".txt", ".text"), has_bilingual=True),
)
BY_NAME = {form.name: form for form in FORMATS}
_BY_ENDING = {ending: form for form in FORMATS for ending in form.endings}
_ANDROID = re.compile(r"<resources\b")
_QT = re.compile(r"<!DOCTYPE TS>|<TS\b")
_OF_LINES = ("text", "csv", "tsv")
_NO_PDF = (
    "nmt does not translate PDF: it holds places of letters, not sentences; "
    "convert it to DOCX or HTML first"
)
_FIRST = 2000  # characters that are looked at
_FIRST_LINES = (
    (re.compile(r'\s*\{\s*"sourceLanguage"\s*:'), "xcstrings"),
    (re.compile(r"\s*(?:<\?xml[^>]*>)?\s*(?:<!DOCTYPE TS>|<TS\b)"), "qt"),
    (re.compile(r'\s*(?:#[^\n]*\n|\s)*msg(?:id|ctxt)\s+"'), "po"),
    (re.compile(r"WEBVTT\b"), "vtt"),
    (re.compile(r"\s*\d+\s*\r?\n\d\d:\d\d:\d\d,\d{3} -->"), "srt"),
    (re.compile(r"\s*(?:<!doctype html|<html\b)", re.IGNORECASE), "html"),
    (re.compile(r"\s*(?:<\?xml[^>]*>)?\s*(?:<!DOCTYPE tmx\b|<tmx\b)"), "tmx"),
    (re.compile(r"\s*(?:<\?xml[^>]*>)?\s*(?:<!--.*?-->\s*)?<xliff\b", re.DOTALL), "xliff"),
    (re.compile(r"\s*(?:<\?xml[^>]*>)?\s*(?:<!--.*?-->\s*)*<resources\b", re.DOTALL), "android"),
)


class UnknownFormatError(ConfigError):
    """Neither the name of a file nor its first lines tell its format."""


def format_of(name: str | None, path: Path | None, data: bytes) -> Format:
    """The format that is named, else that of a file. Raises ConfigError for one that nmt does not know."""
    if name is not None:
        return named(name)
    found = by_name_of_file(path) if path is not None else None
    head = data[:_FIRST].decode("utf-8", "replace")
    if path is not None and path.suffix.lower() in (".xml", ".ts"):
        found = BY_NAME["android"] if _ANDROID.search(head) else found if _QT.search(head) else None
    found = found or by_first_lines(head)
    if found is None:
        place = path if path is not None else "stdin"
        known = ", ".join(BY_NAME)
        message = f"{place}: cannot tell its format; give --format with one of {known}"
        raise UnknownFormatError(message)
    return found


def named(name: str) -> Format:
    """The format of a name. Raises ConfigError for an unknown one; "pdf" has a reason of its own."""
    if name in BY_NAME:
        return BY_NAME[name]
    if name == "pdf":
        raise ConfigError(f"--format pdf: {_NO_PDF}")
    raise ConfigError(f"--format {name}: not known; give one of {', '.join(BY_NAME)}")


def by_name_of_file(path: Path) -> Format | None:
    """The format that the ending of a name stands for. Raises ConfigError for PDF."""
    if path.suffix.lower() == ".pdf":
        raise ConfigError(f"{path}: {_NO_PDF}")
    return _BY_ENDING.get(path.suffix.lower())


def by_first_lines(head: str) -> Format | None:
    """The format that a text is in to all appearance."""
    for pattern, name in _FIRST_LINES:
        if pattern.match(head.removeprefix("\ufeff")):
            return BY_NAME[name]
    return BY_NAME["json"] if _begins_as_json(head) else None


def document_format(path: Path) -> Format | None:
    """The format of a file that is more than lines of text; None for any other, and for what cannot be read."""
    found = _BY_ENDING.get(path.suffix.lower())
    if found is None:
        try:
            with path.open("rb") as file:
                found = by_first_lines(file.read(_FIRST).decode("utf-8", "replace"))
        except OSError:
            return None
    return None if found is not None and found.name in _OF_LINES else found


def _begins_as_json(head: str) -> bool:
    """Whether a text begins as an object whose first key is a string; a line of JSON Lines is none."""
    if not re.match(r'\s*\{\s*"', head):
        return False
    first = head.lstrip().partition("\n")[0]
    try:
        json.loads(first)
    except ValueError:
        return True
    return False

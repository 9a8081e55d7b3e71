"""Glossaries as people have them: tables, TBX, PO.

A table has two columns, as DeepL and Google take them, or a first line that names its columns: source, target, case,
forbidden, do-not-translate; others, such as note, are not read. Several targets stand between bars; none means that the
words stay as they are.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from nmt.documents.asked import Asked
from nmt.documents.files import decoded, read_bytes
from nmt.documents.formats import po
from nmt.documents.markup import refuse_broken_xml
from nmt.documents.text import without_tags
from nmt.errors import DataError
from nmt.terms.glossary import Case, Glossary, Term, joined

_LARGEST = 200 * 2**20  # bytes of a file
_LONGEST = 300  # characters of a source, or of all targets of one
_NAMES: Mapping[str, Sequence[str]] = {
    "source": ("source", "src", "term", "en", "en-us", "en-gb", "english"),
    "target": ("target", "tgt", "translation", "zh", "zh-cn", "zh-hans", "chinese"),
    "case": ("case", "case-sensitive"),
    "forbidden": ("forbidden",),
    "kept": ("do-not-translate", "do not translate", "dnt"),
}
_YES = ("yes", "true", "1", "x", "exact", "sensitive")
_NO = ("no", "false", "0", "any", "insensitive")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_DEPRECATED = re.compile("deprecated|superseded|forbidden", re.IGNORECASE)


def read_glossaries(paths: Iterable[Path]) -> Glossary:
    """The terms of several files; of two with one source, the first counts. Raises DataError with file and line."""
    return joined(map(read_glossary, paths))


def read_glossary(path: Path) -> Glossary:
    """The terms of a file, whose ending tells its format: .tbx, .po, .csv; any other is a table with tabs.

    Raises DataError for what cannot be read, with its line, and for a file without terms.
    """
    ending = path.suffix.lower()
    _, text = _decoded(path)
    text = text.removeprefix("\ufeff")
    if ending in (".tbx", ".xml"):
        terms = _of_tbx(text, path)
    elif ending in (".po", ".pot"):
        terms = _of_po(text, path)
    else:
        terms = _of_rows(_rows(text, ending == ".csv", path), path)
    found = tuple(terms)
    if not found:
        raise DataError(f"{path}: holds no term; write one a line, source<TAB>target")
    return Glossary(found)


def _decoded(path: Path) -> tuple[object, str]:
    try:
        return decoded(read_bytes(path, _LARGEST), "glossary")
    except DataError as error:
        message = str(error)
        raise DataError(
            message if message.startswith(str(path)) else f"{path}: {message}"
        ) from None


# --- tables ---


def _rows(text: str, is_csv: bool, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row that has any, with the number of its line."""
    lines = text.splitlines()
    if not is_csv:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, [_unquoted(cell.strip()) for cell in line.split("\t")]
        return
    delimiter = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise DataError(f"{path}:{rows.line_num}: {error}") from None


def _unquoted(cell: str) -> str:
    """A cell as it was before a spreadsheet put it in quotation marks."""
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def _of_rows(rows: Iterator[tuple[int, list[str]]], path: Path) -> Iterator[Term]:
    columns = {"source": 0, "target": 1}
    for place, (number, row) in enumerate(rows):
        named = _columns(row) if place == 0 else {}
        if "source" in named and named.keys() & {"target", "kept"}:
            columns = named
            continue
        if len(row) < 2 and "kept" not in columns:
            raise DataError(f"{path}:{number}: one column, but source<TAB>target is needed")
        cells = {name: row[at] if at < len(row) else "" for name, at in columns.items()}
        yield _term(cells, f"{path}:{number}")


def _columns(row: Sequence[str]) -> dict[str, int]:
    """Where the named columns are, if this is a row of names. DeepL's rows end in the names of languages."""
    names = [cell.lower() for cell in row]
    found: dict[str, int] = {}
    if not {name for known in _NAMES.values() for name in known} & set(names[:2]):
        return found
    for column, known in _NAMES.items():
        at = next((names.index(name) for name in known if name in names), None)
        if at is not None:
            found[column] = at
    return found


def _term(cells: Mapping[str, str], place: str) -> Term:
    source, target = cells.get("source", ""), cells.get("target", "")
    for name, words in (("source", source), ("target", target)):
        if len(words) > _LONGEST:
            size = f"{len(words):,} characters; a term has at most {_LONGEST}"
            raise DataError(f"{place}: a {name} of {size}")
    if not any(map(str.isprintable, source)) or source.isspace():
        raise DataError(f"{place}: no source beside {target[:40]!r}")
    is_kept = cells.get("kept", "").lower() in _YES
    targets = () if is_kept else _several(target)
    return Term(
        source,
        targets,
        place,
        _case(cells.get("case", ""), place),
        _several(cells.get("forbidden", "")),
    )


def _several(cell: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in cell.split("|") if word.strip())


def _case(cell: str, place: str) -> Case:
    if not cell:
        return ""
    if cell.lower() in _YES:
        return "exact"
    if cell.lower() in _NO:
        return "any"
    raise DataError(f'{place}: case "{cell[:40]}" is neither yes nor no')


# --- other formats ---


def _of_po(text: str, path: Path) -> Iterator[Term]:
    try:
        document = po.read(text, Asked())
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    for unit in document.units:
        if unit.existing and len(unit.texts) == 1:
            source = without_tags(unit.texts[0].words)
            place = f"{path}:{document.line_of(unit)}"
            yield _term({"source": source, "target": unit.existing.replace("|", "")}, place)


def _of_tbx(text: str, path: Path) -> Iterator[Term]:
    """Each English term of a concept with all its Chinese ones; deprecated ones are forbidden."""
    try:
        refuse_broken_xml(text)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused above
    for element in root.iter():
        if _name(element) not in ("termEntry", "conceptEntry"):
            continue
        sources, _ = _terms_in(element, "en")
        targets, forbidden = _terms_in(element, "zh")
        for source in sources if targets else ():
            cells = {
                "source": source,
                "target": "|".join(targets),
                "forbidden": "|".join(forbidden),
            }
            yield _term(cells, f"{path} ({source[:40]})")


def _terms_in(concept: ElementTree.Element, language: str) -> tuple[list[str], list[str]]:
    """The terms of a concept in a language, and those that must not be used."""
    good: list[str] = []
    bad: list[str] = []
    for section in concept.iter():
        said = section.get(_LANGUAGE) or section.get("lang") or ""
        if _name(section) not in ("langSet", "langSec") or not said.lower().startswith(language):
            continue
        for group in section:
            terms = [each.text or "" for each in group.iter() if _name(each) == "term"]
            notes = " ".join(each.text or "" for each in group.iter() if _name(each) == "termNote")
            (bad if _DEPRECATED.search(notes) else good).extend(filter(None, map(str.strip, terms)))
    return good, bad


def _name(element: ElementTree.Element) -> str:
    """The name of an element, without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""

"""A file's units: which are translated, what becomes of each, and the edits that follow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.files import DocumentFile
from nmt.documents.lines import lines_of, translated
from nmt.documents.projection import has_pairs, is_as_marked, with_marks_in_place
from nmt.documents.text import Text, Untranslated, difference


class Line(NamedTuple):
    """A translated line, and what is wrong with it, for people."""

    text: str
    faults: tuple[str, ...] = ()


class Left(NamedTuple):
    """A unit that stays as it was, and why; or a fault of one that was translated."""

    member: str
    line: int
    name: str
    why: str

    def __str__(self) -> str:
        place = f"{self.member}:{self.line}" if self.member else f"line {self.line}"
        name = f" ({self.name[:60]})" if self.name else ""
        return f"{place}{name}: {self.why}"


@dataclass
class Report:
    """What became of the units of a file."""

    units: int = 0
    words: int = 0  # of the source, of what is translated
    translated: int = 0
    kept: int = 0  # had a translation
    unchanged: list[Left] = field(default_factory=list)  # whose translation is the source
    left: list[Left] = field(default_factory=list)
    faults: list[Left] = field(default_factory=list)


class Work:
    """A file on its way: what has to be translated, then the edits."""

    def __init__(
        self,
        file: DocumentFile,
        asked: Asked,
        memory: dict[str, str] | None = None,
        kept: dict[str, str] | None = None,
    ) -> None:
        """`memory`: translations of words; `kept`: what another file has for keys, as it is written there."""
        self.file = file
        self.report = Report()
        self._memory = memory if memory is not None else {}
        self._kept = kept or {}
        self._asked = asked
        self._open = list(self._units_to_translate())

    def _units_to_translate(self) -> Iterator[tuple[str, Document, Unit]]:
        for member, document in self.file.documents.items():
            for unit in document.units:
                self.report.units += 1
                is_done = unit.existing and not self._asked.overwrite
                if is_done or unit.name in self._kept:
                    self.report.kept += 1
                    continue
                if unit.problem:
                    self.report.left.append(_left(member, document, unit, unit.problem))
                    continue
                self.report.words += sum(len(text.words.split()) for text in unit.texts)
                yield member, document, unit

    def lines(self) -> list[str]:
        """The lines that are not in the memory, each once."""
        wanted: dict[str, None] = {}
        for _, _, unit in self._open:
            for leaf in leaves(unit):
                if leaf.words not in self._memory:
                    wanted.update(dict.fromkeys(lines_of(leaf.words)))
        return list(wanted)

    def marked_wrongly(self, of_lines: Mapping[str, Line]) -> list[str]:
        """The lines whose translations have lost a pair of tags, or have it around nothing or around others."""
        return [
            line
            for line in self.lines()
            if has_pairs(line)
            and line in of_lines
            and not _is_well_marked(line, of_lines[line].text)
        ]

    def written(self, of_lines: Mapping[str, Line]) -> bytes:
        """The bytes of the file with the translations of its lines in their places."""
        edits: dict[str, list[Edit]] = {member: [] for member in self.file.documents}
        for member, document, unit in self._open:
            edits[member] += self._edits(member, document, unit, of_lines)
        for member, document in self.file.documents.items():
            edits[member] += _kept_edits(document, self._kept)
        if any(edits.values()):
            for member, document in self.file.documents.items():
                edits[member] += document.about
        return self.file.written(edits)

    def _edits(
        self, member: str, document: Document, unit: Unit, of_lines: Mapping[str, Line]
    ) -> Sequence[Edit]:
        found: dict[str, str] = {}
        try:
            for leaf in leaves(unit):
                found[leaf.words] = self._translated(leaf.words, of_lines)
            filled = [text.filled(lambda leaf: found[leaf.words]) for text in unit.texts]
        except Untranslated as why:
            self.report.left.append(_left(member, document, unit, str(why)))
            return []
        if all(words == chinese for words, chinese in found.items()):
            same = _left(member, document, unit, "its translation is the source")
            self.report.unchanged.append(same)
            return []
        self.report.translated += 1
        for words in found:
            for line in lines_of(words):
                faults = of_lines[line].faults if line in of_lines else ()
                self.report.faults += [_left(member, document, unit, fault) for fault in faults]
        return unit.write(filled)

    def _translated(self, words: str, of_lines: Mapping[str, Line]) -> str:
        if words in self._memory:
            return self._memory[words]

        def translate(line: str) -> str:
            if line not in of_lines:
                raise Untranslated("there is no translation")
            chinese = with_marks_in_place(of_lines[line].text)
            if not difference(line, chinese) and not is_as_marked(line, chinese):
                raise Untranslated("tags are around other words")
            return chinese

        chinese = translated(words, translate)
        self._memory[words] = chinese
        return chinese


def _is_well_marked(line: str, translation: str) -> bool:
    return not difference(line, translation) and is_as_marked(line, translation)


def leaves(unit: Unit) -> Iterator[Text]:
    """All texts of a unit, those within pieces too."""
    for text in unit.texts:
        yield from text.leaves()


def _left(member: str, document: Document, unit: Unit, why: str) -> Left:
    return Left(member, document.line_of(unit), unit.name, why)


# --- what another file has ---


def values_by_name(file: DocumentFile, sources: dict[str, str]) -> dict[str, str]:
    """The values of a translated file as they are written, by key, but for those that are still the source's."""
    values = {}
    for document in file.documents.values():
        for unit in document.units:
            place = _place(unit)
            if place is not None and sources.get(unit.name) != _words(unit):
                values[unit.name] = document.text[place.start : place.end]
    return values


def words_by_name(file: DocumentFile) -> dict[str, str]:
    """The words of each unit, by key."""
    return {
        unit.name: _words(unit) for document in file.documents.values() for unit in document.units
    }


def _words(unit: Unit) -> str:
    return "\n".join(text.words for text in unit.texts)


def _place(unit: Unit) -> Edit | None:
    """Where the only value of a unit stands."""
    edits = unit.write([text.filled(lambda leaf: leaf.words) for text in unit.texts])
    return edits[0] if len(edits) == 1 else None


def _kept_edits(document: Document, kept: dict[str, str]) -> Iterator[Edit]:
    for unit in document.units:
        place = _place(unit) if unit.name in kept else None
        if place is not None:
            yield Edit(place.start, place.end, kept[unit.name])

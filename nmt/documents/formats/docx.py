"""Office Open XML of Word: the members of a .docx that hold text.

Word splits sentences into runs at will. Runs of one style are joined, and what is written has new runs in their place.
Facts are those of ECMA-376, part 1, 17.3 (paragraphs and runs) and 17.16 (fields).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nmt.documents import described
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit, replacing
from nmt.documents.markup import Attribute, escape_attribute
from nmt.documents.office import Atom, Elements, Sentence, segments
from nmt.documents.text import Text, has_words, plain

MEMBERS = re.compile(
    r"word/(?:document\d*|header\d*|footer\d*|footnotes\d*|endnotes\d*|comments\d*)\.xml|docProps/core\.xml"
)

_PARAGRAPHS = frozenset(["w:p"])
_CONTAINERS = frozenset(["w:hyperlink", "w:ins", "w:smartTag", "w:moveTo", "w:sdt"])
_DROPPED = frozenset(["w:proofErr", "w:lastRenderedPageBreak", "w:softHyphen"])
_NO_TEXT = re.compile(  # content controls whose words are chosen or computed
    r"<w:(?:dropDownList|comboBox|date|citation|bibliography|equation|picture)\b"
)
_BREAKS = frozenset(["w:tab", "w:ptab", "w:br", "w:cr"])
_DEEPEST = 8  # containers in containers; what is deeper stays as it is
_FIRST = 2000  # characters in which the root is
_MOST_FIELDS = 20  # fields in fields
_LAYOUT = re.compile(r"([ ]{4,})")  # spaces that place words
_KEEPS_SPACE = re.compile(r"""\sxml:space\s*=\s*["']preserve""")
_FIELD_CHARACTER = re.compile(r"""w:fldCharType\s*=\s*["'](begin|separate|end)""")
_LINK = re.compile(r"<w:instrText[^>]*>\s*HYPERLINK\b")
_SAME_STYLE = re.compile(  # what words may differ in without another look
    r"""<w:(?:lang|noProof|szCs|bCs|iCs)(?:\s[^<>]*)?/>|\sw:rsid\w*=(?:"[^"]*"|'[^']*')|>\s+(?=<)"""
)
_SAID = ("dc:title", "dc:subject", "dc:description", "cp:keywords")
_CODE = re.compile(  # fonts and styles
    r"""<w:rFonts\b[^>]*\sw:ascii="(?:Courier|Consolas|Menlo|Monaco|Lucida\ Console|[^"]*\b(?:Mono|Code)\b)[^"]*"
    | <w:rStyle\b[^>]*"(?:VerbatimChar|HTMLCode|SourceText|(?:Inline)?Code(?:Char)?)"
    """,
    re.VERBOSE,
)
_CODE_PARAGRAPH = re.compile(r'<w:pStyle\b[^>]*"(?:SourceCode|HTMLPreformatted|Code|Listing)"')
_MARK = re.compile(r"\x01(\d+)\x02")  # no XML has these characters


@dataclass(frozen=True)
class _Atom(Atom):
    """Of a run: `style` are its properties.

    Where it begins or ends within a run, `before` or `after` are the tag and properties of that run.
    """

    style: str = ""
    before: str = ""
    after: str = ""


class _Member(Elements):
    """The elements of a member."""

    def __init__(self, text: str) -> None:
        super().__init__(text, _PARAGRAPHS)
        # A text that is typed in such a font as a whole is no code.
        self.has_code = 2 * len(_CODE.findall(text)) < text.count("<w:t>") + text.count("<w:t ")

    def is_code(self, paragraph: int) -> bool:
        """Whether a paragraph has a style of code."""
        first = next(self.children(paragraph), paragraph)
        return self.tokens[first].name == "w:pPr" and bool(_CODE_PARAGRAPH.search(self.raw(first)))


def read(text: str, asked: Asked) -> Document:
    """The paragraphs of a member. Raises DataError with the line for XML that is not well formed."""
    if "<cp:coreProperties" in text[:_FIRST]:
        return described.read(text, _SAID, asked)
    elements = _Member(text)
    units: list[Unit] = []
    done = 0  # nothing before it gets other words
    for number, token in enumerate(elements.tokens):
        if token.kind == "open" and token.name == "w:p" and not elements.is_code(number):
            identity = token.attributes(text).get("w14:paraid")
            atoms = _atoms(elements, elements.children(number), 0)
            found = [segment for segment in segments(atoms) if _has_words(segment)]
            units += _units(found, identity.value if identity else "")
            done = max([done, *(segment[-1].end for segment in found)])
        elif token.name == "wp:docPr" and token.start >= done:
            units += _description(token.attributes(text))
    return Document(text, sorted(units, key=lambda unit: unit.start))


def _description(attributes: Mapping[str, Attribute]) -> Iterator[Unit]:
    """What stands for a picture, if that is not in a sentence."""
    said = attributes.get("descr")
    if said is not None and has_words(said.value):
        text = plain(said.value, escape_attribute)
        yield Unit("", said.start, (text,), replacing(said.start, said.end))


# --- reading ---


def _atoms(elements: _Member, children: Iterator[int], depth: int) -> list[_Atom]:
    atoms: list[_Atom] = []
    for number in children:
        token = elements.tokens[number]
        if token.kind == "text" or token.name in _DROPPED:
            continue
        if token.name == "w:r":
            atoms += _of_run(elements, number)
        elif token.name in _CONTAINERS and token.kind == "open" and depth < _DEEPEST:
            atoms += _of_container(elements, number, depth)
        else:
            is_hard = token.name == "w:pPr" or elements.holds_paragraph(number)
            atoms.append(_whole(elements, number, "hard" if is_hard else "single"))
    return _with_fields(elements.text, atoms)


def _whole(elements: _Member, number: int, kind: str) -> _Atom:
    token = elements.tokens[number]
    return _Atom(kind, elements.raw(number), token.start, elements.end(number))


def _of_container(elements: _Member, number: int, depth: int) -> list[_Atom]:
    inner = number
    if elements.tokens[number].name == "w:sdt":
        content = _content_of_control(elements, number)
        if content is None:
            is_hard = elements.holds_paragraph(number)
            return [_whole(elements, number, "hard" if is_hard else "single")]
        inner = content
    atoms = _atoms(elements, elements.children(inner), depth + 1)
    start, end = elements.tokens[number].start, elements.tokens[inner].end
    last, closed = elements.tokens[elements.partner[inner]].start, elements.end(number)
    is_hard = any(atom.kind == "hard" for atom in atoms)
    opening = _Atom("hard" if is_hard else "open", elements.text[start:end], start, end)
    closing = _Atom("hard" if is_hard else "close", elements.text[last:closed], last, closed)
    return [opening, *atoms, closing]


def _content_of_control(elements: _Member, number: int) -> int | None:
    """The element with the words of a content control, if these may be translated."""
    for child in elements.children(number):
        token = elements.tokens[child]
        if token.name == "w:sdtContent":
            return child if token.kind == "open" else None
        if _NO_TEXT.search(elements.text, token.start, elements.end(child)):
            return None
    return None


def _of_run(elements: _Member, number: int) -> list[_Atom]:
    tokens = elements.tokens
    style = ""
    content: list[int] = []
    for child in elements.children(number):
        if tokens[child].name == "w:rPr":
            style = elements.raw(child)
        elif tokens[child].kind != "text" and tokens[child].name not in _DROPPED:
            content.append(child)
    run = tokens[number].raw(elements.text) + style
    atoms = []
    for child in content:
        is_first, is_last = child == content[0], child == content[-1]
        kind, value = _content(elements, child)
        kind = "single" if kind == "words" and elements.has_code and _CODE.search(style) else kind
        start = tokens[number].start if is_first else tokens[child].start
        end = elements.end(number) if is_last else elements.end(child)
        before, after = "" if is_first else run, "" if is_last else run
        atom = _Atom(kind, value, start, end, style, before, after)
        atoms.append(_piece(elements.text, kind, atom, atom) if kind == "single" else atom)
    return atoms


def _content(elements: _Member, child: int) -> tuple[str, str]:
    """The kind and the words of what is in a run."""
    token = elements.tokens[child]
    if token.name == "w:t":
        return "words", _words(elements, child)
    if token.name == "w:noBreakHyphen":
        return "words", "-"
    if token.name == "w:fldChar":
        found = _FIELD_CHARACTER.search(token.raw(elements.text))
        return (found[1] if found else "hard"), ""
    if token.name in _BREAKS:
        return "break", ""
    return ("hard" if elements.holds_paragraph(child) else "single"), ""


def _words(elements: _Member, element: int) -> str:
    words = "".join(map(elements.words, elements.children(element)))
    keeps_space = _KEEPS_SPACE.search(elements.tokens[element].raw(elements.text))
    return words if keeps_space else words.strip(" \t\r\n")


# --- fields ---


def _with_fields(text: str, atoms: Sequence[_Atom]) -> list[_Atom]:
    """Whole fields are single pieces, those of links are pairs, and what is left of others ends units.

    So do breaks, but for those in a field that is a piece.
    """
    found: list[_Atom] = []
    begun: list[list[int]] = []  # where each field begins, and where its result does
    for atom in atoms:
        found.append(atom)
        if atom.kind == "hard" or len(begun) > _MOST_FIELDS:
            begun.clear()
        elif atom.kind == "begin":
            begun.append([len(found) - 1])
        elif atom.kind == "separate" and begun:
            begun[-1].append(len(found) - 1)
        elif atom.kind == "end" and begun:
            _join_field(text, found, begun.pop())
    left = ("begin", "separate", "end", "break")
    return [replace(atom, kind="hard") if atom.kind in left else atom for atom in found]


def _join_field(text: str, found: list[_Atom], places: Sequence[int]) -> None:
    first = found[places[0]]
    if len(places) == 2 and _LINK.search(text, first.start, found[places[1]].end):
        if any(atom.kind in ("break", "hard") for atom in found[places[1] :]):
            return
        found[-1] = _piece(text, "close", found[-1], found[-1])
        found[places[0] : places[1] + 1] = [_piece(text, "open", first, found[places[1]])]
    else:
        found[places[0] :] = [_piece(text, "single", first, found[-1])]


def _piece(text: str, kind: str, first: _Atom, last: _Atom) -> _Atom:
    """One atom in place of several, written as whole runs."""
    value = first.before + text[first.start : last.end] + ("</w:r>" if last.after else "")
    return replace(first, kind=kind, value=value, end=last.end, after=last.after)


# --- units ---


def _has_words(atoms: Sequence[_Atom]) -> bool:
    return any(atom.kind == "words" and has_words(atom.value) for atom in atoms)


def _units(found: Sequence[Sequence[_Atom]], name: str) -> Iterator[Unit]:
    """The units of a paragraph; behind the first, they have a number besides its name."""
    for number, atoms in enumerate(found, start=1):
        yield _unit(atoms, f"{name}.{number}" if name and number > 1 else name)


def _unit(atoms: Sequence[_Atom], name: str) -> Unit:
    first, last = atoms[0], atoms[-1]
    maker = _Maker(atoms)
    text = maker.text()
    leading = (
        first.value[: len(first.value) - len(first.value.lstrip())] if first.kind == "words" else ""
    )
    trailing = last.value[len(last.value.rstrip()) :] if last.kind == "words" else ""

    def write(texts: Sequence[str]) -> list[Edit]:
        runs = maker.runs(leading + texts[0] + trailing)
        written = ("</w:r>" if first.before else "") + runs + last.after
        return [Edit(first.start, last.end, written)]

    return Unit(name, first.start, (text,), write)


class _Maker:
    """Makes a text of atoms, and runs of its translation.

    Each container has a style that most of its words have; words of another style are in a pair.
    """

    def __init__(self, atoms: Sequence[_Atom]) -> None:
        self._atoms = atoms
        self._styles: dict[str, str] = {}  # the properties of each style as they came first
        self._pieces: list[tuple[str, str, str]] = []  # kind, XML, the style of words in a pair
        self._sentence = Sentence()
        self._main = self._main_styles()
        self._bases = [self._main[-1]]
        self._style = ""  # of the pair that is open, if `_is_open`
        self._is_open = False
        self._waiting: list[str] = []  # pieces that may belong to a pair or not

    def _main_styles(self) -> dict[int, str]:
        """The style of each container, by the place of what opens it; -1 is the paragraph."""
        counts: dict[int, Counter[str]] = {-1: Counter()}
        opened = [-1]
        for place, atom in enumerate(self._atoms):
            if atom.kind == "open":
                opened.append(place)
                counts[place] = Counter()
            elif atom.kind == "close":
                opened.pop()
            elif atom.kind == "words":
                counts[opened[-1]][self._key(atom)] += len(atom.value.strip())
        return {
            place: max(count, key=count.__getitem__, default="") for place, count in counts.items()
        }

    def _key(self, atom: _Atom) -> str:
        key = _SAME_STYLE.sub(lambda match: ">" if match[0].startswith(">") else "", atom.style)
        key = "" if key in ("<w:rPr></w:rPr>", "<w:rPr/>") else key
        self._styles.setdefault(key, atom.style)
        return key

    def text(self) -> Text:
        """The words and pieces of the atoms."""
        for place, atom in enumerate(self._atoms):
            if atom.kind == "words":
                self._add_words(atom)
            elif atom.kind == "single":
                self._waiting.append(atom.value)
            else:
                self._end_pair()
                self._end_waiting()
                if atom.kind == "open":
                    self._bases.append(self._main[place])
                    self._sentence.open(self._mark("open", atom.value, self._bases[-1]))
                else:
                    self._bases.pop()
                    self._sentence.close(self._mark("close", atom.value))
        self._end_pair()
        self._end_waiting()
        return self._sentence.text()

    def _add_words(self, atom: _Atom) -> None:
        key = self._key(atom)
        if key != (self._style if self._is_open else self._bases[-1]) and atom.value.strip():
            self._end_pair()
            self._end_waiting()
            if key != self._bases[-1]:
                self._sentence.words(" " if atom.value[0].isspace() else "")
                self._sentence.open(self._mark("open", "", key))
                self._style, self._is_open = key, True
        self._end_waiting()
        for number, part in enumerate(_LAYOUT.split(atom.value)):
            if number % 2:
                self._sentence.single(self._mark("single", _run(atom.style, part)))
            else:
                self._sentence.words(part)

    def _end_pair(self) -> None:
        if self._is_open:
            self._sentence.close(self._mark("close", ""))
        self._is_open = False

    def _end_waiting(self) -> None:
        for raw in self._waiting:
            self._sentence.single(self._mark("single", raw))
        self._waiting.clear()

    def _mark(self, kind: str, raw: str, style: str = "") -> str:
        self._pieces.append((kind, raw, style))
        return f"\x01{len(self._pieces) - 1}\x02"

    def runs(self, filled: str) -> str:
        """The runs of a filled text: its marks are pieces, and all else words."""
        styles = [self._main[-1]]
        written: list[str] = []
        for number, part in enumerate(_MARK.split(filled)):
            if number % 2 == 0:
                written.append(_run(self._styles.get(styles[-1], ""), part) if part else "")
                continue
            kind, raw, style = self._pieces[int(part)]
            written.append(raw)
            if kind == "open":
                styles.append(style)
            elif kind == "close":
                styles.pop()
        return "".join(written)


def _run(style: str, words: str) -> str:
    """A run of escaped words."""
    return f'<w:r>{style}<w:t xml:space="preserve">{words}</w:t></w:r>'

"""Markdown and MDX: paragraphs, headings, items and cells; code, addresses and all marks stay.

markdown-it-py finds the blocks. It reads a shadow of the text, in which lines of other syntaxes (front matter, MDX,
`:::`) are blank, so that lines have the same numbers.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit, Write, line_end
from nmt.documents.formats import html, yaml_messages
from nmt.documents.markdown_inline import add_inline, escape_title, normalized, with_room
from nmt.documents.markdown_shadow import BRACES, FOOTNOTE, Shadow
from nmt.documents.text import Text, Writer, has_words, plain
from nmt.errors import ConfigError, DataError

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n(?:[\s\S]{0,100000}?\r?\n)??\1[ \t]*(?:\r?\n|\Z)"
)
_TITLE = re.compile(
    r"""
    \s* (?: :{3,} \s* \w+ \s* \[ (?P<brackets> [^\]]+ ) \]
      | :{3,} \s* \w+ \s+ (?P<words> [^\s\[\]{}] [^\[\]{}]* )
      | (?: (?: !!! | \?\?\?\+? ) \s+ \w+ | === ) \s+ "(?P<quotes> [^"]+ )" )
    """,
    re.VERBOSE,
)
# What begins a definition, a footnote, an abbreviation: *[HTML]:
_DEFINES = rf":\s+|{FOOTNOTE}\s*|\*\[[^\]]+\]:\s*"
_DEFINITION = re.compile(_DEFINES)
_LABEL = re.compile(rf"\[[ xX]\]\s+|\[![A-Za-z]+\]\s*|{_DEFINES}")
_HARD_BREAK = re.compile(r"(?: {2,}|\\)$")
_MASK = "\ue000"
_COMPONENT = re.compile(
    r"""\s*<([A-Z][\w.]*)(?:\s(?:[^<>"']|"[^"]*"|'[^']*')*+)?>(?P<words>[^\n]+)</\1>\s*"""
)
_HEADING_ID = re.compile(r"\s*\{[#.][^{}]*\}\s*$")
_CELL = re.compile(r"(?:[^|\\]|\\.|\\$)++")  # also within code, only \| is no border
_DELIMITERS = re.compile(r"[\s|:>-]+")
_REFERENCE = re.compile(r" {0,3}\[([^\[\]^][^\[\]]{0,300})\]:\s*\S", re.MULTILINE)


def read(text: str, asked: Asked) -> Document:
    """The texts of a page in Markdown."""
    return _Page(text, asked, is_mdx=False).document()


def read_mdx(text: str, asked: Asked) -> Document:
    """The texts of a page in MDX."""
    return _Page(text, asked, is_mdx=True).document()


class _Page:
    def __init__(self, text: str, asked: Asked, is_mdx: bool) -> None:
        self._text = text
        self._asked = asked
        self._is_mdx = is_mdx
        self._starts: list[int] = []
        self._lines: list[str] = []
        for match in _LINE.finditer(text):
            self._starts.append(match.start())
            self._lines.append(match[0].rstrip("\r\n"))
        self._references = {normalized(match[1]) for match in _REFERENCE.finditer(text)}
        self._units: list[Unit] = []

    def document(self) -> Document:
        body = self._front_matter()
        shadow = Shadow(self._lines, body, self._is_mdx)
        others = dict(shadow.others)
        defined: dict[str, Any] = {}
        for token, parent in _blocks("\n".join(shadow.lines), self._is_mdx, defined):
            first, behind = token.map
            for number in range(first, behind):  # what is within another block is of that
                others.pop(number, None)
            if token.type == "html_block":
                self._take_html(first, behind)
            elif token.type == "table_open":
                self._take_table(first, behind)
            else:
                self._take_inline(token.content, first, parent)
        for first, behind in others.items():
            self._take_title(first)
            if self._is_mdx:
                self._take_component(first, behind)
        for reference in defined.get("references", {}).values():
            first, behind = reference["map"]
            self._take_reference(first, behind, reference["title"])
        self._units.sort(key=lambda unit: unit.start)
        return Document(self._text, self._units)

    # --- what is no Markdown ---

    def _front_matter(self) -> int:
        """Take the values that people read; the number of the first line behind."""
        match = _FRONT_MATTER.match(self._text)
        if match is None:
            return 0
        if match[1] == "---":
            start = match[0].index("\n") + 1
            inner = match[0][start : match[0].rstrip().rindex(match[1])]
            try:
                units = yaml_messages.read(inner, replace(self._asked, locale="")).units
            except DataError:
                units = []
            keys = set(self._asked.front_matter)
            self._units += [
                moved(unit, start) for unit in units if unit.name.split(".")[-1] in keys
            ]
        return bisect_left(self._starts, match.end())

    def _take_reference(self, first: int, behind: int, title: str) -> None:
        """The title of what links refer to: `[guide]: guide.md "The guide"`."""
        start = self._starts[first]
        at = self._text[start : self._end(behind - 1)].rfind(title)
        if title and at >= 0:
            at += start
            self._add("title", at, at + len(title), plain(title, escape_title))

    def _take_component(self, first: int, behind: int) -> None:
        """The attributes of a component that people read, and what it encloses in its own line."""
        start = self._starts[first]
        masked = _masked(self._text[start : self._end(behind - 1)])
        whole = _COMPONENT.fullmatch(masked)
        if whole is not None:
            place = start + whole.start("words")
            words = self._text[place : start + whole.end("words")]
            self._add("paragraph", place, place + len(words), self._inline(words))
        if masked.lstrip().startswith("<"):
            tags = masked[: whole.start("words")] if whole else masked
            units = html.read(tags, replace(self._asked, bilingual=False)).units
            self._units += [moved(unit, start) for unit in units if not _has_mask(unit)]

    def _take_title(self, number: int) -> None:
        """The title of a block: :::note[Title], !!! note "Title"."""
        title = _TITLE.match(self._lines[number])
        kind = title.lastgroup if title else None
        if title is not None and kind is not None:
            start = self._starts[number] + title.start(kind)
            self._add("title", start, start + len(title[kind]), self._inline(title[kind]))

    # --- blocks ---

    def _take_html(self, first: int, behind: int) -> None:
        start, end = self._starts[first], self._end(behind - 1)
        units = html.read(self._text[start:end], self._asked).units
        self._units += [moved(unit, start) for unit in units]

    def _take_table(self, first: int, behind: int) -> None:
        for number in range(first, behind):
            line = self._lines[number]
            if number == first + 1 or _DELIMITERS.fullmatch(line):
                continue
            for cell in _CELL.finditer(line):
                content = cell[0].strip()
                start = (
                    self._starts[number] + cell.start() + cell[0].index(content) if content else 0
                )
                if content and not set(content) <= set("> "):
                    text = self._inline(content, escape=_escape_cell)
                    self._add("cell", start, start + len(content), text)

    def _take_inline(self, content: str, first: int, parent: str) -> None:
        places = self._places(content.split("\n"), first)
        for part in [] if places is None else self._definitions(places):
            self._take_lines(part, parent)

    def _definitions(self, places: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """A paragraph in which lines begin definitions, `: ` of a word or `[^1]: ` of a footnote, as its parts."""
        parts: list[list[tuple[int, int]]] = [[]]
        for start, end in places:
            begins = _DEFINITION.match(self._text, start, end) is not None
            if begins and parts[-1]:
                parts.append([])
            parts[-1].append((start, end))
        return parts

    def _take_lines(self, places: list[tuple[int, int]], parent: str) -> None:
        if parent == "heading_open":
            identifier = _HEADING_ID.search(self._text, *places[-1])
            if identifier is not None and identifier.end() == places[-1][1]:
                places[-1] = (places[-1][0], identifier.start())
        label = _LABEL.match(self._text, *places[0])
        if label is not None:
            places[0] = (label.end(), places[0][1])
        if places[0][0] >= places[0][1]:  # [!NOTE] alone
            places = places[1:]
        if places:
            start, end = places[0][0], places[-1][1]
            self._add(parent.removesuffix("_open"), start, end, self._paragraph(places))

    def _places(self, lines: Sequence[str], first: int) -> list[tuple[int, int]] | None:
        """Where the lines of a paragraph are in the text; None if they are not found."""
        found = []
        for number, content in enumerate(lines, first):
            if number >= len(self._lines):
                return None
            stripped = content.strip()
            at = self._lines[number].rfind(stripped)
            if at < 0:
                return None
            start = self._starts[number] + at
            found.append((start, start + len(stripped)))
        return found

    def _paragraph(self, places: Sequence[tuple[int, int]]) -> Text:
        """The lines of a paragraph as one, but for its hard breaks."""
        writer = Writer()
        line = ""
        for number, (start, end) in enumerate(places):
            line += (
                self._text[start:end].removesuffix("\\")
                if number + 1 < len(places)
                else self._text[start:end]
            )
            following = places[number + 1][0] if number + 1 < len(places) else None
            if following is None:
                break
            is_hard = _HARD_BREAK.search(self._text[start:end] + self._behind(end))
            if is_hard is None:
                line += " "
                continue
            add_inline(writer, line, self._references)
            kept = end - 1 if self._text[end - 1] == "\\" else end
            writer.line_break(self._text[kept:following])
            line = ""
        add_inline(writer, line, self._references)
        return writer.text()

    def _behind(self, end: int) -> str:
        """The blanks behind the content of a line."""
        match = re.compile(r"[ \t]*").match(self._text, end)
        return match[0] if match else ""

    def _inline(self, content: str, escape: Any = None) -> Text:
        writer = Writer(escape) if escape else Writer()
        add_inline(writer, content, self._references)
        return writer.text()

    def _end(self, number: int) -> int:
        return self._starts[number] + len(self._lines[number])

    # --- units ---

    def _add(self, name: str, start: int, end: int, text: Text) -> None:
        if any(has_words(leaf.words) for leaf in text.leaves()):
            self._units.append(Unit(name, start, (text,), self._writes(name, start, end)))

    def _writes(self, name: str, start: int, end: int) -> Write:
        if not self._asked.bilingual:
            return lambda texts: [Edit(start, end, with_room(texts[0]))]
        before = self._before_second(name, start)
        return lambda texts: [Edit(end, end, before + with_room(texts[0]))]

    def _before_second(self, name: str, start: int) -> str:
        """What stands between a text and its translation."""
        if name != "paragraph":
            return "<br>" if name == "cell" else " "
        line = self._text[self._text.rfind("\n", 0, start) + 1 : start]
        prefix = re.sub(r"[^\s>]", " ", line)
        eol = line_end(self._text)
        return f"{eol}{prefix.rstrip()}{eol}{prefix}"


def _blocks(shadow: str, is_mdx: bool, defined: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """The tokens that have text, each with the type of the token before it; `defined` gets the references."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        fix = "pip install markdown-it-py"
        raise ConfigError(
            f"Markdown needs markdown-it-py, which is not installed; run {fix}"
        ) from None
    parser = MarkdownIt("commonmark", {"maxNesting": 50}).enable("table")
    parser.disable(["inline", "text_join", "code"] if is_mdx else ["inline", "text_join"], True)
    before = ""
    in_table = False
    for token in parser.parse(shadow, defined):
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        is_text = token.type in ("inline", "html_block") and not in_table
        if token.map and (is_text or token.type == "table_open"):
            yield token, before
        before = token.type


def _masked(code: str) -> str:
    """A component with signs of no meaning in place of expressions in braces."""
    while (masked := BRACES.sub(lambda match: _MASK * len(match[0]), code)) != code:
        code = masked
    return code


def _has_mask(unit: Unit) -> bool:
    return any(_MASK in text.filled(lambda leaf: leaf.words) for text in unit.texts)


def moved(unit: Unit, distance: int) -> Unit:
    """A unit of a part, for the whole."""
    write = unit.write

    def shifted(texts: Sequence[str]) -> list[Edit]:
        return [Edit(start + distance, end + distance, text) for start, end, text in write(texts)]

    return replace(unit, start=unit.start + distance, write=shifted)


def _escape_cell(words: str) -> str:
    return words.replace("|", "\\|")

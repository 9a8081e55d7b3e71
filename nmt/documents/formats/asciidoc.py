"""AsciiDoc by its lines: titles, paragraphs, lists, cells of tables.

Listings, passed blocks, comments, attributes and macros stay as they are.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nmt.documents.asciidoc_inline import add_inline, inline, placed
from nmt.documents.asked import Asked
from nmt.documents.columns import quoted, unquoted, values
from nmt.documents.document import Document, Edit, Unit, line_end
from nmt.documents.text import Text, Writer, as_it_is, has_words, plain

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_VERBATIM = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|(`{3,})[\w-]*|:={3,}")
_DELIMITER = re.compile(r"={4,}|\*{4,}|_{4,}|--|~{4,}")
_TABLE = re.compile(r"[|!,]={3,}")
_COMMENT = re.compile(r"//(?!/)")
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:\s+|$)")
_BLOCK_ATTRIBUTES = re.compile(r"\[(?:\[[^\[\]]*\]|[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*){0,9})\]")
_STYLE = re.compile(r"\[(?:[A-Za-z][\w-]*|%hardbreaks|(?=,))")
_MACRO = re.compile(r"([a-z][\w-]*+)::[^\s\[]*+\[(.*)\]")
_ALT = re.compile(r'\s*(?:"(?P<quoted>[^"]+)"|(?P<bare>[^",=\]]+))\s*(?:,|$)')
_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(?:\[\[[^\]]*\]\]\s*)?(?=\S)")
_BLOCK_TITLE = re.compile(r"\.(?=[^\s.])")
_BREAK = re.compile(r"'{3,}|<{3,}|-{3}|\*{3}|- - -|\* \* \*|\+")
_ITEM = re.compile(
    r"\s*(?:\*{1,5}|-|\.{1,5}|\d{1,5}\.|[a-zA-Z]\.|[ivxIVX]{1,6}\)|<(?:\d+|\.)>)\s+(?=\S)"
)
_TASK = re.compile(r"\[[ xX*]\]\s+")
_DESCRIBED = re.compile(r"\s*(\S.*?)(?::{2,4}|;;)(?:\s+|$)")
_OPTIONS = re.compile(r"[*`_]{0,2}--?\w")  # of a command, as a term
_ADMONITION = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+")
_STYLES_AS_WRITTEN = re.compile(
    "(?i)source|listing|literal|stem|latexmath|asciimath|pass|comment|mermaid|plantuml|ditaa|graphviz|d2"
)
_KEEPS_LINES = ("verse", "%hardbreaks")  # styles
_CSV = re.compile(r"format=\"?csv\b")
_SPEC = r"(?:(?:\d{1,3}(?:\.\d{1,3})?|\.\d{1,3})[+*])?(?:[<^>](?:\.[<^>])?|\.[<^>])?([aehlmsdv])?"
_CELL = re.compile(rf"(?:(?<=\s)|^)({_SPEC})\||(?<!\\)()()\|", re.MULTILINE)
_REFERRED = re.compile(r"<<#?([^<>,]{1,200})|xref:#?([^\s\[\]]{1,200})\[")
_BEGINS_BLOCK = re.compile(r"[*.=#/:|\[-]")


class _Line(NamedTuple):
    """A line, and the place where it begins."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def behind(self, count: int) -> "_Line":
        """What follows the first characters, as a line."""
        return _Line(self.start + count, self.text[count:])


_Lines = Sequence[_Line]


def read(text: str, asked: Asked) -> Document:
    """The texts of a page in AsciiDoc."""
    return _Page(text, asked).document()


class _Page:
    def __init__(self, text: str, asked: Asked) -> None:
        self._text = text
        self._asked = asked
        self._units: list[Unit] = []
        self._style = ""  # that an attribute gives to the next block
        self._attributes = ""
        self._in_table = False
        self._end_of_line = line_end(text)
        self._referred = {match[1] or match[2] for match in _REFERRED.finditer(text)}
        self._values = dict(re.findall(r"^:(idprefix|idseparator):[ \t]*(\S*)", text, re.MULTILINE))

    def document(self) -> Document:
        lines = _lines(self._text, 0, len(self._text))
        if lines[0].text.startswith("\ufeff"):
            lines[0] = lines[0].behind(1)
        self._read(lines)
        self._units.sort(key=lambda unit: unit.start)
        return Document(self._text, self._units)

    def _read(self, lines: _Lines) -> None:
        at = 0
        while at < len(lines):
            at = self._block(lines, at) if lines[at].text else at + 1

    # --- blocks: each says where it ends ---

    def _block(self, lines: _Lines, at: int) -> int:
        line = lines[at]
        text = line.text
        if _BLOCK_ATTRIBUTES.fullmatch(text):
            self._attributes = text
            named = _STYLE.match(text)
            self._style = named[0].strip("[, ") or "source" if named else self._style
            return at + 1
        if _BLOCK_TITLE.match(text):
            self._words("title", [line.behind(1)])
            return at + 1
        if _COMMENT.match(text):
            return at + 1
        style, self._style = self._style, ""
        end = self._delimited(lines, at, style) or self._one_line(lines, at)
        self._attributes = ""
        if end:
            return end
        if _STYLES_AS_WRITTEN.fullmatch(style) or style in _KEEPS_LINES:
            end = _blank(lines, at)
            self._verses(lines[at:end] if style in _KEEPS_LINES else ())
            return end
        return self._item(lines, at) or self._paragraph(lines, at)

    def _delimited(self, lines: _Lines, at: int, style: str) -> int:
        """A block between two lines of marks; 0 if there is none. What is in some is read as the rest."""
        text = lines[at].text
        if _TABLE.fullmatch(text):
            end = _closing(lines, at)
            self._table(lines[at + 1 : end - 1], text)
            return end
        is_delimiter = bool(_DELIMITER.fullmatch(text))
        if is_delimiter and style in _KEEPS_LINES:
            end = _closing(lines, at)
            self._verses(lines[at + 1 : end - 1])
            return end
        if _VERBATIM.fullmatch(text) or (is_delimiter and _STYLES_AS_WRITTEN.fullmatch(style)):
            return _closing(lines, at)
        return at + 1 if is_delimiter else 0

    def _one_line(self, lines: _Lines, at: int) -> int:
        """A title, a macro, an attribute; 0 if it is none of these."""
        line = lines[at]
        if attribute := _ATTRIBUTE.match(line.text):
            end = at + 1
            while lines[end - 1].text.endswith("\\") and end < len(lines):
                end += 1
            if attribute[1] in self._asked.front_matter and end == at + 1:
                self._words("attribute", [line.behind(attribute.end())])
            return end
        if macro := _MACRO.fullmatch(line.text):
            if macro[1] == "image":
                self._description(line, macro)
            return at + 1
        if title := _TITLE.match(line.text):
            self._title(line, title)
            return _end_of_header(lines, at) if title[1] == "=" else at + 1
        if _BREAK.fullmatch(line.text):
            return at + 1
        return self._underlined(lines, at)

    def _description(self, line: _Line, macro: re.Match[str]) -> None:
        alt = _ALT.match(line.text, macro.start(2), macro.end(2))
        kind = alt.lastgroup if alt else None
        if alt and kind:
            start = line.start + alt.start(kind)
            self._add("alt", start, start + len(alt[kind].rstrip()), plain(alt[kind].rstrip()))

    def _title(self, line: _Line, mark: re.Match[str]) -> None:
        """A title; the marks behind it stay."""
        title = line.behind(mark.end())
        closing = f" {mark[1]}"
        if title.text.endswith(closing):
            title = title._replace(text=title.text.removesuffix(closing).rstrip())
        anchor = self._anchor(title.text) if "[[" not in mark[0] else ""
        self._add(
            "title", title.start, title.end, self._inline(title.text), self._before(line, anchor)
        )

    def _underlined(self, lines: _Lines, at: int) -> int:
        """A title with a line of marks below, which is as long; 0 if there is none."""
        title, rule = lines[at], lines[at + 1] if at + 1 < len(lines) else lines[at]
        is_rule = re.fullmatch(r"={2,}|-{2,}|~{2,}|\^{2,}|\+{2,}", rule.text)
        if not is_rule or abs(len(rule.text) - len(title.text)) > 1 or not has_words(title.text):
            return 0
        before = self._before(title, self._anchor(title.text))

        def write(texts: Sequence[str]) -> list[Edit]:
            words = placed(texts[0])
            marks = rule.text[0] * max(len(words), 2)
            return [*before, Edit(title.start, title.end, words), Edit(rule.start, rule.end, marks)]

        self._units.append(Unit("title", title.start, (self._inline(title.text),), write))
        return at + 2

    def _anchor(self, title: str) -> str:
        """The attributes that keep references to a title, if there are any and it has no name of its own."""
        separator = self._values.get("idseparator", "_")
        letters = re.sub(r"[^\w\s.-]", "", title.lower())
        name = re.sub(rf"[\s.{re.escape(separator)}-]+", separator, letters).strip(
            separator or None
        )
        name = self._values.get("idprefix", "_") + name
        is_named = self._attributes.startswith("[[") or "#" in self._attributes
        if is_named or not self._referred & {name, title}:
            return ""
        return f'[#{name},reftext="{title}"]' if title in self._referred else f"[#{name}]"

    def _before(self, line: _Line, attributes: str) -> list[Edit]:
        return [Edit(line.start, line.start, attributes + self._end_of_line)] if attributes else []

    def _item(self, lines: _Lines, at: int) -> int:
        """An item of a list, a term with what describes it, a literal paragraph; 0 if it is none of these."""
        line = lines[at]
        if item := _ITEM.match(line.text):
            task = _TASK.match(line.text, item.end())
            return self._lines_of_item(lines, at, (task or item).end())
        if described := _DESCRIBED.match(line.text):
            if not _OPTIONS.match(described[1]):
                self._words("term", [_Line(line.start + described.start(1), described[1].rstrip())])
            return self._lines_of_item(lines, at, described.end())
        return _blank(lines, at) if line.text[0].isspace() else 0

    def _lines_of_item(self, lines: _Lines, at: int, marks: int) -> int:
        end = at + 1
        while end < len(lines) and not _ends_paragraph(lines[end].text, in_list=True):
            end += 1
        first = lines[at].behind(marks)
        if not first.text.startswith("[[["):  # of a bibliography
            self._words("item", [first, *lines[at + 1 : end]])
        return end

    def _paragraph(self, lines: _Lines, at: int) -> int:
        end = at + 1
        while end < len(lines) and not _ends_paragraph(lines[end].text, in_list=False):
            end += 1
        label = _ADMONITION.match(lines[at].text)
        self._words(
            "paragraph", [lines[at].behind(label.end() if label else 0), *lines[at + 1 : end]]
        )
        return end

    def _table(self, lines: _Lines, mark: str) -> None:
        """The cells between two lines of marks, unless these are in a format that is not read."""
        if "separator=" in self._attributes or not lines:
            return
        if mark[0] == "," or _CSV.search(self._attributes):
            self._rows(lines)
        elif "format=" not in self._attributes:
            self._pages(lines)

    def _pages(self, lines: _Lines) -> None:
        """Cells are read as pages are: it depends on the column what is no plain text in them."""
        start, end = lines[0].start, lines[-1].end
        marks = list(_CELL.finditer(self._text[start:end]))
        ends = [*(mark.start() for mark in marks[1:]), end - start][: len(marks)]
        self._in_table = True
        for mark, behind in zip(marks, ends, strict=True):
            if mark[2] not in ("l", "m", "v"):
                first, *others = _lines(self._text, start + mark.end(), start + behind)
                self._read([_stripped(first), *others])
            self._style = self._attributes = ""
        self._in_table = False

    def _rows(self, lines: _Lines) -> None:
        """The cells of a table with commas between, each row in one line."""
        for line in lines if not any(line.text.count('"') % 2 for line in lines) else ():
            for place, value in values(line.text):
                self._cell(line.start + place, value)

    def _cell(self, start: int, value: str) -> None:
        def write(texts: Sequence[str]) -> list[Edit]:
            return [Edit(start, start + len(value), quoted(placed(texts[0]), value))]

        text = inline(unquoted(value), as_it_is)
        if has_words(text.words):
            self._units.append(Unit("cell", start, (text,), write))

    def _verses(self, lines: _Lines) -> None:
        """Lines that stay lines, with blank ones between."""
        at = 0
        while at < len(lines):
            end = max(_blank(lines, at), at + 1)
            self._words("verse", lines[at:end], keeps_lines=True)
            at = end

    # --- units ---

    def _words(self, name: str, lines: _Lines, keeps_lines: bool = False) -> None:
        """Lines that are one text, but for the breaks that stay."""
        lines = [_stripped(line) for line in lines if line.text.strip()]
        if not lines:
            return
        start, end = lines[0].start, lines[-1].end
        writer = Writer(_escape_cell if self._in_table else as_it_is)
        content = ""
        for line, following in zip(lines, [*lines[1:], None], strict=True):
            words = line.text.removesuffix(" +") if following else line.text
            content += words
            if following and (keeps_lines or words != line.text):
                add_inline(writer, content)
                writer.line_break(self._text[line.start + len(words) : following.start])
                content = ""
            elif following:
                content += " "
        add_inline(writer, content)
        self._add(name, start, end, writer.text())

    def _inline(self, content: str) -> Text:
        return inline(content, _escape_cell if self._in_table else as_it_is)

    def _add(
        self, name: str, start: int, end: int, text: Text, before: Sequence[Edit] = ()
    ) -> None:
        """Add a unit. A paragraph that would begin another block begins with an empty attribute."""
        source = self._text[start]

        def write(texts: Sequence[str]) -> list[Edit]:
            words = placed(texts[0])
            begins_other = name == "paragraph" and words[0] != source and _BEGINS_BLOCK.match(words)
            return [*before, Edit(start, end, f"{{empty}}{words}" if begins_other else words)]

        if any(has_words(leaf.words) for leaf in text.leaves()):
            self._units.append(Unit(name, start, (text,), write))


def _lines(text: str, start: int, end: int) -> list[_Line]:
    """The lines of a part of a text, which begins as a line does."""
    return [
        _Line(start + match.start(), match[0].rstrip()) for match in _LINE.finditer(text[start:end])
    ]


def _stripped(line: _Line) -> _Line:
    return line.behind(len(line.text) - len(line.text.lstrip()))


def _ends_paragraph(text: str, in_list: bool) -> bool:
    """Whether a line is none of the paragraph, or of the item, above it."""
    if not text or text == "+" or _COMMENT.match(text) or _BLOCK_ATTRIBUTES.fullmatch(text):
        return True
    if any(marks.fullmatch(text) for marks in (_VERBATIM, _DELIMITER, _TABLE, _MACRO)):
        return True
    return in_list and bool(_ITEM.match(text) or _DESCRIBED.match(text))


def _closing(lines: _Lines, at: int) -> int:
    """Behind the line that closes the block that a line opens."""
    text = lines[at].text
    mark = (
        text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        if text[0] == "`"
        else text
    )
    end = at + 1
    while end < len(lines) and lines[end].text != mark:
        end += 1
    return min(end + 1, len(lines))


def _end_of_header(lines: _Lines, at: int) -> int:
    """Behind the lines below the title of a page: its authors and revision; attributes are read."""
    end = at + 1
    for _ in range(2):
        text = lines[end].text if end < len(lines) else ""
        if not text or _ATTRIBUTE.match(text) or _COMMENT.match(text):
            break
        end += 1
    return end


def _blank(lines: _Lines, at: int) -> int:
    """The number of the next blank line."""
    while at < len(lines) and lines[at].text:
        at += 1
    return at


def _escape_cell(words: str) -> str:
    return words.replace("|", "\\|")

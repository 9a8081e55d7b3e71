"""reStructuredText by its lines: titles, paragraphs, lists, and what directives have of these.

Literal blocks, comments, targets and directives that are not known here stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from nmt.documents.asked import Asked
from nmt.documents.columns import column_width, quoted, unquoted, values
from nmt.documents.document import Document, Edit, Unit, Write, line_end, with_edits
from nmt.documents.rst_inline import inline, normalized, placed
from nmt.documents.rst_lines import (
    RULE,
    Line,
    Lines,
    blank,
    column,
    cut,
    end_of_literal,
    end_of_table,
    indented,
    lines_of,
    with_first,
)
from nmt.documents.rst_tables import grid_table, simple_table
from nmt.documents.text import Text, has_words, plain

_BULLET = re.compile(r"[-*+•‣⁃](?:\s+|$)")
_NUMBER = re.compile(r"(?:\(?(?:\d{1,9}|[A-Za-z]|[ivxlcdm]{1,9}|[IVXLCDM]{1,9}|#)[.)])(?:\s+|$)")
_FIELD = re.compile(r":(?![: ])((?:[^:\\]|\\.|:(?![\s`]|$)){1,200}?)(?<! ):(?:\s+|$)")
_OPTION = r"(?:--?|/|\+)\w[\w-]{0,60}(?:[ =](?:[A-Za-z][\w-]{0,60}|<[^<>]{1,60}>))?"
_OPTIONS = re.compile(rf"{_OPTION}(?:, {_OPTION}){{0,9}}(?:\s\s+|$)")
_LINE_BLOCK = re.compile(r"\|(?:\s+|$)")
_GRID = re.compile(r"\+-[-+]+-\+")
_SIMPLE_TABLE = re.compile(r"=+(?:\s+=+)+")
_EXPLICIT = re.compile(r"(?:\.\.|__)(?:\s+|$)")
_DIRECTIVE = re.compile(r"\.\.\s+([^\W_]+(?:[-._+:][^\W_]+)*+) ?::(?:\s+|$)")
_FOOTNOTE = re.compile(r"\.\.\s+\[[^\]\s]+\](?:\s+|$)")
_ENTRY = re.compile(r"[^<>]{1,200} <[^<>]{1,200}>")  # of a table of contents
_OTHER_VALUES = {"delim", "quote", "escape", "file", "url"}  # options of tables that are not read
_DOCTEST = re.compile(r">>>(?:\s|$)")
_STARTS = (_BULLET, _NUMBER, _FIELD, _OPTIONS, _LINE_BLOCK, _EXPLICIT, _DOCTEST, _GRID)
_REFERRED = re.compile(
    r"`(?:[^`<>]{1,200}<)?([^`<>]{1,200}?)(?:_>)?`__?(?!\w)|(?<![\w`])([^\W_](?:[\w.:+-]{0,60}[^\W_])?)_(?!\w)"
)
_TARGET = re.compile(r"^\s*\.\. _`?([^`\n]{1,200}?)`?:(?:\s|$)", re.MULTILINE)
_SIMPLE_NAME = re.compile(r"[^\W_]+(?:[-.+_][^\W_]+)*+")
_ATTRIBUTION = re.compile(r"(?:---?(?!-)|—)\s*")
_DEEPEST = 30  # blocks within one another that are read

# Directives, by what is in their first lines and below.
_NOTES = re.compile(
    "note|warning|tip|important|hint|attention|caution|danger|error|seealso|todo|header|footer"
)
_TITLED = re.compile("admonition|topic|sidebar|rubric|centered|contents|(?:list-|csv-|flat-)?table")
_VERSIONS = re.compile("version(?:added|changed|removed)|deprecated")
_WITH_CONTENT = re.compile(
    f"""{_NOTES.pattern}|{_TITLED.pattern}|{_VERSIONS.pattern}
    |figure|container|compound|epigraph|highlights|pull-quote|only|hlist|glossary|class|function|method|attribute
    |data|exception|module|classmethod|staticmethod|property|decorator|describe|object|option|cmdoption|envvar|confval
    """,
    re.VERBOSE,
)
_SHOWN = ("alt", "caption", "synopsis")  # options of directives that readers see
_SHOWN_OF_PAGE = ("description", "keywords")
_CODE_FIELDS = ("type", "rtype", "vartype")


def read(text: str, asked: Asked) -> Document:
    """The texts of a page in reStructuredText."""
    return _Page(text, asked).document()


class _Page:
    def __init__(self, text: str, asked: Asked) -> None:
        self._text = text
        self._asked = asked
        self._units: list[Unit] = []
        self._titles: Counter[str] = Counter()
        self._end_of_line = line_end(text)
        self._referred = _referred_names(text)

    def document(self) -> Document:
        self._body(lines_of(self._text), 0, 0)
        self._units.sort(key=lambda unit: unit.start)
        return Document(self._text, self._units)

    # --- blocks: each takes the lines of a block from a number on, and says where it ends ---

    def _body(self, lines: Lines, base: int, depth: int, terms: bool = True) -> None:
        """Take a block whose lines begin at a column. `terms`: those of definition lists are words."""
        at = 0
        while at < len(lines) and depth < _DEEPEST:
            line = lines[at]
            if not line.text:
                at += 1
            elif line.indent > base:
                end = indented(lines, at, base + 1)
                self._quote(lines[at:end], depth)
                at = end
            else:
                at = self._block(lines, at, base, depth, terms)

    def _block(self, lines: Lines, at: int, base: int, depth: int, terms: bool) -> int:
        text = lines[at].text
        if _BULLET.match(text) or (_NUMBER.match(text) and _is_item(lines, at, base)):
            return self._item(lines, at, depth)
        if _EXPLICIT.match(text):
            return self._explicit(lines, at, base, depth)
        if field := _FIELD.match(text):
            return self._field(lines, at, base, depth, field)
        if option := _OPTIONS.match(text):
            return self._described(lines, at, base, depth, option.end())
        if _LINE_BLOCK.match(text):
            return self._line_block(lines, at, base)
        if _DOCTEST.match(text):
            return blank(lines, at)
        if _GRID.fullmatch(text) or _SIMPLE_TABLE.fullmatch(text):
            return self._table(lines, at, base)
        return self._title(lines, at, depth) or self._paragraph(lines, at, base, depth, terms)

    def _quote(self, lines: Lines, depth: int) -> None:
        last = next(at for at in range(len(lines) - 1, -1, -1) if lines[at].text)
        begin = max((at for at in range(last) if not lines[at].text), default=-1) + 1
        attribution = _ATTRIBUTION.match(lines[begin].text) if begin else None
        if attribution:
            self._words(
                "attribution",
                [lines[begin].behind(attribution.end()), *lines[begin + 1 : last + 1]],
            )
            lines = lines[:begin]
        self._body(lines, column(lines), depth + 1)

    def _item(self, lines: Lines, at: int, depth: int) -> int:
        """An item of a list, whose lines begin in the column of its words."""
        mark = _BULLET.match(lines[at].text) or _NUMBER.match(lines[at].text)
        first = lines[at].behind(mark.end() if mark else 0)
        start = first.indent if first.text else lines[at].indent + 1
        end = indented(lines, at + 1, start)
        content = [first, *lines[at + 1 : end]]
        self._body(content, start if first.text else column(content[1:]), depth + 1)
        return end

    def _described(self, lines: Lines, at: int, base: int, depth: int, marks: int) -> int:
        """What follows a field, an option or a footnote: its other lines begin in a column of their own."""
        end = indented(lines, at + 1, base + 1)
        content = with_first(lines[at].behind(marks), lines[at + 1 : end])
        self._body(content, column(content), depth + 1)
        return end

    def _field(self, lines: Lines, at: int, base: int, depth: int, field: re.Match[str]) -> int:
        name = field[1].partition(" ")[0].lower()
        about_page = depth == 0 and not any(unit.name != "title" for unit in self._units)
        if name in _CODE_FIELDS or (about_page and name not in self._asked.front_matter):
            return indented(lines, at + 1, base + 1)
        return self._described(lines, at, base, depth, field.end())

    def _line_block(self, lines: Lines, at: int, base: int) -> int:
        """Lines that stay lines; what is indented goes on with the line before."""
        while at < len(lines) and (mark := _LINE_BLOCK.match(lines[at].text)):
            end = at + 1
            while end < len(lines) and lines[end].text and lines[end].indent > base:
                end += 1
            self._words("line", [lines[at].behind(mark.end()), *lines[at + 1 : end]])
            at = end
        return at

    def _title(self, lines: Lines, at: int, depth: int) -> int:
        """A title with its rules; 0 if there is none. A rule alone is a transition."""
        text = lines[at].text
        following = [line.text for line in lines[at + 1 : at + 3]] + ["", ""]
        if RULE.fullmatch(text):
            is_over = bool(following[0]) and following[1] == text
            if is_over and depth == 0:
                self._add_title(lines[at + 1], [lines[at], lines[at + 2]])
            if is_over:
                return at + 3
            return at + 1 if len(text) > 3 else 0  # `::` is none
        is_under = RULE.fullmatch(following[0]) and lines[at + 1].indent == lines[at].indent
        if not is_under or len(following[0]) < min(column_width(text), 4):
            return 0
        if depth == 0:
            self._add_title(lines[at], [lines[at + 1]])
        return at + 2

    def _add_title(self, title: Line, rules: Lines) -> None:
        width = title.indent + column_width(title.text)
        name = normalized(title.text.replace("`", ""))
        self._titles[name] += 1
        start = min(title.start, rules[0].start)

        def write(texts: Sequence[str]) -> list[Edit]:
            words = placed(texts[0])
            edits = [Edit(title.start, title.end, words)]
            for rule in rules:
                size = _rule_size(len(rule.text), width, title.indent + column_width(words))
                edits.append(Edit(rule.start, rule.end, rule.text[0] * size))
            if self._referred[name] and self._titles[name] == 1:
                written = name if _SIMPLE_NAME.fullmatch(name) else f"`{name}`"
                target = f".. _{written}:{self._end_of_line * 2}"
                edits.append(Edit(start, start, target))
            return edits

        self._add("title", title.start, inline(title.text, self._referred), write)

    def _paragraph(self, lines: Lines, at: int, base: int, depth: int, terms: bool) -> int:
        """A paragraph, or a term above its definition; then the literal block that `::` announces."""
        end = at + 1
        while end < len(lines) and lines[end].text and lines[end].indent <= base:
            end += 1
        is_above = end < len(lines) and bool(lines[end].text)
        if is_above and end == at + 1:
            if terms and not lines[at].text.endswith("::"):
                self._words("term", [cut(lines[at], " : ")])
            return self._definition(lines, end, base, depth)
        last = lines[end - 1]
        is_literal = last.text.endswith("::")
        is_broken = is_above or any(
            len(line.text) > 3 and RULE.fullmatch(line.text) for line in lines[at:end]
        )
        if not is_broken:
            shown = last._replace(text=last.text.removesuffix("::").rstrip())
            self._words("paragraph", [*lines[at : end - 1], shown])
        return end_of_literal(lines, end, base) if is_literal else end

    def _definition(self, lines: Lines, at: int, base: int, depth: int) -> int:
        end = indented(lines, at, base + 1)
        self._body(lines[at:end], column(lines[at:end]), depth + 1)
        return end

    def _table(self, lines: Lines, at: int, base: int) -> int:
        """A table, whose cells are translated or left together: it is drawn anew around them."""
        is_grid = lines[at].text.startswith("+")
        end = blank(lines, at) if is_grid else end_of_table(lines, at)
        shown = [" " * (line.indent - base) + line.text for line in lines[at:end]]
        table = grid_table(shown) if is_grid else simple_table(shown)
        if table is None:
            return end
        rows = [[self._cell(cell) for cell in row] for row in table.rows()]
        units = [unit for row in rows for cell in row for unit in cell.units]
        start, behind = lines[at].start, lines[end - 1].end
        between = self._end_of_line + " " * base

        def write(texts: Sequence[str]) -> list[Edit]:
            left = iter(texts)
            filled = [[_filled(cell, left) for cell in row] for row in rows]
            return [Edit(start, behind, between.join(table.drawn(filled)))]

        if units:
            texts = tuple(text for unit in units for text in unit.texts)
            self._units.append(Unit("table", start, texts, write))
        return end

    def _cell(self, content: str) -> Document:
        """What a cell has, which is a page of its own."""
        page = _Page(content, self._asked)
        page._body(lines_of(content), 0, 1)
        return Document(content, page._units)

    # --- what begins with two dots ---

    def _explicit(self, lines: Lines, at: int, base: int, depth: int) -> int:
        """A directive or footnote; targets, substitutions and comments stay."""
        text = lines[at].text
        if text == ".." and not (at + 1 < len(lines) and lines[at + 1].text):
            return at + 1
        if footnote := _FOOTNOTE.match(text):
            return self._described(lines, at, base, depth, footnote.end())
        end = indented(lines, at + 1, base + 1)
        if directive := _DIRECTIVE.match(text):
            kind = directive[1].lower().rpartition(":")[2]
            self._directive(kind, lines[at].behind(directive.end()), lines[at + 1 : end], depth)
        return end

    def _directive(self, kind: str, first: Line, others: Lines, depth: int) -> None:
        lines = with_first(first, others)
        behind = blank(lines, 0)
        at = next((at for at in range(behind) if _FIELD.match(lines[at].text)), behind)
        head, options, content = lines[:at], lines[at:behind], lines[behind:]
        self._shown_options(options, _SHOWN_OF_PAGE if kind == "meta" else _SHOWN)
        if kind == "toctree":
            self._contents([*head, *content])
            return
        if _NOTES.fullmatch(kind):
            content = [*head, *content]
        elif _TITLED.fullmatch(kind):
            self._words("title", head)
        elif _VERSIONS.fullmatch(kind) and head:
            version = head[0].text.partition(" ")[0]
            self._words("paragraph", [head[0].behind(len(version)), *head[1:]])
        if kind == "csv-table":
            self._values(options, content)
        elif _WITH_CONTENT.fullmatch(kind):
            self._body(content, column(content), depth + 1, kind != "glossary")

    def _shown_options(self, options: Lines, names: Sequence[str]) -> None:
        """Options that readers see, by their names."""
        for at, line in enumerate(options):
            field = _FIELD.match(line.text)
            if field is None or field[1].partition(" ")[0] not in names:
                continue
            end = next(
                (n for n in range(at + 1, len(options)) if _FIELD.match(options[n].text)),
                len(options),
            )
            self._words(field[1], [line.behind(field.end()), *options[at + 1 : end]])

    def _contents(self, entries: Lines) -> None:
        """The titles of a table of contents."""
        for line in entries:
            if _ENTRY.fullmatch(line.text):
                self._words("title", [cut(line, "<")])

    def _values(self, options: Lines, content: Lines) -> None:
        """The header and the cells of a table of values with commas between, each row in one line."""
        fields = {
            field[1]: line.behind(field.end())
            for line in options
            if (field := _FIELD.match(line.text))
        }
        rows = [*([fields["header"]] if "header" in fields else []), *content]
        if not fields.keys() & _OTHER_VALUES and not any(row.text.count('"') % 2 for row in rows):
            for row in rows:
                for place, value in values(row.text):
                    self._value(row.start + place, value)

    def _value(self, start: int, value: str) -> None:
        def write(texts: Sequence[str]) -> list[Edit]:
            return [Edit(start, start + len(value), quoted(placed(texts[0]), value))]

        self._add("cell", start, inline(unquoted(value), self._referred), write)

    # --- units ---

    def _words(self, name: str, lines: Lines) -> None:
        """Lines that are one text."""
        lines = [line for line in lines if line.text]
        if not lines:
            return
        start, end = lines[0].start, lines[-1].end

        def write(texts: Sequence[str]) -> list[Edit]:
            words = placed(texts[0])
            begins_other = name in ("paragraph", "term") and any(
                mark.match(words) for mark in _STARTS
            )
            return [Edit(start, end, f"\\{words}" if begins_other else words)]

        content = " ".join(line.text for line in lines)
        text = plain(content) if name == "alt" else inline(content, self._referred)
        self._add(name, start, text, write)

    def _add(self, name: str, start: int, text: Text, write: Write) -> None:
        if has_words(text.words):
            self._units.append(Unit(name, start, (text,), write))


def _is_item(lines: Lines, at: int, base: int) -> bool:
    """Whether a number begins an item: the next line is not one of a paragraph."""
    following = lines[at + 1] if at + 1 < len(lines) else None
    if following is None or not following.text or following.indent > base:
        return True
    return bool(_NUMBER.match(following.text))


def _rule_size(size: int, before: int, after: int) -> int:
    """How long the rule of a title becomes: it goes with the title, but a much longer one stays if it can."""
    beyond = max(size - before, 0)
    return max(after + beyond, 4) if beyond <= 2 else max(size, after)


def _referred_names(text: str) -> Counter[str]:
    """The names that references of a page have, without those that targets of it define."""
    defined = {match[1].lower() for match in _TARGET.finditer(text)}
    names = (normalized(match[1] or match[2]) for match in _REFERRED.finditer(text))
    return Counter(name for name in names if name not in defined)


def _filled(cell: Document, texts: Iterator[str]) -> str:
    """A cell with the next of some filled texts."""
    edits = [edit for unit in cell.units for edit in unit.write([next(texts) for _ in unit.texts])]
    return with_edits(cell.text, edits)

"""The shadow of a page in Markdown: the same lines, but blank where they are in another syntax.

Such are modules and components of MDX, blocks of `:::` and `!!!`, and templates and kramdown's attributes in lines of
their own.
"""

import re
from collections.abc import Sequence

_DIRECTIVE = re.compile(
    r"\s*(?::{3,}|!!!|\?\?\?\+?|=== \")|\s*\{%.*%\}\s*$|\s*\{\{[<%].*[>%]\}\}\s*$|\s*\{:[^{}]*\}\s*$"
)
FOOTNOTE = r"\[\^[^\]\s]+\]:"  # what begins one: [^1]:
# What is below is four blanks deeper: of Material for MkDocs, of a footnote, of a definition.
_INDENTS = re.compile(rf"(?:!!!|\?\?\?\+?|=== \"|{FOOTNOTE}|:\s)")
_ESM = re.compile(r"(?:import|export)\s+(?:[\w*{\"']|default\b)")
_JSX = re.compile(r"\s*(?:</?[A-Z>]|\{|</?[a-z]\w*(?:\.\w+)+|<[a-z][\w-]*\s[^<>{}]{0,999}=\{)")
_FENCE = re.compile(r"\s*(?:[-*+>]\s+|\d+[.)]\s+)*(`{3,}|~{3,})")
BRACES = re.compile(r"\{[^{}]*\}")
# Lines, over all components: what is never closed must take no square of time.
_MOST_LOOKED_AT = 20_000
_LONGEST_CODE = 300  # lines of a module or of the tag of a component


class Shadow:
    """Lines without those of other syntaxes; `others` are the runs of these, from a number to before another."""

    def __init__(self, lines: Sequence[str], body: int, is_mdx: bool) -> None:
        """`body` is the number of the first line behind the front matter."""
        self.lines = [*[""] * body, *lines[body:]]
        self.others: list[tuple[int, int]] = []
        self._is_mdx = is_mdx
        self._body = body
        self._may_look_at = _MOST_LOOKED_AT
        fence = ""
        number = body
        while number < len(self.lines):
            line = self.lines[number]
            opens = _FENCE.match(line)
            if fence or opens:
                fence = _fence_after(line, fence, opens)
                number += 1
            else:
                number = self._block(number)

    def _block(self, number: int) -> int:
        """Blank a line of another syntax, with those that belong to it; the number of the next line."""
        line = self.lines[number]
        end = number + 1
        if self._begins_module(number):
            end = self._end_of_code(number, is_module=True)
        elif self._is_mdx and _JSX.match(line):
            end = self._end_of_code(number, is_module=False)
        else:
            _lift(self.lines, number)
            if not _DIRECTIVE.match(line):
                return end
        self.others.append((number, end))
        self.lines[number:end] = [""] * (end - number)
        return end

    def _begins_module(self, number: int) -> bool:
        is_first = number == self._body or not self.lines[number - 1].strip()
        return self._is_mdx and is_first and _ESM.match(self.lines[number]) is not None

    def _end_of_code(self, first: int, is_module: bool) -> int:
        """The line behind a component's tag or a module, whose brackets are closed there."""
        code = ""
        last = min(len(self.lines), first + _LONGEST_CODE, first + self._may_look_at)
        for number in range(first, last):
            self._may_look_at -= 1
            code += self.lines[number] + "\n"
            ends_here = not is_module or not "".join(self.lines[number + 1 : number + 2]).strip()
            if ends_here and _is_closed(code):
                return number + 1
        return first + 1


def _is_closed(code: str) -> bool:
    """Whether all brackets are closed; a > within braces may be an arrow."""
    outside = code
    while (shorter := BRACES.sub("", outside)) != outside:
        outside = shorter
    pairs = (("(", ")"), ("[", "]"), ("<", ">"))
    is_even = all(outside.count(opening) == outside.count(closing) for opening, closing in pairs)
    return is_even and not set("{}") & set(outside)


def _lift(lines: list[str], first: int) -> None:
    """Take four blanks from what is below the head of a block, if that wants it so."""
    head = lines[first].lstrip()
    if not _INDENTS.match(head):
        return
    column = len(lines[first]) - len(head)
    deeper = " " * (column + 4)
    number = first + 1
    while number < len(lines) and (not lines[number].strip() or lines[number].startswith(deeper)):
        lines[number] = lines[number][:column] + lines[number][column + 4 :]
        number += 1


def _fence_after(line: str, fence: str, opens: re.Match[str] | None) -> str:
    """The fence that is open behind a line."""
    if not fence:
        return opens[1] if opens else ""
    bare = line.strip().lstrip(">").strip()
    closes = len(bare) >= len(fence) and set(bare) == {fence[0]}
    return "" if closes else fence

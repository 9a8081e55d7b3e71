"""ICU's MessageFormat: {count, plural, one {# file} other {# files}}; and Java's: {0,choice,0#no files|1#one file}.

A message with plurals or choices becomes one whole sentence for each branch, as FormatJS advises, for a piece of a
sentence cannot be translated. Of plurals, Chinese has `other`, and exact numbers such as `=0`.
https://unicode-org.github.io/icu/userguide/format_parse/messages/
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nmt.documents import placeholders
from nmt.documents.text import Text, Writer

_CHOICE = re.compile(
    r"\{\s*([\w.]+)\s*,\s*(plural|selectordinal|select|choice)\s*,\s*(offset:\s*\d+\s*)?"
)
_SELECTOR = re.compile(r"\s*(=\d+|[\w-]+)\s*\{")
_LIMIT = re.compile(r"\|?\s*(-?(?:\d+(?:\.\d+)?|∞)\s*[#<≤])")  # 1#, of Java's ChoiceFormat
_MOST_BRANCHES = 100
_DEEPEST = 10
_QUOTED = r"' (?: \{ [^']{0,500} | \} [^']{0,500} ) '"


class _NoMessageFormat(Exception):
    """The text is none."""


@dataclass(frozen=True)
class _Choice:
    """An argument with branches."""

    head: str  # as it is written, such as "{count, plural,"
    is_plural: bool
    # Each with what stands before it, such as " one {" or "|1#".
    branches: tuple[tuple[str, "_Parts"], ...]
    closing: str  # what stands behind each


_Parts = tuple["str | _Choice", ...]
# A sentence, or a choice with these as branches.
_Plan = Text | tuple[_Choice, tuple[tuple[str, "_Plan"], ...]]


class Message:
    """A message with choices: a text for each branch that Chinese has."""

    def __init__(self, plan: _Plan) -> None:
        self._plan = plan
        self.texts = tuple(_sentences(plan))

    def written(self, sentences: Sequence[str]) -> str:
        """The message, with the sentences in place of its `texts`."""
        return _written(self._plan, iter(sentences))


def has_choices(message: str) -> bool:
    """Whether a message has plurals or choices, to all appearance."""
    return _CHOICE.search(message) is not None


def read(message: str) -> Message | None:
    """A message that has plurals or choices; None for one that cannot be read, and for any other text."""
    if not has_choices(message):
        return None
    try:
        parts, end = _parse(message, 0, 0)
        if end != len(message):
            return None
        plan = _planned(parts, False, [_MOST_BRANCHES])
    except _NoMessageFormat:
        return None
    return None if isinstance(plan, Text) else Message(plan)


# --- reading ---


def _parse(message: str, start: int, depth: int, ends: str = "}") -> tuple[_Parts, int]:
    """The parts up to one of the characters that end them or the end, and where that is."""
    if depth > _DEEPEST:
        raise _NoMessageFormat
    parts: list[str | _Choice] = []
    written = ""
    at = start
    while at < len(message) and message[at] not in ends:
        quoted = re.compile(_QUOTED, re.VERBOSE).match(message, at)
        choice = _CHOICE.match(message, at)
        if quoted is not None:
            piece, at = quoted[0], quoted.end()
        elif choice is not None:
            found, at = _choice(message, choice, depth)
            parts += [written, found]
            written = piece = ""
        elif message[at] == "{":
            closing = message.find("}", at)
            if closing < 0:
                raise _NoMessageFormat
            piece, at = message[at : closing + 1], closing + 1
        else:
            piece, at = message[at], at + 1
        written += piece
    return (*parts, written), at


def _choice(message: str, head: re.Match[str], depth: int) -> tuple[_Choice, int]:
    has_limits = head[2] == "choice"
    selectors = _LIMIT if has_limits else _SELECTOR
    branches: list[tuple[str, _Parts]] = []
    opening = head[0].rstrip()
    at = head.start() + len(opening)
    while (selector := selectors.match(message, at)) is not None:
        parts, at = _parse(message, selector.end(), depth + 1, "|}" if has_limits else "}")
        if message[at : at + 1] not in ("|", "}"):
            raise _NoMessageFormat
        branches.append((selector[0], parts))
        at += not has_limits
    end = re.compile(r"\s*\}").match(message, at)
    is_complete = has_limits or "other" in (_name(before) for before, _ in branches)
    if end is None or not branches or not is_complete:
        raise _NoMessageFormat
    is_plural = head[2] in ("plural", "selectordinal")
    return _Choice(opening, is_plural, tuple(branches), "" if has_limits else "}"), end.end()


def _name(before: str) -> str:
    """The name of a branch by what stands before it."""
    return before.rstrip("{").strip()


# --- sentences ---


def _planned(parts: _Parts, in_plural: bool, left: list[int]) -> _Plan:
    """Whole sentences: what is around the first choice goes into each of its branches."""
    for place, part in enumerate(parts):
        if isinstance(part, _Choice):
            before, after = parts[:place], parts[place + 1 :]
            branches = []
            for selector, inner in _chinese(part):
                whole = _merged((*before, *inner, *after))
                branches.append((selector, _planned(whole, in_plural or part.is_plural, left)))
            return part, tuple(branches)
    left[0] -= 1
    if left[0] < 0:
        raise _NoMessageFormat
    return _sentence("".join(str(part) for part in parts), in_plural)


def _chinese(choice: _Choice) -> list[tuple[str, _Parts]]:
    """The branches that Chinese has."""
    if not choice.is_plural:
        return list(choice.branches)
    return [
        (before, parts)
        for before, parts in choice.branches
        if _name(before) == "other" or _name(before)[0] == "="
    ]


def _merged(parts: _Parts) -> _Parts:
    """Parts in which texts beside each other are one."""
    merged: list[str | _Choice] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)


_PATTERN = placeholders.message_pattern(_QUOTED, placeholders.BRACES)
_PATTERN_OF_PLURALS = placeholders.message_pattern(_QUOTED, placeholders.BRACES, r"\#")


def _sentence(message: str, in_plural: bool) -> Text:
    """The words of a branch; an apostrophe is doubled in the message."""
    writer = Writer(_escape)
    pattern = _PATTERN_OF_PLURALS if in_plural else _PATTERN
    placeholders.add_message(writer, message.replace("''", "'"), pattern)
    return writer.text()


def _escape(words: str) -> str:
    return words.replace("'", "''").replace("{", "'{'").replace("}", "'}'")


def _sentences(plan: _Plan) -> Iterator[Text]:
    if isinstance(plan, Text):
        yield plan
        return
    for _, branch in plan[1]:
        yield from _sentences(branch)


def _written(plan: _Plan, sentences: Iterator[str]) -> str:
    if isinstance(plan, Text):
        return next(sentences)
    choice, branches = plan
    written = [before + _written(branch, sentences) + choice.closing for before, branch in branches]
    return f"{choice.head}{''.join(written)}}}"

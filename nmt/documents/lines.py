"""Words of a text as lines for a translator, a sentence each, and its translations as words again.

Blanks at the ends of lines, and lines without letters, stay.
"""

import re
from collections.abc import Callable

from nmt.documents.protection import protected
from nmt.documents.sentences import joined, sentences
from nmt.documents.text import Untranslated, difference, has_words, is_nested, without_tags
from nmt.spans.patterns import ESCAPE
from nmt.text.scripts import HAS_HAN

_BREAK_TAG = "<x80000000/>"  # a line break within a pair of tags
# What stands before words and is none: the number of a clause, options in a list of these.
_BEFORE = r"""
    \s*
    (?: \d{1,3} (?: \.\d{1,3} ){1,4} \.? \s+ (?= [A-Z] )
      | (?: --?\w[\w-]{0,40}
            (?: [ =]? (?: [A-Z][A-Z_]{0,40} | <\w[^<>]{0,40}> | \[[^\[\]]{1,40}\] ) ){0,3}
            ,? \s ){1,4} \s+ )?
"""
# What stands behind them: what is shown of a command.
_BEHIND = r"""
    (?: (?<= sage: ) \s (?= .* (?: [\[<] | --\w | %s | \b[A-Z]{4,}\b ) ) .* )? \s*
"""
# What is beside it is a text of its own: Home | News; Saved.\nGo on? But not in "cat a | grep b", "ends with \n on".
_SEPARATOR = re.compile(
    rf"(?<! \s ) \s++ (?P<sign> [|·•»] ) \s++ (?! [a-z] ) | (?<= \S ) {ESCAPE} \s*",
    re.VERBOSE,
)
_EDGES = re.compile(f"({_BEFORE})(.*?)({_BEHIND})", re.DOTALL | re.VERBOSE)

Translate = Callable[[str], str]  # the translation of a sentence; raises Untranslated


def lines_of(words: str) -> list[str]:
    """The sentences that a translator is asked for."""
    found: list[str] = []
    for line in _cut(words):
        _, core, _ = _edges(line)
        for part in _parts(core)[::2]:
            read = [protected(each).line for each in sentences(part)]
            found += [line for line in read if _wants_translation(line)]
    return found


def translated(words: str, translate: Translate) -> str:
    """The words in Chinese. Raises Untranslated if a sentence has no translation with all of its tags."""
    return "\n".join(_line(line, translate) for line in _cut(words)).replace(_BREAK_TAG, "\n")


def _cut(words: str) -> list[str]:
    """The lines of words; those over which a pair of tags goes are one, unless its tags have lines of their own."""
    groups: list[list[str]] = []
    is_open = False
    for line in words.split("\n"):
        if is_open:
            groups[-1].append(line)
        else:
            groups.append([line])
        is_open = not is_nested("\n".join(groups[-1]))
    found: list[str] = []
    for group in groups:
        found += _within(group)
    return found


def _within(group: list[str]) -> list[str]:
    first, last = group[0].strip(), group[-1].strip()
    is_enclosed = len(group) > 2 and f"</{first[1:]}" == last and is_nested("\n".join(group[1:-1]))
    if is_enclosed:
        return [group[0], *_cut("\n".join(group[1:-1])), group[-1]]
    return [_BREAK_TAG.join(group)]


def _line(line: str, translate: Translate) -> str:
    if not has_words(line):
        return line
    before, core, behind = _edges(line)
    parts = _parts(core)
    parts[::2] = [_part(part, translate) for part in parts[::2]]
    return before + "".join(parts) + behind


def _parts(core: str) -> list[str]:
    """A text cut at its separators: text, separator, text …; no pair of tags goes over one.

    The signs of «bonjour », P(A | B) and u · v are none.
    """
    parts: list[str] = []
    end = seen = opened = 0
    for match in _SEPARATOR.finditer(core):
        start = match.start()
        opened += core.count("(", seen, start) - core.count(")", seen, start)
        seen = start
        is_quotation = match["sign"] == "»" and "«" in core
        is_of_letters = _is_letter(core, start - 1) or _is_letter(core, match.end())
        if match["sign"] is None or not (opened > 0 or is_quotation or is_of_letters):
            parts += [core[end:start], match[0]]
            end = match.end()
    parts.append(core[end:])
    return parts if all(map(is_nested, parts)) else [core]


def _is_letter(core: str, at: int) -> bool:
    """Whether a letter without others beside it is at a place."""
    around = core[max(at - 1, 0) : at] + core[at + 1 : at + 2]
    return core[at : at + 1].isalpha() and not any(map(str.isalnum, around))


def _part(part: str, translate: Translate) -> str:
    found = sentences(part)
    chinese = [_sentence(sentence, translate) for sentence in found]
    return part if chinese == found else joined(chinese)


def _edges(line: str) -> tuple[str, str, str]:
    """The sentences of a line, and what stands before and behind them."""
    edges = _EDGES.fullmatch(line)
    if edges is None or not is_nested(edges[2]):
        return "", line, ""
    return edges[1], edges[2], edges[3]


def _wants_translation(line: str) -> bool:
    """Whether there are words in a sentence, and more of them in other scripts than in Chinese."""
    words = without_tags(line)
    return has_words(words) and 2 * len(HAS_HAN.findall(words)) <= sum(map(str.isalpha, words))


def _sentence(sentence: str, translate: Translate) -> str:
    read = protected(sentence)
    if not _wants_translation(read.line):
        return sentence
    translation = translate(read.line).strip()
    chinese = sentence if translation == read.line else read.restored(translation)
    problem = difference(sentence, chinese)
    if problem:
        raise Untranslated(problem)
    return chinese

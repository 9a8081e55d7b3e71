"""The lines of a document through a translator; tags that it misplaces are put around the words where they belong."""

from collections.abc import Callable, Mapping, Sequence

from nmt.corpus.reading.pairs import SentencePair
from nmt.documents.pipeline import Line, Work
from nmt.documents.projection import Link, is_as_marked, projected, without_pairs

Translate = Callable[[Sequence[str]], dict[str, Line]]
Align = Callable[
    [Sequence[SentencePair]], Sequence[Sequence[Link]]
]  # no links for a pair that it cannot read


def translated_lines(work: Work, translate: Translate, align: Align | None) -> dict[str, Line]:
    """The translations of the lines of a document. Without `align`, a line with misplaced tags stays as it comes."""
    of_lines = translate(work.lines())
    if align is not None:
        mark(work, of_lines, translate, align)
    return of_lines


def mark(work: Work, of_lines: dict[str, Line], translate: Translate, align: Align) -> None:
    """Translate lines whose tags came out wrong without them, and put these around the words that they belong to."""
    wrong = work.marked_wrongly(of_lines)
    if not wrong:
        return
    without = translate(plain(wrong))
    mark_again(wrong, of_lines, without, align(pairs_of(without)))


def plain(lines: Sequence[str]) -> list[str]:
    """Lines without their pairs of tags, each once."""
    return list(dict.fromkeys(map(without_pairs, lines)))


def pairs_of(translations: Mapping[str, Line]) -> list[SentencePair]:
    """Lines and their translations."""
    return [SentencePair(source, line.text) for source, line in translations.items()]


def mark_again(
    wrong: Sequence[str],
    of_lines: dict[str, Line],
    without: Mapping[str, Line],
    links: Sequence[Sequence[Link]],
) -> None:
    """Put the tags of lines around the words of their translations `without` tags; `links` are those of `pairs_of`."""
    of_plain = dict(zip(without, links, strict=True))
    for line in wrong:
        words = without_pairs(line)
        marked = projected(line, without[words].text, of_plain[words])
        if marked is not None and is_as_marked(line, marked):
            of_lines[line] = Line(marked, without[words].faults)

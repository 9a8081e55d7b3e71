"""Pairs of tags put around the words of a translation that belong to what they enclose in the source.

The translation is one of the words without the pairs; which words belong together, attention tells. As in Bergamot's
translator, tags follow the words, and the sentence is translated as a whole.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from nmt.documents.text import TAG, without_tags
from nmt.text import jieba_words
from nmt.text.offsets import Range

_OPENED_TOO_EARLY = re.compile(r"((?:<g\d+>)+)([，、；。])")
_FARTHEST = 2  # words beside a pair that are looked at where nothing belongs to its own
_QUOTATION_MARKS = (("“", "”"), ("《", "》"))  # ’ may be an apostrophe
Link = tuple[Range, Range]  # a token of the source, and one of the translation that belongs to it


@dataclass
class _Pair:
    """A pair of tags, what it encloses in the words without pairs, and the pairs within it."""

    number: str
    start: int
    end: int = 0
    inner: list["_Pair"] = field(default_factory=list)


def without_pairs(line: str) -> str:
    """A line without its pairs of tags; single ones stay."""
    return TAG.sub(lambda tag: tag[0] if tag[3] else "", line)


def has_pairs(line: str) -> bool:
    """Whether there are pairs of tags in a line."""
    return "<g" in line and any(tag[3] is None for tag in TAG.finditer(line))


def is_as_marked(line: str, translation: str) -> bool:
    """Whether the pairs of a translation are nested as in the line, and enclose words where they do there."""
    return _outline(line) == _outline(translation)


def _outline(line: str) -> dict[str, tuple[str, bool, list[str]]]:
    """Of each pair, the number of the one around it, whether letters or figures are in it, and its single tags."""
    outline: dict[str, tuple[str, bool, list[str]]] = {}

    def note(pairs: Sequence[_Pair], around: str) -> None:
        for pair in pairs:
            inside = text[pair.start : pair.end]
            singles = sorted(match[3] for match in TAG.finditer(inside))
            is_filled = any(map(str.isalnum, without_tags(inside)))
            outline[pair.number] = (around, is_filled, singles)
            note(pair.inner, pair.number)

    text = without_pairs(line)
    note(_pairs(line), "")
    return outline


def projected(line: str, translation: str, links: Sequence[Link]) -> str | None:
    """The translation with the pairs of the line; None if no word belongs to what one of them encloses.

    `links` are those between `without_pairs(line)` and the translation. The pairs of the line are well nested.
    """
    # Where each opens and closes, how deep it is, its number.
    taken: list[tuple[int, int, int, str]] = []
    by_words = _links_to_words(links, translation)
    words = sorted({target for _, target in by_words})
    if not _place(_pairs(line), by_words, words, translation, 0, taken):
        return None
    inserts: list[tuple[int, int, int, str]] = []
    for start, end, depth, number in taken:
        inserts.append((start, 1, depth, f"<g{number}>"))
        inserts.append((end, 0, -depth, f"</g{number}>"))
    written, at = "", 0
    for place, _, _, tag in sorted(inserts):
        written += translation[at:place] + tag
        at = place
    return written + translation[at:]


def with_marks_in_place(translation: str) -> str:
    """A translation in which no pair begins with a comma or a full stop, or parts quotation marks.

    <g1>，这里</g1> becomes ，<g1>这里</g1>, and “<g1>编辑”>“复制</g1>” <g1>“编辑”>“复制”</g1>.
    """
    translation = _OPENED_TOO_EARLY.sub(r"\2\1", translation)
    for number in [tag[2] for tag in TAG.finditer(translation) if tag[2] and not tag[1]]:
        before, opens, rest = translation.partition(f"<g{number}>")
        inside, closes, behind = rest.partition(f"</g{number}>")
        for opening, closing in _QUOTATION_MARKS:
            lacks_first = closing in inside.partition(opening)[0]
            lacks_last = opening in inside.rpartition(closing)[2]
            if lacks_first and before.endswith(opening):
                before, inside = before[:-1], opening + inside
            if lacks_last and behind.startswith(closing):
                inside, behind = inside + closing, behind[1:]
        translation = before + opens + inside + closes + behind
    return translation


def _links_to_words(links: Sequence[Link], translation: str) -> list[Link]:
    """The links of each token given to the whole word, or words, that it is part of: pairs enclose whole words."""
    tokens = sorted({target for _, target in links})
    borders = set(_borders(translation))
    words: dict[Range, Range] = {}
    group: list[Range] = []
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        group.append(token)
        if following is None or token.end in borders or following.start in borders:
            words.update(dict.fromkeys(group, Range(group[0].start, token.end)))
            group = []
    return [(source, words[target]) for source, target in links]


def _borders(translation: str) -> Iterator[int]:
    """Where words end; the parts of a name, as in 埃莱娜·彼得罗娃, are one."""
    end = 0
    cut = [*jieba_words.cut(translation), ""]
    for word, following in pairwise(cut):
        end += len(word)
        if "·" not in (word, following):
            yield end


def _pairs(line: str) -> list[_Pair]:
    """The outermost pairs of a line, in order, by their places in the line without pairs."""
    outermost: list[_Pair] = []
    opened: list[_Pair] = []
    removed = 0
    for tag in TAG.finditer(line):
        if tag[3]:
            continue
        place = tag.start() - removed
        removed += len(tag[0])
        if tag[1]:
            opened.pop().end = place
            continue
        pair = _Pair(tag[2], place)
        (opened[-1].inner if opened else outermost).append(pair)
        opened.append(pair)
    return outermost


def _place(
    pairs: Sequence[_Pair],
    links: Sequence[Link],
    tokens: Sequence[Range],
    translation: str,
    depth: int,
    taken: list[tuple[int, int, int, str]],
) -> bool:
    """Find the tokens of each pair among those that are free, and within them those of inner pairs."""
    free = list(tokens)
    for pair in sorted(pairs, key=lambda pair: pair.start - pair.end):  # the longest first
        found = _best_run(pair, links, free, translation)
        if found is None:
            return False
        within = [token for token in free if found[0] <= token.start and token.end <= found[1]]
        free = [token for token in free if token not in within]
        taken.append((*found, depth, pair.number))
        if not _place(pair.inner, links, within, translation, depth + 1, taken):
            return False
    return True


def _best_run(
    pair: _Pair, links: Sequence[Link], free: Sequence[Range], translation: str
) -> tuple[int, int] | None:
    """The stretch of free neighbours with the most tokens that belong to the pair, less those that do not.

    Where none belongs to it, those of the words beside it are looked at: attention is often a word off. A stretch
    neither begins nor ends with punctuation.
    """
    marks = {token for token in free if not any(map(str.isalnum, translation[slice(*token)]))}
    runs = list(_runs(free, {target for _, target in links}))
    for reach in range(_FARTHEST + 1):
        own = _own(pair, links, reach) - marks
        best = max((_best_stretch(run, own, marks) for run in runs), default=(0, (0, 0)))
        if best[0] > 0:
            return best[1]
    return None


def _own(pair: _Pair, links: Sequence[Link], reach: int) -> set[Range]:
    """The words of the translation that belong by half to what a pair encloses, or to the next words on either side."""
    sources = sorted({source for source, _ in links})
    inside = [
        place
        for place, source in enumerate(sources)
        if source.start < pair.end and source.end > pair.start
    ]
    behind = [place for place, source in enumerate(sources) if source.start >= pair.end]
    at = inside or behind[:1] or [len(sources)]
    near = set(sources[max(at[0] - reach, 0) : at[-1] + 1 + reach if inside else at[0] + reach])
    every = Counter(target for _, target in links)
    own = Counter(target for source, target in links if source in near)
    return {target for target, count in own.items() if 2 * count >= every[target]}


def _best_stretch(
    run: Sequence[Range], own: set[Range], marks: set[Range]
) -> tuple[int, tuple[int, int]]:
    """The score of the best stretch of neighbours, and where that begins and ends."""
    best = (0, (0, 0))
    start = score = 0
    for number, token in enumerate(run):
        if score <= 0 and token not in marks:
            start, score = number, 0
        score += 1 if token in own else -1
        if score > best[0] and token not in marks:
            best = (score, (run[start].start, token.end))
    return best


def _runs(free: Sequence[Range], every: set[Range]) -> Iterator[list[Range]]:
    """Free tokens without a taken one between them."""
    run: list[Range] = []
    free_tokens = set(free)
    for token in sorted(every):
        if token in free_tokens:
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run

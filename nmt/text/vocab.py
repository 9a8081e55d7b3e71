"""Tokens ↔ ids: PAD 0, UNK 1, BOS 2, EOS 3, then tokens by falling frequency, ties in code-point order.

A word outside the vocabulary can be *spelled*: its characters carry marks for where they stand in the word,
the mixed word/character model of Wu et al. (2016, §4.2), so that a name or a number survives.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import cast

from nmt.errors import ModelError
from nmt.files import read_bytes, write_text
from nmt.text.spans import PLACEHOLDERS

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>")
BEGIN, MIDDLE, END = "<B>", "<M>", "<E>"
_MARKS = (BEGIN, MIDDLE, END)
Counts = Counter[str]
Ranked = list[tuple[str, int]]
# At most this share of a vocabulary is characters that spell; the rest is words.
_SPELLING_SHARE = 0.25
_REMEMBERED = 2**16  # spelled words
_MEMORABLE = 50  # characters of a word that is worth remembering: a stranger's may have millions
_NUMBER = re.compile(r"(?a:\d[\d.,:]*\d)")


class Vocab:
    """The tokens of one language, each with its count in train."""

    def __init__(self, tokens: Sequence[str], counts: Sequence[int]) -> None:
        """`tokens` and `counts` are without the four specials, in the order of the ids that follow them."""
        self.tokens: tuple[str, ...] = (*SPECIALS, *tokens)
        self.counts: tuple[int, ...] = (0,) * len(SPECIALS) + tuple(counts)
        # Text that happens to read "<pad>" is a word like any other, not the special.
        self.ids: dict[str, int] = {token: i for i, token in enumerate(tokens, start=len(SPECIALS))}
        self._rare = lru_cache(_REMEMBERED)(self._spelled)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def spells(self) -> bool:
        """Whether characters with marks are in the vocabulary."""
        return any(is_marked(token) for token in self.tokens)

    @cached_property
    def words(self) -> dict[str, int]:
        """The ids of what a text can hold: text that happens to read "<B>x" is no marked character."""
        return {token: i for token, i in self.ids.items() if not is_marked(token)}

    @cached_property
    def placeholders(self) -> list[int]:
        """The ids of the placeholders of protected spans, in their order; none if it was made without them."""
        return (
            [self.ids[token] for token in PLACEHOLDERS]
            if set(PLACEHOLDERS) <= self.ids.keys()
            else []
        )

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Ids of tokens; a word that is not listed is spelled if the vocabulary spells, else UNK."""
        found = list(map(self.words.get, tokens))
        if None not in found:
            return cast(list[int], found)
        ids: list[int] = []
        for token, index in zip(tokens, found, strict=True):
            spelled = self._rare if len(token) <= _MEMORABLE else self._spelled
            ids += spelled(token) if index is None else (index,)
        return ids

    def _spelled(self, word: str) -> tuple[int, ...]:
        return tuple(map(self._piece_id, spell(word))) if self.spells else (UNK,)

    def _piece_id(self, piece: str) -> int:
        """The id of a character of a spelled word; where it is not listed for this place in a word, for another."""
        variants = (piece, *(mark + piece[-1] for mark in ("", *_MARKS)))
        return next((self.ids[variant] for variant in variants if variant in self.ids), UNK)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tokens of ids, spelled words joined, PAD, BOS and EOS left out."""
        return join_spelled(self.tokens[i] for i in ids if i not in (PAD, BOS, EOS))

    def fingerprint(self) -> str:
        """A hash of the tokens and their order."""
        return hashlib.sha256("\n".join(self.tokens).encode()).hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Write one `token<TAB>count` a line."""
        lines = (
            f"{token}\t{count}\n" for token, count in zip(self.tokens, self.counts, strict=True)
        )
        write_text(path, "".join(lines))

    @classmethod
    def load(cls, path: Path) -> "Vocab":
        """Read what `save` wrote. Raises ModelError naming file and line."""
        counts: dict[str, int] = {}
        specials: list[str] = []
        for number, line in enumerate(_whole_lines(path), start=1):
            token, _, count = line.partition("\t")
            if not (token and count.isascii() and count.isdigit() and len(count) < 20):
                raise _damaged(path, number, "not of the form token<TAB>count")
            if number <= len(SPECIALS):
                specials.append(token)
            elif token in counts:
                raise _damaged(path, number, f"{token!r} is listed above already")
            else:
                counts[token] = int(count)
        if tuple(specials) != SPECIALS:
            raise _damaged(path, 1, f"does not begin with {' '.join(SPECIALS)}, a line each")
        return cls(list(counts), list(counts.values()))


def _whole_lines(path: Path) -> list[str]:
    try:
        *lines, rest = read_bytes(path).decode().split("\n")
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; run nmt build-vocab") from None
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise _damaged(path, number, f"byte {error.start} of the file is not UTF-8") from None
    if rest:
        raise _damaged(path, len(lines) + 1, "the line is cut off")
    return lines


def _damaged(path: Path, line: int, what: str) -> ModelError:
    return ModelError(f"{path}:{line}: {what}; run nmt build-vocab again")


def is_marked(token: str) -> bool:
    """Whether a token is a character of a spelled word."""
    return len(token) == 4 and token.startswith(_MARKS)


def spell(word: str) -> list[str]:
    """A word as marked characters: `Bob` → `<B>B <M>o <E>b`; one character needs no mark."""
    return (
        [BEGIN + word[0], *(MIDDLE + c for c in word[1:-1]), END + word[-1]]
        if len(word) > 1
        else [word]
    )


def join_spelled(tokens: Iterable[str]) -> list[str]:
    """Undo `spell`. A model may break the marks' order; its characters are then joined as far as they go."""
    words: list[str] = []
    spelling = False
    for token in tokens:
        marked = is_marked(token)
        if spelling and marked and not token.startswith(BEGIN):
            words[-1] += token[3]
        else:
            words.append(token[3] if marked else token)
        spelling = marked and not token.startswith(END)
    return words


def rank(counts: Counts, min_frequency: int) -> Ranked:
    """Tokens seen at least `min_frequency` times, by falling count, ties in code-point order."""
    return sorted(
        (item for item in counts.items() if item[1] >= min_frequency),
        key=lambda item: (-item[1], item[0]),
    )


def build_vocab(
    counts: Counts, size: int, min_frequency: int, spells: bool, reserved: Sequence[str] = ()
) -> Vocab:
    """The vocabulary of at most `size` tokens (specials not counted) for token counts; `reserved` have places anyway.

    With `spells`, words that are too rare give their places to the marked characters that spell them, a quarter
    of the places at the most: first a mark for each character, then its other marks. Numbers of two digits or more are
    always spelled, so that all are learned in the same way.
    """
    always = [(token, counts[token]) for token in reserved]
    counts = Counter({token: count for token, count in counts.items() if token not in reserved})
    size = max(0, size - len(always))
    ranked = [
        (token, count) for token, count in rank(counts, min_frequency) if not is_marked(token)
    ]
    if spells:
        ranked = [(token, count) for token, count in ranked if _NUMBER.fullmatch(token) is None]
    words = ranked[:size]
    if spells:
        words = ranked[: size - min(len(_spelling(counts, words)), int(size * _SPELLING_SHARE))]
        words += _spelling(counts, words)[: size - len(words)]
    words = sorted([*words, *always], key=lambda item: (-item[1], item[0]))
    return Vocab([token for token, _ in words], [count for _, count in words])


def _spelling(counts: Counts, words: Ranked) -> Ranked:
    """The characters that spell every word outside `words`: one mark of each, ranked, then the others, ranked."""
    known = {word for word, _ in words}
    characters: Counts = Counter()
    for word, count in counts.items():
        if word not in known:
            for character in spell(word):
                characters[character] += count
    first: Ranked = []
    others: Ranked = []
    covered = set(known)
    for piece, count in rank(characters, 1):
        if piece not in known:
            (others if piece[-1] in covered else first).append((piece, count))
            covered.add(piece[-1])
    return first + others

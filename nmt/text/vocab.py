"""Tokens ↔ ids: PAD 0, UNK 1, BOS 2, EOS 3, then tokens by falling frequency.

Tokens that are equally frequent are in code-point order. A word outside the vocabulary can be
*spelled*: its characters carry marks for their place in the word, the mixed word/character
model of Wu et al. (2016, §4.2), so that a name or a number survives.
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

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>")
BEGIN = "<B>"
MIDDLE = "<M>"
END = "<E>"
_MARKS = (BEGIN, MIDDLE, END)
# Each stands for a protected span while a line is translated. They are of Unicode's private use, so no text has them;
# every tokenizer makes a token of its own of each.
PLACEHOLDERS = tuple(map(chr, range(0xE010, 0xE01A)))
# White space of a masked source where the line itself has none.
JOINT = "\x1f"

Counts = Counter[str]
Ranked = list[tuple[str, int]]  # tokens and their counts

_SPELLING_SHARE = 0.25  # of a vocabulary, at most, is characters that spell; the rest is words
_NUMBER = re.compile(r"(?a:\d[\d.,:]*\d)")
# Spelled words are remembered, but no words of millions of characters, as untrusted text may have.
_REMEMBERED = 2**16  # words
_LONGEST_REMEMBERED = 50  # characters


class Vocab:
    """The tokens of one language, each with its count in train."""

    def __init__(self, tokens: Sequence[str], counts: Sequence[int]) -> None:
        """`tokens` and `counts` are in the order of their ids, without the four specials."""
        self.tokens: tuple[str, ...] = (*SPECIALS, *tokens)
        self.counts: tuple[int, ...] = (0,) * len(SPECIALS) + tuple(counts)
        # Text that happens to read "<pad>" is a word like any other, not the special.
        self.ids: dict[str, int] = {token: i for i, token in enumerate(tokens, start=len(SPECIALS))}
        self._remembered_ids = lru_cache(_REMEMBERED)(self._unlisted_ids)

    def __len__(self) -> int:
        return len(self.tokens)

    def __reduce__(self) -> tuple[type["Vocab"], tuple[Sequence[str], Sequence[int]]]:
        """Pickled, to reach another process, without what it remembers."""
        return Vocab, (self.tokens[len(SPECIALS) :], self.counts[len(SPECIALS) :])

    @cached_property
    def spells(self) -> bool:
        """Whether characters with marks are in the vocabulary."""
        return any(is_marked(token) for token in self.tokens)

    @cached_property
    def words(self) -> dict[str, int]:
        """The ids of what a text can hold: text that reads "<B>x" is not a marked character."""
        return {token: i for token, i in self.ids.items() if not is_marked(token)}

    @cached_property
    def placeholders(self) -> list[int]:
        """The ids of the placeholders of protected spans, in order; none if made without them."""
        if not self.ids.keys() >= set(PLACEHOLDERS):
            return []
        return [self.ids[token] for token in PLACEHOLDERS]

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Ids of tokens; an unlisted word is spelled if the vocabulary spells, else UNK."""
        found = list(map(self.words.get, tokens))
        if None not in found:
            return cast(list[int], found)
        ids: list[int] = []
        for token, index in zip(tokens, found, strict=True):
            if index is not None:
                ids.append(index)
            elif len(token) <= _LONGEST_REMEMBERED:
                ids += self._remembered_ids(token)
            else:
                ids += self._unlisted_ids(token)
        return ids

    def _unlisted_ids(self, word: str) -> tuple[int, ...]:
        if not self.spells:
            return (UNK,)
        return tuple(map(self._character_id, spell(word)))

    def _character_id(self, piece: str) -> int:
        """The id of a character of a spelled word: with its mark, else with any other, else UNK."""
        character = piece[-1]
        variants = (piece, character, BEGIN + character, MIDDLE + character, END + character)
        for variant in variants:
            if variant in self.ids:
                return self.ids[variant]
        return UNK

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tokens of ids, spelled words joined, PAD, BOS and EOS left out."""
        return join_spelled(self.tokens[i] for i in ids if i not in (PAD, BOS, EOS))

    def with_tokens(self, tokens: Sequence[str], counts: Sequence[int]) -> "Vocab":
        """The same vocabulary with more tokens at its end."""
        first = len(SPECIALS)
        return Vocab([*self.tokens[first:], *tokens], [*self.counts[first:], *counts])

    def fingerprint(self) -> str:
        """A hash of the tokens and their order."""
        return hashlib.sha256("\n".join(self.tokens).encode()).hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Write one `token<TAB>count` a line."""
        listed = zip(self.tokens, self.counts, strict=True)
        write_text(path, "".join(f"{token}\t{count}\n" for token, count in listed))

    @classmethod
    def load(cls, path: Path) -> "Vocab":
        """Read what `save` wrote. Raises ModelError naming file and line."""
        specials: list[str] = []
        counts: dict[str, int] = {}
        for number, line in enumerate(_whole_lines(path), start=1):
            token, _, count = line.partition("\t")
            is_count = count.isascii() and count.isdigit() and len(count) < 20
            if not token or not is_count:
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
        text = read_bytes(path).decode()
    except FileNotFoundError:
        raise ModelError(
            f"{path}: missing; restore it from a copy, or run nmt build-vocab"
        ) from None
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise _damaged(path, number, f"byte {error.start} of the file is not UTF-8") from None
    *lines, rest = text.split("\n")
    if rest:
        raise _damaged(path, len(lines) + 1, "the line is cut off")
    return lines


def _damaged(path: Path, line: int, what: str) -> ModelError:
    return ModelError(
        f"{path}:{line}: {what}; restore it from a copy, or run nmt build-vocab again"
    )


# --- spelling ---


def is_marked(token: str) -> bool:
    """Whether a token is a character of a spelled word."""
    return len(token) == 4 and token.startswith(_MARKS)


def spell(word: str) -> list[str]:
    """A word as marked characters: `Bob` → `<B>B <M>o <E>b`; one character needs no mark."""
    if len(word) < 2:
        return [word]
    middle = [MIDDLE + character for character in word[1:-1]]
    return [BEGIN + word[0], *middle, END + word[-1]]


def join_spelled(tokens: Iterable[str]) -> list[str]:
    """Undo `spell`; where a model breaks the order of marks, join as far as they go."""
    words: list[str] = []
    in_word = False
    for token in tokens:
        marked = is_marked(token)
        written = token[3] if marked else token
        if in_word and marked and not token.startswith(BEGIN):
            words[-1] += written
        else:
            words.append(written)
        in_word = marked and not token.startswith(END)
    return words


# --- making a vocabulary ---


def rank(counts: Counts, min_frequency: int) -> Ranked:
    """Tokens seen at least `min_frequency` times, by falling count, ties in code-point order."""
    frequent = [item for item in counts.items() if item[1] >= min_frequency]
    return sorted(frequent, key=_by_rank)


def unlisted(counts: Counts, vocab: Vocab, min_frequency: int) -> list[str]:
    """The words that a vocabulary does not list, by rank; as in `build_vocab`, numbers are left to spelling."""
    words = [word for word, _ in rank(counts, min_frequency) if word not in vocab.words]
    return [word for word in words if not (is_marked(word) or _NUMBER.fullmatch(word))]


def _by_rank(item: tuple[str, int]) -> tuple[int, str]:
    token, count = item
    return -count, token


def build_vocab(
    counts: Counts, size: int, min_frequency: int, spells: bool, reserved: Sequence[str] = ()
) -> Vocab:
    """The vocabulary of at most `size` tokens for token counts; specials are not counted.

    Each of `reserved` has a place in any case, whatever its count.

    With `spells`, words that are too rare give their places to the marked characters that spell
    them, a quarter of the places at the most: first a mark for each character, then its other
    marks. Numbers of two digits or more are always spelled, so that all are learned in the same
    way.
    """
    free_counts = counts.copy()
    for token in reserved:
        del free_counts[token]
    free_places = max(0, size - len(reserved))
    words = [item for item in rank(free_counts, min_frequency) if not is_marked(item[0])]
    if spells:
        words = [item for item in words if _NUMBER.fullmatch(item[0]) is None]
        listed = _with_spelling(free_counts, words, free_places)
    else:
        listed = words[:free_places]
    listed += [(token, counts[token]) for token in reserved]
    listed.sort(key=_by_rank)
    return Vocab([token for token, _ in listed], [count for _, count in listed])


def _with_spelling(counts: Counts, words: Ranked, places: int) -> Ranked:
    """The first of the words, and in the other places characters that spell the rest."""
    wanted = len(_spelling(counts, words[:places]))
    most = int(places * _SPELLING_SHARE)
    listed = words[: places - min(wanted, most)]
    characters = _spelling(counts, listed)
    return listed + characters[: places - len(listed)]


def _spelling(counts: Counts, words: Ranked) -> Ranked:
    """The marked characters that spell every word outside `words`, with their counts.

    First one mark of each character, ranked, then the others, ranked.
    """
    known = {word for word, _ in words}
    characters: Counts = Counter()
    for word, count in counts.items():
        if word in known:
            continue
        for character in spell(word):
            characters[character] += count
    first_marks: Ranked = []
    other_marks: Ranked = []
    covered = set(known)  # characters that are words or have one mark already
    for piece, count in rank(characters, 1):
        if piece in known:
            continue
        if piece[-1] in covered:
            other_marks.append((piece, count))
        else:
            first_marks.append((piece, count))
            covered.add(piece[-1])
    return first_marks + other_marks

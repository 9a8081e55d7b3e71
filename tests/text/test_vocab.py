import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from nmt.errors import ModelError
from nmt.text.vocab import (
    BOS,
    EOS,
    PAD,
    SPECIALS,
    UNK,
    Vocab,
    build_vocab,
    is_marked,
    join_spelled,
    rank,
    spell,
)

# What tokenizers give: not empty, no white space; marks and specials may stand in the text itself.
WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=8),
    st.text("ab茶", min_size=1, max_size=4),
    st.sampled_from(
        [
            "<B>x",
            "<M>x",
            "<E>茶",
            "<B>",
            "<pad>",
            "<unk>",
            "<eos>",
            "▁",
            "👨\u200d👩\u200d👧",
            "e\u0301",
        ]
    ),
)
COUNTS = st.dictionaries(WORDS, st.integers(1, 9), max_size=20).map(Counter)


def built(
    counts: dict[str, int], size: int = 100, min_frequency: int = 1, spells: bool = False
) -> list[str]:
    return list(build_vocab(Counter(counts), size, min_frequency, spells).tokens[4:])


# --- ranks ---


def test_the_specials_come_first() -> None:
    vocab = build_vocab(Counter("aab"), 10, 1, spells=False)
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert vocab.tokens == ("<pad>", "<unk>", "<bos>", "<eos>", "a", "b")
    assert vocab.counts == (0, 0, 0, 0, 2, 1)
    assert len(vocab) == 6


@pytest.mark.parametrize(
    ("size", "min_frequency", "expected"),
    [
        (100, 1, ["的", "B", "a", "b", "茶", "😀", "z"]),
        (3, 1, ["的", "B", "a"]),
        (100, 2, ["的", "B", "a", "b", "茶", "😀"]),
        (100, 3, ["的"]),
        (100, 9, []),
    ],
)
def test_tokens_rank_by_falling_frequency_and_ties_by_code_point(
    size: int, min_frequency: int, expected: list[str]
) -> None:
    counts = {"z": 1, "😀": 2, "茶": 2, "b": 2, "a": 2, "B": 2, "的": 5}
    assert built(counts, size, min_frequency) == expected


@given(COUNTS, st.integers(1, 5))
def test_the_rank_is_that_of_the_sorted_counts(counts: Counter[str], min_frequency: int) -> None:
    ranked = rank(counts, min_frequency)
    assert dict(ranked) == {token: n for token, n in counts.items() if n >= min_frequency}
    for (token, count), (later, fewer) in pairwise(ranked):
        assert count > fewer or (count == fewer and token < later)


@given(COUNTS, st.integers(1, 30), st.integers(1, 5), st.booleans())
def test_a_vocabulary_is_as_large_as_asked_at_most_and_lists_each_token_once(
    counts: Counter[str], size: int, least: int, spells: bool
) -> None:
    vocab = build_vocab(counts, size, least, spells)
    listed = vocab.tokens[4:]
    assert len(listed) == len(set(listed)) <= size
    rare = [token for token, n in zip(listed, vocab.counts[4:], strict=True) if n < least]
    assert all(spells and (is_marked(token) or len(token) == 1) for token in rare)
    pairs = list(zip(vocab.counts[4:], listed, strict=True))
    assert pairs == sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


@given(COUNTS, st.integers(1, 30), st.integers(1, 5), st.booleans())
def test_the_order_in_which_tokens_were_counted_does_not_matter(
    counts: Counter[str], size: int, least: int, spells: bool
) -> None:
    backwards = Counter(dict(reversed(counts.items())))
    one, other = (build_vocab(c, size, least, spells) for c in (counts, backwards))
    assert (one.tokens, one.counts) == (other.tokens, other.counts)


# --- words and ids ---


@given(COUNTS, st.integers(1, 30), st.integers(1, 4), st.booleans())
def test_a_known_word_is_one_id_and_comes_back_and_is_never_unknown(
    counts: Counter[str], size: int, least: int, spells: bool
) -> None:
    vocab = build_vocab(counts, size, least, spells)
    for word in counts:
        if word in vocab.words:
            assert vocab.encode([word]) == [vocab.tokens.index(word, 4)]
            assert vocab.decode(vocab.encode([word])) == [word]


@given(COUNTS)
def test_when_all_words_have_places_every_sentence_of_them_comes_back(counts: Counter[str]) -> None:
    vocab = build_vocab(counts, 10_000, 1, spells=True)
    sentence = list(counts)
    assert vocab.decode(vocab.encode(sentence)) == sentence


@given(COUNTS, st.lists(WORDS), st.booleans())
def test_no_text_is_read_as_a_special_or_as_a_marked_character(
    counts: Counter[str], sentence: list[str], spells: bool
) -> None:
    """Not even text that reads "<pad>" or "<B>x"."""
    vocab = build_vocab(counts, 20, 1, spells)
    for word in sentence:
        ids = vocab.encode([word])
        assert not {PAD, BOS, EOS} & set(ids)
        if len(ids) == 1 and is_marked(vocab.tokens[ids[0]]):
            assert vocab.tokens[ids[0]][-1] == word, "a character, spelled with what mark there is"


@given(COUNTS, st.lists(WORDS))
def test_without_spelling_a_word_is_one_id_known_or_not(
    counts: Counter[str], sentence: list[str]
) -> None:
    vocab = build_vocab(counts, 5, 1, spells=False)
    assert len(vocab.encode(sentence)) == len(sentence)
    for word, index in zip(sentence, vocab.encode(sentence), strict=True):
        assert vocab.tokens[index] == (word if word in vocab.words else "<unk>")


def test_padding_and_marks_of_begin_and_end_are_not_read_out() -> None:
    vocab = Vocab(["tea"], [1])
    assert vocab.decode([BOS, 4, UNK, EOS, PAD, PAD]) == ["tea", "<unk>"]


# --- spelling ---


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("Bob", ["<B>B", "<M>o", "<E>b"]),
        ("go", ["<B>g", "<E>o"]),
        ("茶", ["茶"]),
        ("<B>x", ["<B><", "<M>B", "<M>>", "<E>x"]),
        ("<<>>", ["<B><", "<M><", "<M>>", "<E>>"]),
    ],
)
def test_a_word_is_spelled_by_characters_that_know_their_place(
    word: str, pieces: list[str]
) -> None:
    assert spell(word) == pieces
    assert join_spelled(pieces) == [word]


@given(st.lists(WORDS.filter(lambda word: not is_marked(word))))
def test_spelled_words_join_to_themselves_in_any_company(words: list[str]) -> None:
    mixed = [piece for i, word in enumerate(words) for piece in (spell(word) if i % 2 else [word])]
    assert join_spelled(mixed) == words


@given(WORDS)
def test_every_piece_of_a_spelled_word_is_marked(word: str) -> None:
    assert all(map(is_marked, spell(word))) == (len(word) > 1 or is_marked(word))


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["<M>a"], ["a"]),
        (["<E>a"], ["a"]),
        (["<B>a"], ["a"]),
        (["<E>a", "<E>b"], ["a", "b"]),
        (["<B>a", "<B>b", "<E>c"], ["a", "bc"]),
        (["<B>a", "cat", "<E>b"], ["a", "cat", "b"]),
        (["<M>a", "<M>b", "<E>c", "<M>d"], ["abc", "d"]),
        (["cat", "<E>s"], ["cat", "s"]),
        (["<B>a", "<unk>", "<M>b"], ["a", "<unk>", "b"]),
        ([], []),
    ],
)
def test_broken_marks_join_as_far_as_they_go(tokens: list[str], words: list[str]) -> None:
    assert join_spelled(tokens) == words


@given(st.lists(st.sampled_from(["<B>a", "<M>b", "<E>c", "<B>茶", "cat", "<unk>", "<B>"])))
def test_no_order_of_marks_loses_a_character(tokens: list[str]) -> None:
    bare = [token[3:] if is_marked(token) else token for token in tokens]
    joined = join_spelled(tokens)
    assert "".join(joined) == "".join(bare)
    assert not any(map(is_marked, joined))


def test_rare_words_give_their_places_to_the_characters_that_spell_them() -> None:
    """Of 12 places a quarter spells: nine words stay, and the three likeliest characters of the others."""
    counts = {**{f"w{i}": 100 for i in range(9)}, "abc": 5, "abd": 4, "abe": 3, "xyz": 1}
    vocab = build_vocab(Counter(counts), 12, 1, spells=True)
    marked = {
        token: n for token, n in zip(vocab.tokens, vocab.counts, strict=True) if is_marked(token)
    }
    assert marked == {"<B>a": 12, "<M>b": 12, "<E>c": 5}
    assert len(vocab) == 4 + 12
    assert vocab.decode(vocab.encode(["abc", "w3", "abd"])) == ["abc", "w3", "ab", "<unk>"]


def test_every_character_gets_one_mark_before_any_gets_two() -> None:
    counts = {"w0": 99, "w1": 98, "w2": 97, "ab": 9, "ba": 8, "cd": 1}
    vocab = build_vocab(Counter(counts), 6, 2, spells=True)
    assert vocab.tokens[4:] == ("w0", "w1", "w2", "ab", "ba", "<B>c")
    vocab = build_vocab(Counter(counts), 16, 10, spells=True)
    assert vocab.tokens[4:] == ("w0", "w1", "w2", "<B>a", "<E>b", "<B>b", "<E>a", "<B>c", "<E>d")


def test_a_character_that_is_not_listed_for_its_place_is_spelled_with_another_mark() -> None:
    vocab = Vocab(["<B>a", "<M>b", "茶"], [3, 2, 1])
    assert [vocab.tokens[i] for i in vocab.encode(["ba", "喝茶"])] == [
        "<M>b",
        "<B>a",
        "<unk>",
        "茶",
    ]
    assert "".join(vocab.decode(vocab.encode(["bab"]))) == "bab"


def test_min_frequency_is_for_words_and_rarer_ones_are_spelled() -> None:
    counts = {"abc": 2, "abd": 1, "tea": 9}
    vocab = build_vocab(Counter(counts), 100, 3, spells=True)
    assert vocab.tokens[4:] == ("tea", "<B>a", "<M>b", "<E>c", "<E>d")


def test_every_number_of_two_digits_or_more_is_spelled_however_frequent() -> None:
    counts = Counter({"7": 90, "1999": 80, "10:30": 70, "3am": 60, "years": 50})
    vocab = build_vocab(counts, 100, 1, spells=True)
    assert {"7", "3am", "years"} <= vocab.words.keys()
    assert not {"1999", "10:30"} & vocab.words.keys()
    assert vocab.decode(vocab.encode(["1999", "10:30", "1990"])) == ["1999", "10:30", "1990"]
    assert "1999" in build_vocab(counts, 100, 1, spells=False).words


def test_where_every_word_has_a_place_none_is_spelled() -> None:
    """A character that training never shows would mean nothing to the model."""
    vocab = build_vocab(Counter({"tea": 2, "cat": 1}), 100, 1, spells=True)
    assert vocab.tokens[4:] == ("tea", "cat")
    assert not vocab.spells


@given(COUNTS, st.integers(4, 40))
def test_words_that_spell_whole_come_back_whole(counts: Counter[str], size: int) -> None:
    vocab = build_vocab(counts, size, 1, spells=True)
    for word in counts:
        ids = vocab.encode([word])
        if UNK not in ids:
            assert "".join(vocab.decode(ids)) == word
        if word in vocab.words or all(piece in vocab.ids for piece in spell(word)):
            assert vocab.decode(ids) == [word]


@given(COUNTS, st.integers(1, 60))
@example(Counter({"00": 1}), 1)
def test_spelling_takes_a_quarter_of_the_places_at_most_unless_words_leave_them_free(
    counts: Counter[str], size: int
) -> None:
    vocab = build_vocab(counts, size, 1, spells=True)
    marked = sum(map(is_marked, vocab.tokens))
    words = Counter(
        {word: n for word, n in counts.items() if not re.fullmatch(r"[0-9][0-9.,:]*[0-9]", word)}
    )
    words_before = len(built(words, size))  # numbers are spelled in any case
    assume(marked)
    assert marked <= max(size // 4, size - words_before)


# --- on disk ---


@given(COUNTS, st.booleans())
@example(Counter({"<unk>": 2, "<pad>": 1}), False)
@settings(max_examples=30)  # each is synced to the disk
def test_a_saved_vocabulary_is_loaded_as_it_was(counts: Counter[str], spells: bool) -> None:
    vocab = build_vocab(counts, 12, 1, spells)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.tsv"
        vocab.save(path)
        loaded = Vocab.load(path)
    assert (loaded.tokens, loaded.counts, loaded.ids) == (vocab.tokens, vocab.counts, vocab.ids)
    assert loaded.fingerprint() == vocab.fingerprint()


def test_the_file_is_a_token_a_tab_and_a_count_a_line(tmp_path: Path) -> None:
    Vocab(["茶", "tea"], [2, 1]).save(tmp_path / "v.tsv")
    text = (tmp_path / "v.tsv").read_bytes()
    assert text == "<pad>\t0\n<unk>\t0\n<bos>\t0\n<eos>\t0\n茶\t2\ntea\t1\n".encode()


HEAD = "".join(f"{token}\t0\n" for token in SPECIALS).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (HEAD + b"tea\t1\ntea\t2\n", r"v\.tsv:6: 'tea' is listed above already"),
        (HEAD + b"tea\t1\ncat\n", r"v\.tsv:6: not of the form token<TAB>count"),
        (HEAD + b"tea\t1\tx\n", r"v\.tsv:5: not of the form"),
        (HEAD + b"\t1\n", r"v\.tsv:5: not of the form"),
        (HEAD + b"tea\t-1\n", r"v\.tsv:5: not of the form"),
        (HEAD + b"tea\t1.5\n", r"v\.tsv:5: not of the form"),
        (HEAD + "tea\t١\n".encode(), r"v\.tsv:5: not of the form"),
        (HEAD + b"\ntea\t1\n", r"v\.tsv:5: not of the form"),
        (HEAD + b"tea\t12", r"v\.tsv:5: the line is cut off"),
        (HEAD + b"tea\t1\n\xff\t1\n", r"v\.tsv:6: byte 38 of the file is not UTF-8"),
        (
            b"<pad>\t0\n<unk>\t0\ntea\t1\ncat\t1\n",
            r"v\.tsv:1: does not begin with <pad> <unk> <bos> <eos>",
        ),
        (HEAD[:16], r"v\.tsv:1: does not begin with"),
        (b"", r"v\.tsv:1: does not begin with"),
    ],
)
def test_a_damaged_file_is_named_with_its_line_and_the_fix(
    data: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "v.tsv"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=message + ".*, or run nmt build-vocab again"):
        Vocab.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"v\.tsv: missing; restore it from a copy, or run nmt build-vocab"
    ):
        Vocab.load(tmp_path / "v.tsv")


@given(COUNTS, COUNTS)
def test_fingerprints_are_equal_just_where_the_tokens_are(
    one: Counter[str], other: Counter[str]
) -> None:
    a, b = (build_vocab(counts, 100, 1, spells=False) for counts in (one, other))
    assert (a.fingerprint() == b.fingerprint()) == (a.tokens == b.tokens)

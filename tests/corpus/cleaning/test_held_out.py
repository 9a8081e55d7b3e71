from random import Random

from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.cleaning.held_out import HeldOutDraw
from nmt.run.folder import Split

Entry = tuple[int, int, int]  # the keys of a pair, of its source and of its target
ENTRIES = st.lists(
    st.tuples(st.integers(0, 999), st.integers(0, 30), st.integers(100, 130)),
    unique_by=lambda entry: entry[0],
    max_size=80,
)
SIZES: st.SearchStrategy[dict[Split, int]] = st.fixed_dictionaries(
    {"test": st.integers(0, 3), "dev": st.integers(0, 3)}
)


def draw(entries: list[Entry], sizes: dict[Split, int]) -> dict[int, tuple[str, int, int]]:
    held_out = HeldOutDraw(sizes)
    for entry in entries:
        held_out.enter(*entry)
    return {key: tuple(pair) for key, pair in held_out.drawn(len(set(entries))).items()}


@given(ENTRIES, SIZES)
def test_no_sentence_is_drawn_twice_and_no_split_gets_more_than_a_tenth(
    entries: list[Entry], sizes: dict[Split, int]
) -> None:
    drawn = draw(entries, sizes)
    sentences = [key for pair in drawn.values() for key in pair[1:]]
    assert len(set(sentences)) == len(sentences) == 2 * len(drawn)
    assert {(key, *pair[1:]) for key, pair in drawn.items()} <= set(entries)
    for split, size in sizes.items():
        count = sum(pair[0] == split for pair in drawn.values())
        assert count <= min(size, len(entries) // 10)


@given(ENTRIES, SIZES, st.randoms(use_true_random=False))
def test_the_order_in_which_pairs_enter_does_not_matter(
    entries: list[Entry], sizes: dict[Split, int], chance: Random
) -> None:
    shuffled = chance.sample(entries, len(entries))
    assert draw(shuffled, sizes) == draw(entries, sizes)


@given(ENTRIES, SIZES, st.randoms(use_true_random=False))
def test_a_pair_that_comes_again_changes_nothing(
    entries: list[Entry], sizes: dict[Split, int], chance: Random
) -> None:
    again = entries + chance.choices(entries, k=20) if entries else []
    chance.shuffle(again)
    assert draw(again, sizes) == draw(entries, sizes)


def test_the_smallest_keys_are_drawn_the_first_split_first() -> None:
    entries = [(key, key, key + 100) for key in reversed(range(40))]
    assert draw(entries, {"test": 2, "dev": 1}) == {
        0: ("test", 0, 100),
        1: ("test", 1, 101),
        2: ("dev", 2, 102),
    }

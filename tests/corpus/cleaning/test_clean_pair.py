from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.cleaning.augment import Variant
from nmt.corpus.cleaning.clean_pair import CleanPair, from_line, head_of, to_line

KEY = st.integers(0, 2**60 - 1)
# A sentence is normalised: without tabs, line feeds and carriage returns.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"))
VARIANT = st.builds(Variant, st.sampled_from(["upper", "joined"]), TEXT, TEXT)
PAIR = st.builds(
    CleanPair, st.integers(0, 99), KEY, KEY, KEY, TEXT, TEXT, TEXT, st.lists(VARIANT, max_size=3)
)


@given(PAIR)
def test_a_line_is_read_as_the_pair_that_was_written(pair: CleanPair) -> None:
    line = to_line(pair)
    assert from_line(line) == pair
    assert head_of(line) == pair[:4]
    assert "\n" not in line


def test_a_line_has_a_column_for_each_field_and_three_for_each_variant() -> None:
    pair = CleanPair(2, 7, 8, 9, "Go.", "走。", "走.", [Variant("upper", "GO.", "走。")])
    assert to_line(pair) == "2\t7\t8\t9\tGo.\t走。\t走.\tupper\tGO.\t走。"

"""Where two lines differ, character by character."""

from hypothesis import given
from hypothesis import strategies as st

from nmt.report.systems.differences import Piece, pieces

TEXT = st.text("天地人和 ab", max_size=30)


def common_length(one: str, other: str) -> int:
    """The length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(other) + 1)
    for a in one:
        before = row
        row = [0]
        for j, b in enumerate(other):
            row.append(before[j] + 1 if a == b else max(before[j + 1], row[j]))
    return row[-1]


@given(TEXT, TEXT)
def test_the_pieces_are_the_line(line: str, reference: str) -> None:
    found = pieces(line, reference)
    assert "".join(piece.text for piece in found if piece.kind != "left out") == line
    same = [piece.text for piece in found if piece.kind == "same"]
    assert sum(map(len, same)) == common_length(line, reference)
    letters = iter(reference)
    assert all(character in letters for character in "".join(same)), "in the reference's order"


def test_pieces_name_what_is_other_and_what_is_left_out() -> None:
    assert pieces("我爱喝茶。", "我每天喝热茶。") == [
        Piece("same", "我"),
        Piece("other", "爱"),
        Piece("same", "喝"),
        Piece("left out", "热"),
        Piece("same", "茶。"),
    ]


def test_white_space_alone_is_not_said_to_be_left_out() -> None:
    assert pieces("800公里", "800 公里") == [Piece("same", "800公里")]


def test_equal_lines_and_empty_ones() -> None:
    assert pieces("一样", "一样") == [Piece("same", "一样")]
    assert pieces("", "有") == [Piece("left out", "有")]
    assert pieces("有", "") == [Piece("other", "有")]
    assert pieces("", "") == []


def test_a_line_without_end_is_compared_at_its_ends() -> None:
    found = pieces("头" + "甲" * 9000 + "尾", "头" + "乙" * 9000 + "尾")
    assert [piece.kind for piece in found] == ["same", "other", "same"]

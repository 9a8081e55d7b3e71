import pytest

from nmt.errors import DataError
from nmt.evaluate.groups import Group, group


def test_lines_are_gathered_by_label_in_the_order_of_labels() -> None:
    labels = ["news", " 谈话", "news ", "谈话", "law"]
    assert group("by", labels) == [
        Group("news", [0, 2]),
        Group("谈话", [1, 3]),
        Group("law", [4]),
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["news", " "], "by:2: has no label; give each line one, such as news"),
        (["news\t1"], "by:1: .* has tabs or control characters; give one label a line"),
        (["a", "\x1b[2J"], "by:2: .* has tabs or control characters"),
        ([str(number) for number in range(200)], "by:101: more than 100 labels; give labels that"),
    ],
)
def test_what_is_no_label_is_named(labels: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        group("by", labels)

import pytest

from nmt.translate.short_lines import known_line


@pytest.mark.parametrize(
    ("line", "chinese"),
    [
        ("Mon Tue Wed Thu Fri Sat Sun", "周一 周二 周三 周四 周五 周六 周日"),
        ("Mon-Fri", "周一至周五"),
        ("Sat, Sun:", "周六、周日："),
        ("JAN FEB MAR", "1月 2月 3月"),
        ("March | May | August", "3月 | 5月 | 8月"),
        ("Sept.", "9月"),
        ("Tuesday", "周二"),
        (" qty ", "数量"),
        ("Qty.:", "数量："),
        ("N/A", "不适用"),
        ("id", "ID"),
        ("No. 7", "7号"),
        ("e.g.", "例如"),
    ],
)
def test_a_table_knows(line: str, chinese: str) -> None:
    assert known_line(line) == chinese


@pytest.mark.parametrize(
    "line",
    ["", " ", "Sun", "May", "march", "Mon ami", "qty of milk", "Mon, 3 May", "-", ":", "idea"],
)
def test_a_model_has_to_translate(line: str) -> None:
    assert known_line(line) is None

"""Pairs of tags are put around the words that belong to what they enclose."""

import pytest

from nmt.documents.projection import projected, with_marks_in_place
from nmt.text.offsets import Range


def linked(source: str, translation: str, words: dict[str, str]) -> list[tuple[Range, Range]]:
    """Links between pieces of words, each of which occurs once."""
    return [
        (_range(source, english), _range(translation, chinese))
        for chinese, english in words.items()
    ]


def _range(line: str, words: str) -> Range:
    start = line.index(words)
    return Range(start, start + len(words))


def test_a_pair_is_around_the_words_that_belong_to_it() -> None:
    links = linked(
        "Open the file now", "现在打开文件", {"现在": "now", "打开": "Open", "文件": "file"}
    )
    assert projected("Open <g1>the file</g1> now", "现在打开文件", links) == "现在打开<g1>文件</g1>"


def test_a_pair_does_not_end_within_a_word() -> None:
    source, translation = "Do not stir it", "请勿搅拌它"
    links = linked(source, translation, {"请勿": "not", "搅": "Do", "拌": "stir", "它": "it"})
    assert projected("<g1>Do not</g1> stir it", translation, links) == "<g1>请勿搅拌</g1>它"


def test_the_parts_of_a_name_are_one_word() -> None:
    source, translation = "Ms Elena Petrova rents", "埃莱娜·彼得罗娃女士租房"
    links = linked(
        source,
        translation,
        {
            "埃": "rents",
            "莱娜": "Elena",
            "·": "Elena",
            "彼得": "Petrova",
            "罗娃": "Petrova",
            "女士": "Ms",
            "租房": "rents",
        },
    )
    expected = "<g1>埃莱娜·彼得罗娃女士</g1>租房"
    assert projected("<g1>Ms Elena Petrova</g1> rents", translation, links) == expected


@pytest.mark.parametrize(
    ("translation", "whole"),
    [
        ("选择“<g1>编辑”>“复制</g1>”。", "选择<g1>“编辑”>“复制”</g1>。"),
        ("点击“<g1>文件”>“另存为”……</g1>", "点击<g1>“文件”>“另存为”……</g1>"),
        ("<g2>“<g1>编辑”>“复制</g1>”</g2>", "<g2><g1>“编辑”>“复制”</g1></g2>"),
        ("看<g1><g2>，站点</g2></g1>。", "看，<g1><g2>站点</g2></g1>。"),
        ("“<g1>编辑</g1>”>“<x3/>”", "“<g1>编辑</g1>”>“<x3/>”"),
        ("“<g1>他的</g1>书《<g2>茶》</g2>”", "“<g1>他的</g1>书<g2>《茶》</g2>”"),
    ],
)
def test_a_pair_neither_begins_with_a_comma_nor_parts_quotation_marks(
    translation: str, whole: str
) -> None:
    assert with_marks_in_place(translation) == whole

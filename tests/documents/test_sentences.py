"""The sentences of a text that a translator is asked for, and their translations as words again."""

import time

import pytest

from nmt.documents.lines import lines_of, translated
from nmt.documents.protection import protected


@pytest.mark.parametrize(
    ("sentence", "line", "chinese", "restored"),
    [
        (
            "© 2024 <g1>Acme</g1>",
            "<x90000000/> 2024 <g1>Acme</g1>",
            "<x90000000/>2024<g1>甲</g1>",
            "©2024<g1>甲</g1>",
        ),
        (
            "See<g1><g2>1</g2></g1> now",
            "See<x90000001/> now",
            "看<x90000001/>",
            "看<g1><g2>1</g2></g1>",
        ),
        (
            "Your <g1><x2/></g1> came.",
            "Your <x90000000/> came.",
            "<x90000000/>来了。",
            "<g1><x2/></g1>来了。",
        ),
        ("<g1>T</g1>he mill", "The mill", "磨坊", "<g1>磨</g1>坊"),
        ("<g1>Two</g1> words", "<g1>Two</g1> words", "<g1>两</g1>词", "<g1>两</g1>词"),
        (
            "H<g1>2</g1>SO<g2>4</g2> and H<g3>2</g3>O, Ca(OH)<g4>2</g4>.",
            "<x90000000/> and <x90000001/>, <x90000002/>.",
            "<x90000001/>、<x90000002/>和<x90000000/>。",
            "H<g3>2</g3>O、Ca(OH)<g4>2</g4>和H<g1>2</g1>SO<g2>4</g2>。",
        ),
        (
            "<g1>14</g1>C, x<g2>i</g2>, 5 km<g3>2</g3>, 10<g4>−6</g4>, I<g5>2</g5>C",
            "<x90000000/>, <x90000001/>, 5 <x90000002/>, <x90000003/>, <x90000004/>",
            "<x90000000/>",
            "<g1>14</g1>C",
        ),
        (
            "(NH<g1>4</g1>)<g2>2</g2>SO<g3>4</g3>, C<g4>6</g4>H<g5>12</g5>, Na<g6>+</g6>, CO<g7>2</g7><g8>[3]</g8>",
            "<x90000000/>, <x90000001/>, <x90000002/>, <x90000003/><x90000004/>",
            "<x90000000/><x90000003/><x90000004/>",
            "(NH<g1>4</g1>)<g2>2</g2>SO<g3>4</g3>CO<g7>2</g7><g8>[3]</g8>",
        ),
        (
            "In the UK<g1>1</g1>, WHO<g2>2</g2>, (US)<g3>3</g3>, I<g4>4</g4>",
            "In the UK<x90000000/>, WHO<x90000001/>, (US)<x90000002/>, I<x90000003/>",
            "英国<x90000000/>，我<x90000003/>",
            "英国<g1>1</g1>，我<g4>4</g4>",
        ),
        (
            "the 21<g1>st</g1> century, May 10<g2>th</g2>",
            "the 21st century, May 10th",
            "21世纪，5月十日",
            "21<g1></g1>世纪，5月十日<g2></g2>",
        ),
        (
            "In 2015 <g1>he</g1> came 1<g2>st</g2> of <x3/>.",
            "In 2015 <g1>he</g1> came 1st of <x3/>.",
            "2015年，<g1>他</g1>在<x3/>中名列第1。",
            "2015年，<g1>他</g1>在<x3/>中名列第1<g2></g2>。",
        ),
        (
            "A<g1>1</g1> a<g2>n</g2> <g3>1</g3>In 45<g4>3</g4> He",
            "A<x90000000/> a<g2>n</g2> <x90000001/>In 45<x90000002/> He",
            "<x90000000/><g2>一</g2>",
            "<g1>1</g1><g2>一</g2>",
        ),
    ],
)
def test_what_holds_no_words_is_one_tag(
    sentence: str, line: str, chinese: str, restored: str
) -> None:
    read = protected(sentence)
    assert read.line == line
    assert read.restored(chinese) == restored


def test_what_separators_part_is_translated_on_its_own() -> None:
    words = "<g1>Home</g1> | Our News  · <x2/>Sports. Now! | 5 » AB|C"
    texts = ["<g1>Home</g1>", "Our News", "<x2/>Sports.", "Now!", "AB|C"]
    assert lines_of(words) == texts
    chinese = translated(words, lambda line: f"「{line}」")
    assert chinese == "「<g1>Home</g1>」 | 「Our News」  · 「<x2/>Sports.」「Now!」 | 5 » 「AB|C」"
    assert lines_of(r"Saved.\n\nGo on? See C:\new") == ["Saved.", "Go on?", r"See C:\new"]


@pytest.mark.parametrize(
    "words",
    [
        "<g1>Home | News</g1>",
        "Run cat a | grep b now.",
        "The French say « Bonjour » When they meet.",
        "P(All | Best) is it",
        "A | B, please",
        "Lines end with \\n on Unix",
        "The set x,\\theta of angles",
    ],
)
def test_a_sign_within_a_sentence_parts_no_texts(words: str) -> None:
    assert lines_of(words) == [words]


@pytest.mark.parametrize("unit", [" ", " | A", "(", "\\n", "1", "<g1>1</g1>", "H<g1>2</g1>"])
def test_a_long_line_is_cut_in_time_in_proportion(unit: str) -> None:
    start = time.process_time()
    lines_of("Words " + unit * (20_000 // len(unit)))
    assert time.process_time() - start < 5


def test_a_formula_alone_is_no_sentence() -> None:
    assert lines_of("H<g1>2</g1>O") == []
    assert translated("H<g1>2</g1>O", lambda _: "水") == "H<g1>2</g1>O"


def test_what_is_chinese_already_stays() -> None:
    done = "请点击 <g1>here</g1> 打开 <x2/> 文件。"
    assert lines_of(done) == []
    assert lines_of("He works at 华为.") == ["He works at 华为."]
    assert translated(done, lambda _: "x") == done

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.config.schema import AugmentConfig
from nmt.corpus.cleaning.augment import Joiner, variants
from nmt.corpus.reading.pairs import SentencePair
from nmt.text.vocab import PLACEHOLDERS

PAIR = SentencePair(
    "I met Tom's wife in room 42 on setup.py.", "我在 42 号房间遇见了汤姆的妻子 setup.py。"
)
OTHERS = ("joined", "switched", "enclosed")  # they need more than the pair
KINDS = [kind for kind in AugmentConfig.model_fields if kind not in OTHERS]


def only(kind: str, pair: SentencePair = PAIR, key: int = 5) -> list[tuple[str, str]]:
    made = variants(pair, key, AugmentConfig.model_validate({"masked": 0, kind: 1}))
    assert all(variant[0] == kind for variant in made)
    return [variant[1:] for variant in made]


def test_case_changes_but_not_in_spans() -> None:
    assert only("upper") == [("I MET TOM'S WIFE IN ROOM 42 ON setup.py.", PAIR.tgt)]
    assert only("lower") == [("i met tom's wife in room 42 on setup.py.", PAIR.tgt)]
    assert only("title") == [("I Met Tom's Wife In Room 42 On setup.py.", PAIR.tgt)]


def test_the_mark_at_the_end_goes_but_a_question_stays_one() -> None:
    assert only("unpunctuated", SentencePair("Go.", "走。")) == [("Go", "走")]
    assert only("unpunctuated", SentencePair("Go?", "走吗？")) == [("Go", "走吗？")]
    assert only("unpunctuated", SentencePair("Go...", "走……")) == []
    assert only("unpunctuated", SentencePair("Save as", "另存为")) == []


def test_casual_text_is_in_one_case_and_lacks_the_mark_at_the_end() -> None:
    pair = SentencePair("Where is Tom's setup.py?", "汤姆的 setup.py 在哪里？")
    made = [only("casual", pair, key)[0] for key in range(200)]
    lower, upper = "where is tom's setup.py", "WHERE IS TOM'S setup.py"
    short = ("where is toms setup.py", "WHERE IS TOMS setup.py")
    assert set(made) == {(src, pair.tgt) for src in (lower, upper, *short)}
    assert 100 < sum(src.islower() for src, _ in made) < 190
    assert only("casual", SentencePair("Hello.", "你好。"))[0][1] == "你好"
    assert only("casual", SentencePair("Save as", "另存为")) == []


def test_words_are_shortened_as_in_chats_but_no_spans_and_no_quoted_ones() -> None:
    pair = SentencePair("I'm going to see you; thanks!", "我要去见你，谢谢！")
    made = {only("shorthand", pair, key)[0] for key in range(200)}
    assert ("Im gonna see u; thx!", pair.tgt) in made
    assert {tgt for _, tgt in made} == {pair.tgt}
    (span,) = only("shorthand", SentencePair("Are you at `are you`?", "你在 `are you` 吗？"))
    assert span[0].endswith("at `are you`?")
    assert only("shorthand", SentencePair("Are you Tom?", "“you”是什么？")) == []
    assert only("shorthand", SentencePair("Go home.", "回家。")) == []


def test_quotation_marks_are_each_language_s() -> None:
    assert only("quoted", SentencePair("Go.", "走。")) == [('"Go."', "“走。”")]
    assert only("quoted", SentencePair('"Go."', "“走。”")) == []


@given(st.integers(0, 2**60))
def test_a_number_is_exchanged_for_another_of_its_kind_on_both_sides(key: int) -> None:
    for src, tgt in only("renumbered", key=key):
        (ours,) = re.findall(r"room (\d+)", src)
        assert f"我在 {ours} 号" in tgt
        assert len(ours) == 2
        assert src.replace(ours, "42") == PAIR.src
    for src, _ in only("renumbered", SentencePair("It was 1984.", "那是1984年。"), key):
        assert 1800 <= int(src[7:11]) <= 2050
    assert only("renumbered", SentencePair("3 of 3", "3 的 3"), key) == []
    assert only("renumbered", SentencePair("at 3:30", "在 3:30"), key) == []


@pytest.mark.parametrize(
    ("src", "tgt", "form"),
    [
        ("10 men", "十个人", r"(\d{2}) men\|\1个人"),
        ("He has two cats.", "他有两只猫。", r"He has ([2-9]|\d{2,3}) cats.\|他有\1只猫。"),
        ("Twelve years on", "12年后", r"(\d{1,3}) years on\|\1年后"),
        ("the 22nd of May", "五月二十二日", r"the ((?!1)\d2|102)nd of May\|五月\1日"),
        ("the 31st man", "第31个人", r"the ((?!1)\d1|101)st man\|第\1个人"),
        ("a 37-year-old man", "37岁的人", r"a (\d\d)-year-old man\|\1岁的人"),
        ("at seven o'clock", "在七点", r"at ([2-9]|1[0-2]) o'clock\|在\1点"),
        ("He has two or three cats.", "他有两、三只猫。", ""),
        ("three quarters", "四分之三", ""),
        ("twenty-one men", "二十个人", ""),
        ("two men, two women", "两男两女", ""),
        ("one man", "一个人", ""),
        ("one second, 二 万", "万", ""),
    ],
)
@given(key=st.integers(0, 2**60))
def test_a_number_in_words_comes_to_be_in_digits(src: str, tgt: str, form: str, key: int) -> None:
    made = only("renumbered", SentencePair(src, tgt), key)
    assert bool(form) or not made  # the number drawn may be the one that stands there
    assert all(re.fullmatch(form, "|".join(pair)) for pair in made)
    masked = only("masked_numbers", SentencePair(src, tgt), key)
    assert bool(masked) == bool(form)
    assert all(len(set(PLACEHOLDERS) & set(ours) & set(theirs)) == 1 for ours, theirs in masked)


def test_a_share_of_more_than_one_makes_several_variants() -> None:
    made = [variants(PAIR, 1000 * key, AugmentConfig(masked=0, tagged=9.5)) for key in range(200)]
    assert {len(of_one) for of_one in made} == {9, 10}
    assert all(len(set(of_one)) > 1 for of_one in made)


@given(st.integers(0, 2**60))
def test_spans_are_masked_and_tagged_alike_on_both_sides(key: int) -> None:
    for kind in ("masked", "tagged"):
        ((src, tgt),) = only(kind, key=key)
        (span,) = set(PLACEHOLDERS) & set(src)
        assert src.count(span) == tgt.count(span) == 1
    assert only("masked", SentencePair("Go.", "走。"), key) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_the_pairs_is_varied_and_always_the_same(kind: str) -> None:
    shares = AugmentConfig.model_validate({"masked": 0, kind: 0.25})
    chance = Random(3)
    keys = [chance.getrandbits(60) for _ in range(2000)]
    first, second = ([variants(PAIR, key, shares) for key in keys] for _ in range(2))
    assert first == second
    assert 400 < sum(map(bool, first)) < 600


def test_without_shares_nothing_is_added() -> None:
    assert variants(PAIR, 1, AugmentConfig(masked=0)) == []


def test_sentences_are_joined_with_the_one_before() -> None:
    join = Joiner(1)
    first = SentencePair("Go.", "走。")
    second = SentencePair("Stay!", "留！")
    title = SentencePair("Title", "标题")
    assert join(first, 1) is None
    assert join(second, 2) == ("joined", "Go. Stay!", "走。留！")
    assert join(title, 3) == ("joined", "Stay! Title", "留！标题")
    assert join(first, 4) is None  # what ends without a mark is not a sentence
    never = Joiner(0)
    assert never(first, 1) is None
    assert never(second, 1) is None

"""English with one of its words in Chinese, and words between tags."""

import re

from nmt.config.schema import AugmentConfig
from nmt.corpus.cleaning.word_variants import WordVariants
from nmt.corpus.reading.pairs import SentencePair
from nmt.spans.masking import SPAN_PLACEHOLDERS, mask
from nmt.text.vocab import JOINT

WORDS = [
    SentencePair("Boston", "波士顿"),
    SentencePair("tea", "茶叶"),
    SentencePair("Tea", "喝茶"),
    SentencePair("the train", "火车"),  # two words
    SentencePair("to", "到达"),  # too short to be told from other words
    SentencePair("Git", "Git"),
]
SOME_SPAN = re.compile(f"[{''.join(SPAN_PLACEHOLDERS)}]")


def taught(**shares: float) -> WordVariants:
    made = WordVariants(AugmentConfig.model_validate(shares))
    for pair in WORDS:
        made.learn(pair)
    return made


def switcher(share: float = 1) -> WordVariants:
    return taught(switched=share)


def switched(src: str, tgt: str, key: int = 0) -> list[tuple[str, str]]:
    made = switcher()(SentencePair(src, tgt), key)
    assert all(variant.kind == "switched" for variant in made)
    return [variant[1:] for variant in made]


def test_a_word_that_the_corpora_translate_is_masked_on_both_sides() -> None:
    (sides,) = switched("He lives in Boston now.", "他现在住在波士顿。")
    place = SPAN_PLACEHOLDERS[0]
    assert sides == (f"He lives in {place} now.", f"他现在住在{place}。")
    # What `translate` makes of the line that a user types.
    assert mask("He lives in 波士顿 now.", into_chinese=True).text == sides[0]


def test_each_word_has_its_turn() -> None:
    made = {switched("Tea from Boston.", "波士顿茶叶。", key)[0][0] for key in range(50)}
    assert {SOME_SPAN.sub("X", src) for src in made} == {"X from Boston.", "Tea from X."}


def test_where_the_translation_does_not_stand_once_nothing_is_made() -> None:
    assert switched("He lives in Boston now.", "他住在那里。") == []
    assert switched("Boston is Boston.", "波士顿就是波士顿。") == []
    assert switched("Take the train to Git.", "坐火车到达 Git。") == []
    assert switched("Bostonians don't have tea-time.", "波士顿人没有喝茶的时间。") == []
    assert (
        switched("See https://example.org/Boston for more", "波士顿：https://example.org/Boston")
        == []
    )


def test_the_share_counts() -> None:
    pair = SentencePair("He lives in Boston.", "他住在波士顿。")
    assert switcher(0)(pair, 7) == []
    assert len(switcher(0.5)(pair, 7, weight=6)) == 3
    made = [len(switcher(0.25)(pair, key << 40)) for key in range(400)]
    assert 60 < sum(made) < 140


def enclosed(src: str, tgt: str, key: int = 0) -> list[tuple[str, str]]:
    made = taught(enclosed=1)(SentencePair(src, tgt), key)
    assert all(variant.kind == "enclosed" for variant in made)
    return [variant[1:] for variant in made]


def test_a_word_is_between_tags_on_both_sides() -> None:
    (sides,) = enclosed("He lives in Boston now.", "他现在住在波士顿。")
    opening, closing = SPAN_PLACEHOLDERS[:2]
    assert sides == (
        f"He lives in {opening} Boston{closing} now.",
        f"他现在住在{opening}波士顿{closing}。",
    )
    # What `translate` makes of the line that a user types, but for the joint, which the model reads as a space.
    typed = mask("He lives in <b>Boston</b> now.").text
    assert typed.replace(JOINT, " ") == sides[0]


def test_all_from_one_word_to_another_is_between_tags_where_the_translation_is_of_one_piece() -> (
    None
):
    made = {
        SOME_SPAN.sub("X", side)
        for key in range(60)
        for sides in enclosed("The tea from Boston is cold.", "波士顿茶叶是凉的。", key)
        for side in sides
    }
    assert made == {
        *("The X teaX from Boston is cold.", "波士顿X茶叶X是凉的。"),
        *("The tea from X BostonX is cold.", "X波士顿X茶叶是凉的。"),
        *("The X tea from BostonX is cold.", "X波士顿茶叶X是凉的。"),
    }


def test_a_word_outside_is_never_between_the_tags_of_the_target() -> None:
    words = [SentencePair("red", "红色"), SentencePair("big", "大型"), SentencePair("car", "汽车")]
    made = WordVariants(AugmentConfig(enclosed=1))
    for word in words:
        made.learn(word)
    pair = SentencePair("A big car is red here.", "这里的大型红色汽车。")
    for key in range(60):
        for _, src, tgt in made(pair, key):
            src, tgt = (SOME_SPAN.split(side)[1] for side in (src, tgt))
            for english, chinese in words:
                assert (english in src) == (chinese in tgt), (src, tgt)


def test_both_kinds_come_of_one_dictionary_and_none_is_learnt_for_nothing() -> None:
    pair = SentencePair("He lives in Boston.", "他住在波士顿。")
    assert [made.kind for made in taught(switched=1, enclosed=2)(pair, 3)] == [
        "switched",
        "enclosed",
        "enclosed",
    ]
    assert taught()(pair, 3) == []

"""English with one of its words in Chinese."""

import re

from nmt.corpus.cleaning.switched import Switcher
from nmt.corpus.reading.pairs import SentencePair
from nmt.spans.masking import SPAN_PLACEHOLDERS, mask

WORDS = [
    SentencePair("Boston", "波士顿"),
    SentencePair("tea", "茶叶"),
    SentencePair("Tea", "喝茶"),
    SentencePair("the train", "火车"),  # two words
    SentencePair("to", "到达"),  # too short to be told from other words
    SentencePair("Git", "Git"),
]
SOME_SPAN = re.compile(f"[{''.join(SPAN_PLACEHOLDERS)}]")


def switcher(share: float = 1) -> Switcher:
    switch = Switcher(share)
    for pair in WORDS:
        switch.learn(pair)
    return switch


def switched(src: str, tgt: str, key: int = 0) -> list[tuple[str, str]]:
    made = switcher()(SentencePair(src, tgt), key)
    assert all(variant.kind == "switched" for variant in made)
    return [variant[1:] for variant in made]


def test_a_word_that_the_corpora_translate_is_masked_on_both_sides() -> None:
    (sides,) = switched("He lives in Boston now.", "他现在住在波士顿。")
    place = SPAN_PLACEHOLDERS[0]
    assert sides == (f"He lives in {place} now.", f"他现在住在{place}。")
    # What `translate` makes of the line that a user types.
    assert mask("He lives in 波士顿 now.", chinese=True).text == sides[0]


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

"""Short spellings of chats."""

from random import Random

import pytest

from nmt.corpus.cleaning.shorthand import shorthand


def spellings(text: str) -> set[str]:
    """All that becomes of a text."""
    return {shorthand(text, Random(seed)) for seed in range(300)}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Thanks!", "Thx!"),
        ("thank you", "thx"),
        ("Please wait.", "Pls wait."),
        ("I'm going to be late.", "Im gonna be late."),
        ("I want to go home.", "I wanna go home."),
        ("I'll be right back.", "brb."),
        ("Goodbye!", "Bye!"),
        ("Where are you?", "Where r u?"),
        ("You're right.", "Ur right."),
        ("I DON'T know.", "I DONT know."),
        ("No, I can't.", "Nope, I cant."),
    ],
)
def test_a_text_may_become_shorter(text: str, short: str) -> None:
    assert short.lower() in {spelling.lower() for spelling in spellings(text)}
    assert any(len(spelling) < len(text) for spelling in spellings(text))


@pytest.mark.parametrize(
    "text",
    [
        "I'm going to Boston.",
        "going to school",
        "no problem",
        "young",
        "beyond",
        "well-with",
        "'tis",
        "rock 'n' roll",
        "the dogs' house",
    ],
)
def test_what_looks_alike_stays(text: str) -> None:
    assert {spelling.replace("Im", "I'm") for spelling in spellings(text)} == {text}


def test_a_capital_stays_one() -> None:
    assert {spelling[0] for spelling in spellings("Your turn")} == {"Y", "U"}

"""Han characters, and the two ways of writing them."""

import re
from pathlib import Path

import pytest

import nmt
from nmt.text.scripts import HAN, is_traditional


@pytest.mark.parametrize("character", "你〇々㐀龿豈𠀀")
def test_it_is_a_han_character(character: str) -> None:
    assert re.fullmatch(f"[{HAN}]", character)


@pytest.mark.parametrize("character", "aé1，。（あ한·…")
def test_it_is_no_han_character(character: str) -> None:
    assert not re.fullmatch(f"[{HAN}]", character)


def test_what_a_han_character_is_stands_in_one_place() -> None:
    modules = Path(nmt.__file__).parent.rglob("*.py")
    places = [module.name for module in modules if "\\u4dbf" in module.read_text()]
    assert places == ["scripts.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("這是書。", True), ("这是书。", False), ("著 乾 後", False), ("", False)],
)
def test_traditional_is_what_has_a_character_that_only_traditional_has(
    text: str, expected: bool
) -> None:
    assert is_traditional(text) == expected

"""docs/reference is what scripts/reference.py writes now; nothing in the program lacks its line."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from nmt.cli import app
from nmt.config.allowed import setting_names

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import reference  # noqa: E402


def page(name: str) -> str:
    return (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    fix = "run python scripts/reference.py"
    assert page(name) == reference.PAGES[name](), fix


def test_every_command_and_option_has_its_line() -> None:
    group: Any = typer.main.get_command(app)
    sections = re.split(r"^## nmt ", page("commands.md"), flags=re.MULTILINE)[1:]
    for (name, command), section in zip(group.commands.items(), sections, strict=True):
        assert section.startswith(f"{name}\n")
        for option in (name for parameter in command.params for name in parameter.opts):
            assert not option.startswith("-") or f"`{option}`" in section


def test_every_setting_has_its_line() -> None:
    text = page("settings.md")
    absent = [each for each in setting_names() if f"| `{each}` |" not in text]
    assert all(f"## {each}\n" in text for each in absent)


def test_an_option_without_a_meaning_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    group: Any = typer.main.get_command(app)
    parameter = group.commands["train"].params[0]
    monkeypatch.setattr(parameter, "help", None)
    with pytest.raises(ValueError, match="nmt train: config has no help"):
        reference._parameter_row("train", parameter)

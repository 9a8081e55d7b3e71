#!/usr/bin/env python3
"""Write the pages of docs/reference that follow from the program: commands, settings, Python.

    python scripts/reference.py        # after a change of an option, a setting or a docstring of the API

A test compares the pages with what this writes, and fails for an option or a setting without a meaning.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer.main

import nmt
from nmt.cli import app
from nmt.config.allowed import allowed, kind_at, setting_names

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
SETTINGS = ROOT / "configs" / "reference.yaml"
_WRITTEN = "<!-- Written by scripts/reference.py: change the program, not this page. -->"


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


# --- commands ---


def commands_page() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    group: Any = typer.main.get_command(app)
    lines = ["# Commands and options", "", _WRITTEN, ""]
    lines += ["Exit codes, and what is written where: [files.md](files.md).", ""]
    for name, command in group.commands.items():
        lines += [f"## nmt {name}", "", inspect.cleandoc(command.help), ""]
        lines += ["```text", f"nmt {name} {_usage(command)}", "```", ""]
        rows = [_parameter_row(name, parameter) for parameter in command.params]
        lines += _table(("option", "meaning"), rows)
    return "\n".join(lines)


def _usage(command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    words = []
    for argument in arguments:
        repeats = "..." if argument.nargs == -1 else ""
        optional = not argument.required and not argument.metavar.startswith("[")
        words.append(f"[{argument.metavar}]{repeats}" if optional else argument.metavar + repeats)
    return " ".join(["[OPTIONS]", *words])


def _parameter_row(command: str, parameter: Any) -> tuple[str, str]:
    """An option or an argument, and what it means. Raises ValueError if nothing says that."""
    if not parameter.help:
        raise ValueError(f"nmt {command}: {parameter.name} has no help")
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`", parameter.help
    names = ", ".join(f"`{name}`" for name in sorted(parameter.opts, key=len))
    metavar = "" if parameter.is_flag else f" `{parameter.metavar or parameter.type.name.upper()}`"
    notes = [parameter.help]
    if parameter.default is not None and not parameter.is_flag and not parameter.multiple:
        notes.append(f"Default: `{parameter.default}`.")
    if parameter.envvar:
        notes.append(f"Environment: `${parameter.envvar}`.")
    return names + metavar, " ".join(notes)


# --- settings ---


def settings_page() -> str:
    """Every setting: its default and meaning as in configs/reference.yaml, its values as in the schema."""
    lines = ["# Settings", "", _WRITTEN, ""]
    lines += [
        "A configuration is a YAML file with the settings that it changes. `section.key=value` on the command line",
        "overrides it. [configs/reference.yaml](../../configs/reference.yaml) has all settings as one file.",
        "",
    ]
    said = dict(_meanings(SETTINGS.read_text(encoding="utf-8")))
    rows: list[tuple[str, str, str, str]] = []
    for name in setting_names():
        default, meaning = said[name]
        if not meaning:
            raise ValueError(f"{SETTINGS}: {name} has no meaning behind it")
        kind = kind_at(name.split("."))
        if "$ref" in kind:
            lines += _table(_OF_SETTINGS, rows)
            rows = []
            lines += [f"## {name}", "", meaning[0].upper() + meaning[1:] + ".", ""]
        else:
            rows.append((f"`{name}`", f"`{default}`", allowed(kind), meaning))
    return "\n".join([*lines, *_table(_OF_SETTINGS, rows)])


_OF_SETTINGS = ("setting", "default", "values", "meaning")
_SETTING = re.compile(
    r"(?P<indent> *)(?P<key>\w+):(?: +(?P<value>[^#\s].*?))?(?: +# (?P<comment>.*))?"
)
_MORE = re.compile(r" {20,}# (.*)")  # a comment that goes on


def _meanings(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each setting of the YAML file, with its value and its comment."""
    outer: list[str] = []
    name, value, comment = "", "", ""
    for line in text.splitlines():
        more = _MORE.fullmatch(line)
        found = _SETTING.fullmatch(line)
        if more and name:
            comment += f" {more[1]}"
        elif found:
            if name:
                yield name, (value, comment)
            outer[len(found["indent"]) // 2 :] = [found["key"]]
            name, value, comment = ".".join(outer), found["value"] or "", found["comment"] or ""
    yield name, (value, comment)


# --- Python ---


def python_page() -> str:
    """The names of `nmt.__all__`, from their docstrings."""
    lines = ["# Python", "", _WRITTEN, "", _with_fences(inspect.cleandoc(str(nmt.__doc__))), ""]
    functions = [name for name in nmt.__all__ if inspect.isfunction(getattr(nmt, name))]
    classes = [name for name in nmt.__all__ if inspect.isclass(getattr(nmt, name))]
    for name in functions:
        lines += _function(f"nmt.{name}", getattr(nmt, name), "##")
    for name in classes:
        lines += _class(name, getattr(nmt, name))
    return "\n".join([*lines, *_errors()])


def _with_fences(doc: str) -> str:
    """A docstring with its indented lines as a block of code."""
    code = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)
    return code.sub(lambda lines: f"\n```python\n{inspect.cleandoc(lines[0])}\n```\n", doc)


def _function(name: str, function: Callable[..., Any], heading: str) -> list[str]:
    signature = str(inspect.signature(function)).replace("self, ", "").replace("self", "")
    signature = re.sub(r"\b(?:nmt|collections|pathlib|os|typing)\.(?:\w+\.)*", "", signature)
    return [f"{heading} {name}", "", "```text", f"{name}{signature}", "```", "", _doc(function), ""]


def _class(name: str, kind: type) -> list[str]:
    lines = [f"## nmt.{name}", "", _doc(kind), ""]
    fields = inspect.get_annotations(kind) if hasattr(kind, "__dataclass_fields__") else {}
    if fields:
        named = ", ".join(f"`{field}: {_type_name(of)}`" for field, of in fields.items())
        lines += [f"Fields: {named}.", ""]
    for member, value in vars(kind).items():
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            lines += [f"**`.{member}`**: {_doc(value)}", ""]
        elif inspect.isfunction(value):
            lines += _function(f"{name}.{member}", value, "###")
    return lines


def _type_name(of: Any) -> str:
    """A type as it is written, without the names of modules."""
    return re.sub(r"\b(?:\w+\.)+", "", inspect.formatannotation(of))


def _errors() -> list[str]:
    """The classes of `nmt.errors`, with the exit codes of the commands that end with them."""
    rows = []
    for name, kind in vars(nmt.errors).items():
        if inspect.isclass(kind) and issubclass(kind, nmt.errors.UserError):
            base = kind.mro()[1]
            rows.append((f"`{name}`", f"`{base.__name__}`", str(kind.exit_code), _doc(kind)))
    lines = ["## nmt.errors", "", _doc(nmt.errors), ""]
    return [*lines, *_table(("class", "is a", "exit code", "meaning"), rows)]


# --- what the pages share ---


def _doc(thing: Any) -> str:
    """A docstring. Raises ValueError if there is none."""
    if not thing.__doc__:
        raise ValueError(f"{thing} has no docstring")
    return inspect.cleandoc(thing.__doc__)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, and a blank one; nothing where there are no rows."""
    if not rows:
        return []
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:], ""]


def _cell(text: str) -> str:
    """Text as a table takes it. Outside code, a "<" would begin an element of HTML."""
    line = " ".join(text.split()).replace("|", "\\|")
    return line if "`" in line else line.replace("<", "&lt;")


PAGES = {"commands.md": commands_page, "settings.md": settings_page, "python.md": python_page}

if __name__ == "__main__":
    main()

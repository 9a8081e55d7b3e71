"""nmt typography: anyone's Chinese with the punctuation and spaces of the standards."""

import sys
from typing import Annotated, Literal

import typer

from nmt.commands.streams import stdin_as_written

_FOUND_SOMETHING = 4  # exit code

Check = Annotated[
    bool,
    typer.Option("--check", help="Print line:column: what to fix, and exit 4 if there is any."),
]
Spacing = Annotated[
    Literal["keep", "none", "space"],
    typer.Option(help="Spaces between Han and Latin letters or digits."),
]


def typography(check: Check = False, spacing: Spacing = "keep") -> None:
    """Fix the punctuation and spaces of Chinese.

    Reads stdin and writes stdout; --check only lists what to fix. Line ends and a byte-order mark stay.
    """
    from nmt.text import typography as rules

    found = False
    for number, line in enumerate(stdin_as_written(), start=1):
        if not check:
            sys.stdout.write(line.mark + rules.repair(line.text, spacing) + line.end)
            continue
        for finding in rules.check(line.text, spacing):
            sys.stdout.write(f"{number}:{finding}\n")
            found = True
    if found:
        raise typer.Exit(_FOUND_SOMETHING)

"""nmt typography: anyone's Chinese with the punctuation and spaces of the standards."""

from typing import Annotated, Literal

import typer

from nmt.commands.shell import options
from nmt.commands.shell.streams import lines_as_written, put, refuse_unreadable

_FOUND_SOMETHING = 4  # exit code

Check = Annotated[
    bool, options.flag("Print line:column: what to fix, and exit 4 if there is any.", "--check")
]
Spacing = Annotated[
    Literal["keep", "none", "space"],
    options.option("[keep|none|space]", "Spaces between Han and Latin letters or digits."),
]


def typography(
    input_file: options.InputFile = None, check: Check = False, spacing: Spacing = "keep"
) -> None:
    """Fix the punctuation and spaces of Chinese.

    Writes to stdout; --check only lists what to fix. Line ends and a byte-order mark stay.
    """
    from nmt.chinese import typography as rules

    refuse_unreadable(input_file)
    found = False
    for number, line in enumerate(lines_as_written(input_file), start=1):
        if not check:
            put(line.mark + rules.repair(line.text, spacing) + line.end)
            continue
        for finding in rules.check(line.text, spacing):
            put(f"{number}:{finding}\n")
            found = True
    if found:
        raise typer.Exit(_FOUND_SOMETHING)

"""What a model's folder says of its licence."""

import re
from pathlib import Path

_READ = 2**16  # bytes
_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
# license: apache-2.0, or a list with one licence.
_LICENCE = re.compile(r"^license:[ ]*(?:\n[ ]*-[ ]*)?['\"]?([\w.+-]{1,60})", re.MULTILINE)
README = "README.md"
LICENCES = ("LICENSE", "LICENCE", "LICENSE.txt", "LICENSE.md")


def stated_licence(folder: Path) -> str | None:
    """The licence that the README's first lines name, else the first line of the licence file; None: nothing."""
    front = _FRONT_MATTER.match(_text(folder / README))
    named = _LICENCE.search(front[1]) if front else None
    if named is not None:
        return named[1]
    for name in LICENCES:
        for line in _text(folder / name).splitlines():
            if line.strip():
                return f"{line.strip()[:100]} ({name})"
    return None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_READ).decode(errors="replace").replace("\r\n", "\n")
    except OSError:
        return ""

"""Documents are short, name the files that there are, and link to what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "data/README.md",
    "configs/pretrained/README.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))),
]


def tree() -> set[str]:
    """The paths in CONTRIBUTING's tree of rooms: a line is a name, indented below its folder, and what it is for."""
    _, _, section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Rooms\n")
    paths: set[str] = set()
    folders: list[str] = []
    for indent, name in re.findall(r"^    ( *)(\S+)", section, re.MULTILINE):
        folders[len(indent) // 2 :] = [name.rstrip("/")]
        paths.add("/".join(folders))
    return paths


def test_the_tree_has_every_room_of_the_package() -> None:
    package = ROOT / "nmt"
    folders = {path.parent for path in package.rglob("*.py")}
    rooms = {folder.relative_to(ROOT).as_posix() for folder in folders - {package}}
    without_code = {"nmt", "nmt/pretrained", "nmt/corpus/identity/public_tests"}
    assert {path for path in tree() if path.startswith("nmt")} - without_code == rooms


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_that_a_document_links_to_is_there(document: str) -> None:
    path = ROOT / document
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


LIMITS = {"README.md": 120} | {name: 150 for name in DOCUMENTS if name.startswith("docs/guide/")}


@pytest.mark.parametrize("document", LIMITS)
def test_what_people_read_first_is_short(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert text.count("\n") <= LIMITS[document]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines()
    assert not [line for line in prose if len(line) > 120 and not line.startswith("|")]

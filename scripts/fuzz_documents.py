"""Damage documents of all formats: each gives a result or one line that says what is wrong, and none takes long.

The documents are those of tests/documents, or the files of the folders that are named. They are cut, joined, repeated
and peppered with marks of their syntaxes; members of archives are damaged before they are packed, and archives too.
Of each document that can be read:

- a translation that is the source changes no byte;
- another one can be written.

    python scripts/fuzz_documents.py [DOCUMENTS] [--seed SEED] [FOLDER ...]

Prints what failed, with the seed that repeats it, and exits with 1; else prints how many came through.
"""

import argparse
import io
import random
import re
import resource
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

from nmt.documents.asked import Asked
from nmt.documents.files import DocumentFile
from nmt.documents.pipeline import Line, Work
from nmt.documents.registry import BY_NAME, by_name_of_file
from nmt.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 5.0  # seconds for a document
_BLOCK = re.compile(
    r"^(?P<fence>`{3,4})(?P<format>\w+)[^\n]*\n(?P<text>.*?)^(?P=fence)$", re.S | re.M
)
_MEMBER = {"docx": "word/document.xml", "odt": "content.xml", "epub": "a.xhtml"}
POOL = [
    *(
        '"',
        "'",
        "`",
        "```",
        "<",
        ">",
        "</",
        "/>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "&",
        "&amp;",
    ),
    *(
        "{",
        "}",
        "{{",
        "{n, plural, one {",
        "other {#}}",
        "%s",
        "%(a)s",
        "$t(",
        "@:",
        "\\",
        "\\u00",
        "\\\n",
    ),
    *(
        "*",
        "**",
        "_",
        "~~",
        "[",
        "](",
        "![",
        ")",
        "|",
        "---",
        "===",
        ":::",
        "$",
        "#",
        "- ",
        "1. ",
        "> ",
    ),
    *(
        "msgid ",
        "msgstr",
        '"\n"',
        "#, fuzzy",
        "#~ ",
        "-->",
        "00:00:01,000 --> 00:00:02,000",
        "WEBVTT",
        "NOTE",
    ),
    *(
        "\n",
        "\r\n",
        "\r",
        "\t",
        "    ",
        "\0",
        "\ufeff",
        "\u2028",
        "\ud7ff",
        "😀",
        "中文",
        "<g1>",
        "</g1>",
        "<x1/>",
    ),
    *(
        "a: ",
        "&a ",
        "*a",
        "<<: ",
        "|\n",
        ">-\n",
        "..",
        "::",
        ".. note::",
        "<b>",
        "</b>",
        "<br>",
        "<p>",
        "</p>",
    ),
]


class Broken(Exception):
    """What must not happen to a document."""


def documents(folders: list[Path]) -> list[tuple[str, str]]:
    """Texts to damage, each with its format."""
    found = []
    for page in sorted((ROOT / "tests" / "documents").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        found += [(block["format"], block["text"]) for block in _BLOCK.finditer(text)]
    for path in [path for folder in folders for path in sorted(folder.rglob("*"))]:
        form = by_name_of_file(path) if path.is_file() and path.suffix != ".pdf" else None
        if form is not None and not form.is_archive and path.stat().st_size < 50_000:
            found.append((form.name, path.read_text(encoding="utf-8", errors="replace")))
    return [(name, text) for name, text in found if name in BY_NAME]


def damaged(texts: list[tuple[str, str]], chance: random.Random) -> tuple[str, bytes]:
    """A document with up to eight damages, now and then as another format than its own."""
    name, text = chance.choice(texts)
    if chance.random() < 0.05:
        name = chance.choice(texts)[0]
    for _ in range(chance.randint(0, 8)):
        text = _damaged_once(text, texts, chance)
    data = text.encode("utf-8", "replace")
    if BY_NAME[name].is_archive:
        data = _packed(name, data)
    if chance.random() < 0.1:
        at = chance.randrange(len(data) + 1)
        data = (
            data[:at] + chance.randbytes(chance.randint(0, 3)) + data[at + chance.randint(0, 2) :]
        )
    return name, data


def _damaged_once(text: str, texts: list[tuple[str, str]], chance: random.Random) -> str:
    at, end = sorted(chance.randint(0, len(text)) for _ in range(2))
    kind = chance.randrange(6)
    if kind == 0:
        return text[:at] + text[end:]
    if kind == 1:
        return text[:at] + chance.choice(POOL) + text[at:]
    if kind == 2:
        return text[:at] + chance.choice(POOL) * chance.choice((2, 30, 1000)) + text[at:]
    if kind == 3:
        return (
            text[:at] + text[at:end] * chance.randint(2, 4) + text[end:]
            if end - at < 2000
            else text
        )
    if kind == 4:
        other = chance.choice(texts)[1]
        return text[:at] + other[: chance.randint(0, 300)] + text[at:]
    return text.replace(chance.choice(POOL), chance.choice(POOL))


def _packed(name: str, data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(_MEMBER[name], data)
    return packed.getvalue()


def outcome(name: str, data: bytes) -> str:
    """What came of a document: read, or refused. Raises for anything that must not be."""
    try:
        work = Work(DocumentFile(BY_NAME[name], data, Asked()), Asked())
    except UserError as error:
        if "\n" in str(error):
            raise Broken(f"several lines: {error}") from None
        return "refused"
    lines = work.lines()
    if work.written({line: Line(line) for line in lines}) != data:
        raise Broken("bytes changed")
    again = Work(DocumentFile(BY_NAME[name], data, Asked()), Asked())
    try:
        again.written({line: Line(f"译{line}文") for line in lines})
    except UserError:
        return "refused"
    return "read"


def timely_outcome(name: str, data: bytes) -> str:
    """The same; raises for what takes long."""
    begun = time.monotonic()
    found = outcome(name, data)
    if time.monotonic() - begun > LONGEST:
        raise Broken("took long")
    return found


def main() -> int:
    """Damage as many documents as are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("documents", nargs="?", type=int, default=2000)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    texts = documents(asked.folders)
    seen: Counter[tuple[str, str]] = Counter()
    for number in range(asked.documents):
        seed = asked.seed * 1_000_000 + number
        name, data = damaged(texts, random.Random(seed))
        try:
            seen[name, timely_outcome(name, data)] += 1
        except Exception as error:
            print(f"{name}, seed {seed}: {type(error).__name__}: {str(error)[:300]}")
            Path("failed").write_bytes(data)
            return 1
    for (name, kind), count in sorted(seen.items()):
        print(f"{name:12} {kind:8} {count:,}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{asked.documents:,} documents came through; at most {memory} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

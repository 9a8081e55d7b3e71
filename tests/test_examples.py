"""The examples of README.md and docs/guide do what they say.

The blocks of a page run one after another in one folder, which holds what the fixture `world` says:

- ```sh: lines of bash; none may fail.
- ```console: `$ command` and what it prints, on stdout and stderr. `…` stands for anything in a line, and in a line of
  its own for any lines.
- ```python: a program; what it prints is said behind `# → ` of its lines, if anywhere.
- a block after `<!-- file: NAME -->` is written to that file.
- a block after `<!-- not run: REASON -->` is left alone.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from conftest import TINY, counting_pairs
from shell import run_shell

from nmt.config.load import dump, load_config

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
LONG = ("cron", "documents", "report")  # take 10 seconds and more
_BLOCK = re.compile(
    r"""
    (?: ^<!--\ (?P<mark> file | not\ run ):\ (?P<value>.*?)\ -->\n )?
    ^```(?P<kind>\w+)\n
    (?P<text>.*?)
    ^```$
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


# The last four are only read.
KINDS = ("sh", "console", "python", "yaml", "text", "crontab", "dockerfile")


class Block(NamedTuple):
    """A block of a page, and the line that it begins at."""

    line: int
    kind: str
    text: str
    mark: str | None
    value: str | None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text[: found.start("kind")].count("\n") + 1
        yield Block(line, found["kind"], found["text"], found["mark"], found["value"])


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    """The folder in which the examples begin; each page gets a copy.

    my.tsv: 400 pairs. terms.tsv: a term. news.en, news.zh: a test set. ours.zh, other.zh: two translations of it.
    input.txt: three lines of English. in/1.en, in/2.en. configs/*.yaml: tiny models that learn from my.tsv. runs/mine,
    runs/other: such runs.
    """
    folder = tmp_path_factory.mktemp("world")
    pairs = counting_pairs(460, seed=5)
    train_pairs, test = pairs[:400], pairs[400:]
    texts = {
        "my.tsv": [f"{src}\t{tgt}" for src, tgt in train_pairs],
        "news.en": [src for src, _ in test],
        "news.zh": [tgt for _, tgt in test],
        "ours.zh": [tgt if number % 3 else tgt[2:] for number, (_, tgt) in enumerate(test)],
        "other.zh": [tgt if number % 2 else tgt[2:] for number, (_, tgt) in enumerate(test)],
        "terms.tsv": ["station\t车站"],
        "input.txt": ["Good morning.", "", "Where is the nearest train station?"],
        "in/1.en": [src for src, _ in train_pairs[:20]],
        "in/2.en": [src for src, _ in train_pairs[20:40]],
    }
    for name, lines in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    settings = dump(load_config(None, [*TINY, "data.corpora=[{name: mine, tsv: my.tsv}]"]))
    (folder / "configs").mkdir()
    for name in ("mine", "other", "base", "tatoeba", "toy"):
        path = folder / "configs" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(settings | {"run_dir": f"runs/{name}"}), encoding="utf-8")
    for name in ("mine", "other"):
        done = run_shell(f"nmt train -q --config configs/{name}.yaml", folder, programs)
        assert done.returncode == 0, done.stderr
    (folder / "runs" / "latest").unlink()  # so that the model that comes with nmt translates
    return folder


def test_an_expected_output_may_leave_out_lines_and_parts_of_lines() -> None:
    assert matches("a\n…\nd … f\n", "a\nb\nc\nd e f\n")
    assert matches("…\n", "")
    assert not matches("a\nd\n", "a\nb\nd\n")
    assert not matches("a\n", "a\nb\n")


def matches(expected: str, printed: str) -> bool:
    lines = []
    for line in expected.splitlines(keepends=True):
        if line == "…\n":
            lines.append("(?:.*\n)*")
        else:
            lines.append(".*".join(map(re.escape, line.split("…"))))
    return re.fullmatch("".join(lines), printed) is not None


def _marked(page: Path) -> object:
    return pytest.param(page, id=page.stem, marks=[pytest.mark.slow] * (page.stem in LONG))


@pytest.mark.parametrize("page", [_marked(page) for page in PAGES])
def test_the_examples_do_what_they_say(
    page: Path, world: Path, programs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "world"
    shutil.copytree(world, folder)
    if page.stem == "train":  # which trains it
        shutil.rmtree(folder / "runs" / "mine")
    environment = {"HOME": str(tmp_path), "NMT_ENGINE": "auto", "OMP_NUM_THREADS": "2"}
    environment |= {"NMT_MODEL": "", "XDG_CACHE_HOME": ""}
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        assert block.kind in KINDS, where
        if block.mark == "not run":
            continue
        if block.mark == "file":
            path = folder / str(block.value)
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            done = run_shell(block.text, folder, programs, **environment)
            assert done.returncode == 0, f"{where}\n{done.stderr}"
        elif block.kind == "console":
            for command, expected in commands(block.text):
                done = run_shell(f"set +e\nexec 2>&1\n{command}", folder, programs, **environment)
                assert matches(expected, done.stdout), f"{where}\n$ {command}\n{done.stdout}"
        elif block.kind == "python":
            (folder / "example.py").write_text(block.text, encoding="utf-8")
            done = run_shell("python example.py", folder, programs, **environment)
            assert done.returncode == 0, f"{where}\n{done.stderr}"
            expected = "".join(f"{said}\n" for said in re.findall("# → (.*)", block.text))
            assert not expected or matches(expected, done.stdout), f"{where}\n{done.stdout}"


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="there is no hadolint here")
def test_what_makes_a_container_has_no_faults(tmp_path: Path) -> None:
    (block,) = (each for page in PAGES for each in blocks(page) if each.kind == "dockerfile")
    (tmp_path / "Dockerfile").write_text(block.text, encoding="utf-8")
    subprocess.run(["hadolint", tmp_path / "Dockerfile"], check=True)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console, and what each prints."""
    for each in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = each.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command += f"\n{more}"
        yield command, printed

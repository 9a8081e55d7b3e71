"""What a user installs: the wheel, its name, its extras."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from nmt.files import checksum

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHIPPED = ROOT / "nmt" / "pretrained"
READ_BY_PEOPLE = ["*.py", "*.md", "*.sh", "*.yaml"]


def run(*command: object, cwd: Path, stdin: str = "") -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, input=stdin, check=True, capture_output=True, text=True
    )
    return done.stdout


def test_nothing_tells_people_to_install_the_other_project_of_this_name() -> None:
    """On PyPI, `nmt` is somebody else's."""
    folders = [ROOT / name for name in ("nmt", "docs", "configs", "scripts", "data")]
    files = [path for folder in folders for kind in READ_BY_PEOPLE for path in folder.rglob(kind)]
    for path in [*files, *ROOT.glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(pip|pipx|uv tool|uvx)\b[^\n`]* ['\"]?nmt(\[|['\"`\s]|$)", text), (
            path
        )


def test_all_is_every_extra_but_that_of_developers() -> None:
    extras = PROJECT["optional-dependencies"]
    [whole] = extras["all"]
    assert set(re.findall(r"[a-z0-9]+", whole.partition("[")[2])) == set(extras) - {"all", "dev"}


@pytest.mark.slow
def test_the_wheel_translates_in_an_empty_environment_in_an_empty_folder(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "nmt", source / "nmt", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, source, cwd=tmp_path)
    [wheel] = tmp_path.glob("nmt_zh-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    programs = tmp_path / "env" / "bin"
    constraints = ROOT / "constraints.txt"
    run(programs / "python", "-m", "pip", "install", "-c", constraints, wheel, cwd=tmp_path)

    [installed] = (tmp_path / "env").glob("lib/*/site-packages/nmt/pretrained")
    for path in filter(Path.is_file, SHIPPED.rglob("*")):
        assert checksum(installed / path.relative_to(SHIPPED)) == checksum(path)

    empty = tmp_path / "empty"
    empty.mkdir()
    command = run(programs / "nmt", "translate", cwd=empty, stdin="Good morning.\n")
    code = "import nmt; print(nmt.load().translate('Good morning.').text)"
    assert run(programs / "python", "-c", code, cwd=empty) == command
    assert command == "早上好！\n"
    assert not list(empty.iterdir())

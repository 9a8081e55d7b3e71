"""The commands of docs/guide/models.md, "Import a model", with a random model in the place of the published one."""

import shlex
from pathlib import Path

import huggingface_hub
import pytest
from conftest import run_nmt
from marians import CHINESE, ENGLISH, make
from stand_in_hub import be_hub, stand_in_hub
from typer.testing import CliRunner

from nmt.cli import app

DOCUMENT = Path(__file__).parents[3] / "docs" / "guide" / "models.md"
NAME = "Helsinki-NLP/opus-mt-en-zh"


def commands() -> list[list[str]]:
    """The words of each line of the example, without comments."""
    _, _, section = DOCUMENT.read_text(encoding="utf-8").partition("\n## Import a model\n")
    _, _, example = section.partition("```sh\n")
    return [shlex.split(line, comments=True) for line in example.partition("```")[0].splitlines()]


def test_the_example_of_the_document_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("models/opus-mt-en-zh"))
    Path("news.en").write_text("".join(f"{line}\n" for line in ENGLISH))
    Path("news.zh").write_text("".join(f"{line}\n" for line in CHINESE))
    from_hub, from_folder, translate, evaluate = commands()
    assert [each[1] for each in commands()] == ["import", "import", "translate", "evaluate"]

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with stand_in_hub(tmp_path / "models" / "opus-mt-en-zh", NAME) as hub:
        be_hub(hub.url, monkeypatch)
        done = CliRunner().invoke(app, from_hub[1:])
    assert done.exit_code == 0, done.stderr
    assert f"nmt: {NAME} at " in done.stderr
    assert "each source begins with >>cmn_Hans<<" in done.stderr

    done = CliRunner().invoke(app, from_folder[1:])
    assert done.exit_code == 0, done.stderr
    assert "each source begins with >>cmn_Hant<<" in done.stderr

    *words, less, source, greater, _target = translate
    assert (less, greater) == ("<", ">")
    written = run_nmt(*words[1:], stdin=Path(source).read_bytes())
    assert written.returncode == 0, written.stderr
    lines = written.stdout.decode().splitlines()
    assert len(lines) == len(ENGLISH)
    assert "https://example.org/a?b=1" in lines[5], "byte for byte, though the model is random"

    done = CliRunner().invoke(app, evaluate[1:])
    assert done.exit_code == 0, done.stderr
    assert "bleu" in done.stdout

"""`nmt doctor` and `nmt --version`: what a report of a bug needs."""

import platform

import pytest
import torch
from typer.testing import CliRunner

import nmt
from nmt.cli import app
from nmt.report import machine
from nmt.run.folder import RunDir


def doctor() -> dict[str, str]:
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0, done.output
    rows = [line.split(maxsplit=1) for line in done.output.splitlines()]
    return dict(rows)


def test_it_says_what_is_installed_and_what_translates(
    monkeypatch: pytest.MonkeyPatch, trained: RunDir
) -> None:
    monkeypatch.setenv("NMT_MODEL", str(trained.path))
    monkeypatch.setenv("NMT_ENGINE", "torch")
    rows = doctor()
    assert rows["nmt"].startswith(f"{nmt.__version__} in /")
    assert rows["python"].startswith(platform.python_version())
    assert f"torch {torch.__version__}," in rows["packages"]
    assert rows["model"] == f"{trained.path} (named by $NMT_MODEL)"
    assert rows["engine"].startswith("torch,")
    assert rows["devices"].startswith("cpu")


def test_a_fact_that_cannot_be_found_out_is_what_prevents_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NMT_MODEL", "nowhere")
    rows = doctor()
    assert rows["engine"].startswith("nowhere (named by $NMT_MODEL): does not exist; ")
    assert "cache" in rows


def test_a_broken_library_is_a_row_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> str:
        raise OSError("libcudart.so.12: cannot open shared object file")

    monkeypatch.setattr(machine, "_devices", broken)
    rows = doctor()
    assert rows["devices"] == "OSError: libcudart.so.12: cannot open shared object file"
    assert "packages" in rows


def test_a_wrong_engine_does_not_hide_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMT_ENGINE", "bogus")
    line = CliRunner().invoke(app, ["--version"]).output
    assert line.startswith(f"nmt {nmt.__version__}, torch")
    assert "engine=bogus: no such engine" in line


def test_what_is_missing_is_named_with_its_task_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"torch", "matplotlib", "jinja2"}
    monkeypatch.setattr(machine, "version_of", lambda name: "1" if name in there else None)
    missing = [value for name, value in machine.machine_rows() if name == "not installed"]
    assert missing[0] == "rapidfuzz, for nmt report: pip install rapidfuzz"
    assert "ray, for --ray: pip install ray" in missing
    assert len(missing) == len(machine._EXTRAS) - 2


@pytest.mark.parametrize(
    ("gpu", "where"), [(True, "a GPU, if torch finds one"), (False, "the CPU")]
)
def test_the_version_says_what_translates(
    monkeypatch: pytest.MonkeyPatch, gpu: bool, where: str
) -> None:
    monkeypatch.setenv("NMT_ENGINE", "torch")
    monkeypatch.setattr(machine, "may_have_gpu", lambda _device: gpu)
    line = CliRunner().invoke(app, ["--version"]).output
    assert line.startswith(f"nmt {nmt.__version__}, torch {torch.__version__}")
    assert line.endswith(f"; translates with torch on {where}\n")

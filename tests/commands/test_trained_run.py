"""Which run a command takes."""

import re
from pathlib import Path

import pytest
from conftest import TINY, run_nmt

from nmt.commands.shell.trained_run import find_run
from nmt.errors import ConfigError, ModelError
from nmt.run.folder import RunDir


def test_the_last_trained_run_is_found_and_then_the_environment_and_then_the_option(
    corpus: Path, trained: RunDir, tmp_path: Path
) -> None:
    settings = [
        f"data.path={corpus}",
        f"run_dir={tmp_path / 'small'}",
        *TINY,
        "train.updates=2",
        "train.average=0",
    ]
    done = run_nmt("train", *settings, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"prepare:" in done.stderr
    assert b"build-vocab:" in done.stderr
    assert done.stdout == b""
    untrained = run_nmt("translate", stdin="one two.\n", cwd=tmp_path)
    assert untrained.returncode == 0, untrained.stderr
    assert untrained.stdout.decode() != "一，二。\n"
    by_environment = run_nmt(
        "translate", stdin="one two.\n", cwd=tmp_path, NMT_MODEL=str(trained.path)
    )
    assert by_environment.stdout.decode() == "一，二。\n"
    again = run_nmt("train", *settings, cwd=tmp_path)
    assert b"prepare:" not in again.stderr, "what is current is not done again"
    other = run_nmt("train", *settings, "train.seed=5", cwd=tmp_path)
    assert other.returncode == 2
    assert b"train.seed: 1 \xe2\x86\x92 5" in other.stderr
    assert run_nmt("train", *settings, "train.seed=5", "--overwrite", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["search.beam_size=5", "search.method=sample"], "add search.method=beam"),
        (["search.beam_size=5", "search.method=greedy"], "add search.method=beam"),
        (["search.seed=1"], "search.seed=1 has no effect with search.method=beam"),
        (["search.top_k=10"], "search.top_k=10 has no effect with search.method=beam"),
        (
            ["search.verify=retry", "search.beam_size=1"],
            "search.verify=retry needs beam search; use search.verify=flag, or search.method=beam",
        ),
        (["search.verify=retry", "search.method=sample"], "search.verify=retry needs beam search"),
        (["search.temperature=0.5", "search.beam_size=1"], "add search.method=sample"),
    ],
)
def test_a_setting_that_the_search_would_ignore_is_refused(
    overrides: list[str], message: str, trained: RunDir
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        find_run(trained.path, None, overrides)


@pytest.mark.parametrize(
    "overrides",
    [["search.beam_size=1"], ["search.beam_size=1", "search.method=greedy"]],
)
def test_a_beam_of_one_is_greedy_search(overrides: list[str], trained: RunDir) -> None:
    settings, _run = find_run(trained.path, None, overrides)
    assert settings.search.effective_method == "greedy"


def test_an_export_for_other_programs_is_told_from_a_run(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text("{}")
    with pytest.raises(ModelError, match="is for other programs, not a run folder; name the run"):
        find_run(tmp_path, None, [])

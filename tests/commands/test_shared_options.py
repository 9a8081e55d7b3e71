"""Options that several commands have, and that mean the same in all of them."""

import json
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from command_line import invoke
from conftest import write_corpus
from typer.main import get_command

from nmt.cli import app
from nmt.commands.shell.options import with_options
from nmt.config.load import load_config
from nmt.run.folder import RunDir

# Arguments without which a command reads no option.
ARGUMENTS = {"export": ["ct2", "x"], "import": ["x", "y"]}


def names_a_path(hint: object) -> bool:
    return hint is Path or any(map(names_a_path, get_args(hint)))


def path_options() -> list[tuple[str, str]]:
    """Every option of every command that names a file or a folder."""
    commands: Any = get_command(app)
    found = []
    for command in app.registered_commands:
        assert command.callback is not None
        assert command.name is not None
        hints = get_type_hints(command.callback, include_extras=True)
        paths = {name for name, hint in hints.items() if names_a_path(hint)}
        for parameter in commands.commands[command.name].params:
            if parameter.name in paths and parameter.param_type_name == "option":
                found.append((command.name, max(parameter.opts, key=len)))
    return found


def test_an_empty_path_is_refused_by_the_option_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = [*path_options(), ("evaluate", "--hyp"), ("evaluate", "--segment-scores")]
    assert len(options) > 30
    for command, option in options:
        done = invoke(command, *ARGUMENTS.get(command, []), option, "")
        assert done.exit_code == 2, (command, option, done.stderr)
        assert re.fullmatch(rf"nmt: .*{option}('.*)?: '' is not a (path|file); .*\n", done.stderr)


@pytest.mark.parametrize(
    "arguments", [["info", ""], ["export", "ct2", ""], ["import", "", "x"], ["import", "x", ""]]
)
def test_an_empty_path_is_no_argument_either(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert done.stderr.endswith(": '' is not a path; name a file or a folder\n")


@pytest.fixture
def torch_alone(trained: RunDir, tmp_path: Path) -> dict[str, list[object]]:
    """By the name that a refusal gives it, what only --engine torch computes."""
    memory = tmp_path / "mine.tsv"
    memory.write_text("one two.\t九九。\n", encoding="utf-8")
    return {"--ensemble": ["--ensemble", trained.path], "search.memory": ["--memory", memory]}


@pytest.mark.parametrize("name", ["--ensemble", "search.memory"])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--engine", "ctranslate2"], "needs --engine torch; CTranslate2"),
        (["--precision", "int8"], "needs --engine torch, which does not compute in int8"),
    ],
)
def test_what_only_torch_computes_needs_its_engine(
    trained: RunDir,
    torch_alone: dict[str, list[object]],
    name: str,
    option: list[str],
    message: str,
) -> None:
    done = invoke("translate", "-m", trained.path, *torch_alone[name], *option)
    assert done.exit_code == 2
    assert f"{name} {message}" in done.stderr
    assert done.stdout == ""


def test_an_engine_of_the_environment_is_named(
    trained: RunDir, torch_alone: dict[str, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMT_ENGINE", "ctranslate2")
    for options in torch_alone.values():
        done = invoke("translate", "-m", trained.path, *options)
        assert done.exit_code == 2
        assert "needs --engine torch ($NMT_ENGINE is ctranslate2); CTranslate2" in done.stderr


def test_quiet_and_json_together_are_the_json_and_nothing_else(
    trained: RunDir, tmp_path: Path
) -> None:
    source, reference = trained.text("test", "en"), trained.text("test", "zh")
    other = tmp_path / "other.zh"
    other.write_text(reference.read_text("utf-8").replace("。", "！"), "utf-8")
    systems = ["--hyp", f"a={other}", "--ref", reference]
    for arguments in (
        ["evaluate", "--json", *systems],
        ["report", "--json", *systems],
        ["info", "--json", trained.path],
        ["score", "--format", "jsonl", "-m", trained.path, "--src", source, "--tgt", reference],
    ):
        done = invoke(*arguments, "--quiet")
        assert done.exit_code == 0, done.stderr
        assert done.stderr == ""
        is_lines = arguments[0] == "score"
        for text in done.stdout.splitlines() if is_lines else [done.stdout]:
            assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize("command", ["score", "translate"])
def test_who_asks_for_json_where_it_is_a_format_is_told_so(command: str) -> None:
    assert "No such option: --json (Possible options: --format)" in invoke(command, "--json").stderr


def test_translations_and_json_do_not_mix_on_stdout() -> None:
    done = invoke("evaluate", "--output", "-", "--json", "--quiet")
    assert done.exit_code == 2
    assert "--output - and --json would both be on stdout; give --output FILE" in done.stderr


def test_quiet_prepare_and_build_vocab_say_nothing_and_do_the_same(
    corpus: Path, tmp_path: Path
) -> None:
    def run_both(folder: Path, *quiet: str) -> list[str]:
        common = [f"data.path={corpus}", f"run_dir={folder}", *quiet]
        done = [invoke(command, *common) for command in ("prepare", "build-vocab")]
        assert [each.exit_code for each in done] == [0, 0]
        return [each.stderr for each in done]

    assert all(run_both(tmp_path / "loud"))
    assert run_both(tmp_path / "quiet", "-q") == ["", ""]
    for name in ("data/train.zh", "vocab.tgt.tsv"):
        quiet, loud = tmp_path / "quiet" / name, tmp_path / "loud" / name
        assert quiet.read_bytes() == loud.read_bytes()


def test_a_quiet_prepare_still_tells_errors(tmp_path: Path) -> None:
    data = write_corpus(tmp_path / "data")
    (data / "train.zh").write_text("一。\n", "utf-8")
    done = invoke("prepare", f"data.path={data}", f"run_dir={tmp_path / 'run'}", "--quiet")
    assert done.exit_code == 3
    assert "ends at line 1" in done.stderr


def test_a_path_on_the_command_line_may_hold_any_character() -> None:
    path = Path("2024-11-28/a: 'b' \"c\" \\ 😀 中文.tsv")
    settings = with_options(None, "search", {"memory": path})
    assert load_config(None, settings).search.memory == str(path)

"""nmt translate --output-dir: files in, files of the same names out."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import counting_pairs, run_nmt
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.commands.translation import files as translating
from nmt.commands.translation.files import Job, model_of
from nmt.commands.translation.progress import Progress, estimated_lines
from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.engines.base import EngineRequest
from nmt.errors import DataError
from nmt.jobs.output import File
from nmt.run.folder import RunDir
from nmt.translate.opening import load_translator


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["translate", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with two files of English."""
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [pair[0] for pair in counting_pairs(30, seed=3)]
    (folder / "a.en").write_text("\n".join(lines[:20]), encoding="utf-8")
    (folder / "b.en.gz").write_bytes(gzip.compress("".join(f"{x}\n" for x in lines[20:]).encode()))
    (folder / "notes.md").write_text("not English\n")
    return folder


def test_each_file_is_translated_to_one_of_its_name(
    trained: RunDir, files: Path, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    done = invoke("-m", trained.path, "--input", files / "*.en*", "--output-dir", out)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    assert f"nmt: {out / 'a.en'}: 20 lines\n" in done.stderr
    assert "30 lines translated" in done.stderr
    assert sorted(path.name for path in out.iterdir()) == [".nmt", "a.en", "b.en.gz"]
    translator = load_translator(load_config(trained.config), trained)
    lines = [pair[0] for pair in counting_pairs(30, seed=3)]
    expected = [each.text + "\n" for each in translator.translate(lines[:20])]
    assert (out / "a.en").read_text(encoding="utf-8") == "".join(expected)
    zipped = gzip.decompress((out / "b.en.gz").read_bytes()).decode()
    assert zipped == "".join(each.text + "\n" for each in translator.translate(lines[20:]))

    again = invoke("-m", trained.path, "--input", files / "*.en*", "--output-dir", out, "-q")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "")
    other = ("-m", trained.path, "-i", files / "a.en", "--output-dir", out, "--beam-size", 1)
    refused = invoke(*other)
    assert refused.exit_code == 2
    assert "a.en: was made from another input, or with another model" in refused.stderr
    assert invoke(*other, "--overwrite").exit_code == 0


def test_numbers_of_lines_are_those_of_the_file(
    trained: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmt.translate import windows

    monkeypatch.setattr(windows.windows, "__defaults__", (2, len))
    source = tmp_path / "a.en"
    source.write_text("one.\ntwo.\nthree.\nfour.\nfive.\n")
    out = tmp_path / "out"
    done = invoke("-m", trained.path, "-i", source, "--output-dir", out, "--format", "scores")
    assert done.exit_code == 0, done.stderr
    rows = (out / "a.en").read_text(encoding="utf-8").splitlines()
    assert [row.split("\t")[0] for row in rows] == ["1", "2", "3", "4", "5"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of one name in several folders, in which the command runs."""
    for folder in ("one", "two", "taken"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.en").write_text("mine\n")
    (tmp_path / "a.en").write_text("one.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--output-dir", "out"], 2, "--output-dir needs files; give --input FILE"),
        (["--output-dir", "out", "-i", "-"], 2, "--output-dir needs files"),
        (["--output-dir", "out", "-i", "no*"], 3, "no*: no file has such a name"),
        (["--output-dir", "out", "-i", "no"], 3, "no: no such file"),
        (["--output-dir", "out", "-i", "."], 3, ".: is a folder; name the files in it, such as"),
        (["--output-dir", ".", "-i", "a.en"], 2, "a.en: is the input; name another"),
        (["--output-dir", "a.en", "-i", "a.en"], 2, "a.en: is a file; --output-dir names a folder"),
        (["--output-dir", "out", "-i", "*/a.en"], 2, "have the same name, and would be written"),
        (["--output-dir", "taken", "-i", "a.en"], 2, "taken/a.en: exists already; name another"),
        (["--output-dir", "out", "-o", "x", "-i", "a.en"], 2, "--output and --output-dir; give"),
        (["--output-dir", "out", "--resume", "-i", "a.en"], 2, "leave out --resume"),
        (["--ray", "local", "-i", "a.en"], 2, "--ray translates files; give --input FILE --out"),
        (["--workers", "2", "-i", "a.en"], 2, "--workers needs --ray; add --ray local"),
        (["--workers", "0", "--ray", "local"], 2, "'--workers': "),
        (
            ["--output-dir", "out", "-i", "a.en", "--ray", "tea"],
            2,
            "--ray tea: not the address of a cluster; give local, auto, or the HOST:PORT",
        ),
        (
            ["--output-dir", "out", "-i", "a.en", "--ray", "127.0.0.1:1"],
            1,
            "--ray 127.0.0.1:1: no answer",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(
    trained: RunDir, here: Path, arguments: list[str], code: int, message: str
) -> None:
    done = invoke("-m", trained.path, *arguments)
    assert message in done.stderr
    assert done.exit_code == code
    assert done.stderr.count("\n") == 1
    assert not (here / "out").exists()
    assert (here / "taken" / "a.en").read_text() == "mine\n"


def test_without_ray_the_command_says_how_to_get_it(trained: RunDir, tmp_path: Path) -> None:
    source = tmp_path / "a.en"
    source.write_text("one.\n")
    code = "import sys; sys.modules['ray'] = None; from nmt.cli import main; main()"
    arguments = ["translate", "-m", trained.path, "-i", source, "--output-dir", tmp_path / "out"]
    command = [sys.executable, "-c", code, *map(str, arguments), "--ray", "local"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "nmt: --ray needs Ray, which is not installed; run pip install ray\n"


def test_nothing_but_the_option_loads_ray() -> None:
    code = (
        "import sys; from nmt.cli import app; from nmt.jobs import ray_session, ray_chunks, "
        "ray_pool, job; sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Bar:
    """A stand-in for tqdm's."""

    n = initial = 0

    def __init__(self, total: int, **_: object) -> None:
        self.total = total
        Bar.made = self

    made: "Bar"

    def update(self, lines: int) -> None:
        self.n += lines

    def set_postfix_str(self, _text: str) -> None:
        pass

    def close(self) -> None:
        pass


def test_the_bar_counts_finished_files_as_done_before(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("nmt.commands.translation.progress.is_watched", lambda _: True)
    monkeypatch.setattr("tqdm.tqdm", Bar)
    two = [File(files / name, tmp_path / name) for name in ("a.en", "b.en.gz")]
    progress = Progress(two, quiet=False)
    with progress:
        two[0].lines = 20
        progress.watch().kept(two[0])
        bar = Bar.made
        assert (bar.n, bar.initial) == (20, 20)
        two[1].lines = 10
        progress.watch().read(two[1])
        assert bar.total == 30
    last = capsys.readouterr().err
    assert last.startswith("nmt: 0 lines translated")
    assert last.endswith("; 20 lines were there\n")


@pytest.mark.parametrize("kept", [0, 2])
def test_nothing_to_translate_is_said_only_when_all_files_were_finished(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: int
) -> None:
    two = [File(files / name, tmp_path / name) for name in ("a.en", "b.en.gz")]
    progress = Progress(two, quiet=False)
    with progress:
        for file in two[:kept]:
            progress.watch().kept(file)
    assert ("nothing to translate" in capsys.readouterr().err) == (kept == 2)


@pytest.mark.parametrize("named", ["run", "run/checkpoints/step-00000100"])
def test_workers_get_whole_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDir.at(Path(named))
    job = Job(
        Config(), run, EngineRequest("torch", "cpu", "auto"), "text", False, "error", quiet=True
    )
    model = model_of(job)
    assert model.run.path == tmp_path / "run"
    assert model.run.checkpoint == (tmp_path / named if run.checkpoint else None)


def test_a_file_of_bad_bytes_is_named_and_the_others_are_done(
    trained: RunDir, files: Path, tmp_path: Path
) -> None:
    (files / "c.en").write_bytes(b"one.\n\xff\n")
    out = tmp_path / "out"
    done = run_nmt("translate", "-m", trained.path, "-i", files / "*.en*", "--output-dir", out)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 3
    assert any(f"warning: {files / 'c.en'}:2: not UTF-8" in line for line in lines)
    assert lines[-1].startswith(f"nmt: not translated: {files / 'c.en'}; their finished parts")
    assert sorted(path.name for path in out.iterdir()) == [".nmt", "a.en", "b.en.gz"]


def test_two_stars_are_folders_of_any_depth_and_a_pipe_is_refused(tmp_path: Path) -> None:
    deepest = tmp_path / "in" / "x" / "y"
    deepest.mkdir(parents=True)
    for folder in (tmp_path / "in", deepest.parent, deepest):
        (folder / f"{folder.name}.en").touch()
    found = translating._expanded(tmp_path / "in" / "**" / "*.en")
    assert [path.name for path in found] == ["in.en", "x.en", "y.en"]
    os.mkfifo(tmp_path / "in" / "pipe.en")
    with pytest.raises(DataError, match=r"pipe.en: is a pipe or a device"):
        translating._expanded(tmp_path / "in" / "*.en")


@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
def test_the_number_of_lines_is_estimated_from_the_start_of_a_file(
    tmp_path: Path, name: str
) -> None:
    text = "".join(f"the number of this line is {number}\n" for number in range(50_000))
    file = tmp_path / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert estimated_lines(file) == pytest.approx(50_000, rel=0.2)


def test_a_file_that_is_damaged_or_empty_has_no_estimate(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"no gzip")
    (tmp_path / "b").touch()
    assert [estimated_lines(tmp_path / name) for name in ("a.gz", "b")] == [0, 0]

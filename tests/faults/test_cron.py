"""`nmt translate` and `nmt evaluate` where nobody is there: no environment, no stdin, nothing to write to, two at once.

Exit codes and their messages: tests/test_cli.py. Records appended at once: tests/evaluation/test_history.py.
"""

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest
import yaml
from conftest import NMT, run_nmt, tiny_config
from loaded import CLOSED, Loaded

from nmt.config.load import dump
from nmt.errors import UserError
from nmt.evaluation.history import append_history
from nmt.run.folder import RunDir

# Other tests run at the same time: more threads would only wait for each other.
BARE = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
WITHOUT_STDIN = ["bash", "-c", 'exec <&-; exec "$@"', "bash"]


def files(folder: Path) -> dict[str, int]:
    """Every file below a folder, and when it was last written."""
    return {
        str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()
    }


def from_cron(command: list[object], home: Path) -> subprocess.CompletedProcess[bytes]:
    """Run it as cron might: `home` is all of the environment that names a folder, and cannot be written to."""
    home.mkdir()
    home.chmod(0o555)
    temporary = home.with_name("temporary")
    temporary.mkdir()
    done = subprocess.run(
        [*WITHOUT_STDIN, *map(str, command)],
        env=BARE | {"TMPDIR": str(temporary)},
        cwd=home,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert list(home.iterdir()) == []
    assert files(temporary) == {}, "neither a cache nor anything else is left"
    return done


def test_evaluating_needs_no_environment_and_says_nothing(trained: RunDir, tmp_path: Path) -> None:
    history, before = tmp_path / "scores.jsonl", files(trained.path)
    reference = (
        tmp_path / "other.zh"
    )  # a translation that is the reference is warned of, even with --quiet
    reference.write_text(trained.text("test", "zh").read_text().replace("。", "！", 1))
    test_set = ["--src", trained.text("test", "en"), "--ref", reference]
    gate = ["--fail-under", "bleu=5", "--history", history]
    done = from_cron(
        [*NMT, "evaluate", "-m", trained.path, "--quiet", *test_set, *gate], tmp_path / "home"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert json.loads(history.read_text())["scores"]["bleu"]["value"] > 5
    assert files(trained.path) == before


def test_translating_needs_no_environment_and_no_stdin(trained: RunDir, tmp_path: Path) -> None:
    before = files(trained.path)
    command = ["translate", "-m", trained.path, "--quiet"]
    process = Loaded(command, CLOSED, stdout=PIPE, stderr=STDOUT, cwd=tmp_path, env=BARE)
    assert process.communicate()[0] == b""
    assert process.returncode == 0
    assert files(trained.path) == before


def test_preparing_with_jieba_leaves_no_cache(corpus: Path, tmp_path: Path) -> None:
    settings = [f"data.path={corpus}", f"run_dir={tmp_path / 'run'}", "tgt.tokenizer=jieba"]
    done = from_cron([*NMT, "build-vocab", *settings], tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert not [path for path in (tmp_path / "run").rglob(".*") if path.name != ".lock"]


def test_a_job_that_overlaps_with_the_one_before_does_not_mix_with_it(
    trained: RunDir, tmp_path: Path
) -> None:
    history, output = tmp_path / "scores.jsonl", tmp_path / "out.zh"
    output.write_text("of the night before")
    os.link(output, tmp_path / "reader")  # who has the file open reads on what it was
    command = ["evaluate", "-m", trained.path, "--quiet", "--overwrite"]
    jobs = [Loaded([*command, "--history", history, "--output", output]) for _ in range(2)]
    assert [job.wait(timeout=120) for job in jobs] == [0, 0]
    first, second = [json.loads(line) for line in history.read_text().splitlines()]
    assert first["scores"] == second["scores"]
    assert len(output.read_text().splitlines()) == 20
    assert (tmp_path / "reader").read_text() == "of the night before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.zh", "reader", "scores.jsonl"]


APPEND = "import sys; from pathlib import Path; from nmt.evaluation.history import append_history; "


def test_a_disk_that_fills_up_midway_takes_no_half_record(tmp_path: Path) -> None:
    history = tmp_path / "history"
    append_history(history, {"n": 1})
    whole = history.read_bytes()
    code = APPEND + "append_history(Path(sys.argv[1]), {'n': 2, 'pad': 'x' * 5000})"
    full = subprocess.run(
        [sys.executable, "-c", code, str(history)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
        check=False,
    )
    assert full.stderr.splitlines()[-1].endswith(
        f"{history}: cannot append the scores (File too large); fix that or change evaluate.history"
    )
    assert history.read_bytes() == whole


def test_a_record_after_a_torn_one_keeps_a_line_of_its_own(tmp_path: Path) -> None:
    history = tmp_path / "history"
    history.write_bytes(b'{"n": 1}\n{"n": ')
    append_history(history, {"n": 2})
    first, torn, second = history.read_text().splitlines()
    assert (first, torn, json.loads(second)["n"]) == ('{"n": 1}', '{"n": ', 2)


def test_a_history_in_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot append the scores"):
        append_history(tmp_path / "file" / "history", {})


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        (["typography"], ""),
        (["typography", "--check"], "1"),
        (["--version"], ""),
        (["--version"], "1"),
    ],
)
def test_a_full_disk_behind_stdout_is_one_line(arguments: list[str], unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*NMT, *arguments],
            input="你好,世界\n".encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    told = "nmt: stdout: cannot be written (No space left on device); free some space, or write elsewhere\n"
    assert (done.returncode, done.stderr.decode()) == (1, told)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_ends_a_short_output_with_141_and_no_word(unbuffered: str) -> None:
    command = (
        f"{{ sleep 1; echo 你好; }} | {' '.join(NMT)} typography | true; echo ${{PIPESTATUS[1]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert (done.stdout, done.stderr) == (b"141\n", b"")


def test_a_file_name_that_is_not_utf8_is_told_and_written(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.zh"
    Path(os.fsdecode(name)).write_text("你好，世界，我在这里。\n", encoding="utf-8")
    files = ["--hyp", os.fsdecode(name), "--ref", os.fsdecode(name)]
    written = ["--history", tmp_path / "history", "--sentences", tmp_path / "table"]
    done = run_nmt("evaluate", *files, "--json", *written)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scores"]["bleu"]["value"] == pytest.approx(100)
    table = (tmp_path / "table").read_text(encoding="utf-8")
    assert table.splitlines()[1].startswith("1\t\\udcff.zh\t100")


# --- the guide's crontab ---


def crontab(folder: Path) -> list[str]:
    """The commands of the crontab in docs/guide/cron.md, in a folder of ours."""
    page = Path(__file__).parents[2] / "docs" / "guide" / "cron.md"
    block = page.read_text(encoding="utf-8").partition("```crontab\n")[2].partition("```")[0]
    lines = [line for line in block.splitlines() if not line.startswith("#")]
    return [line.split(maxsplit=5)[5].replace("/srv/nmt", str(folder)) for line in lines]


def mailed(line: str) -> tuple[int | None, str]:
    """The exit code, and what cron would mail: all that is printed. The line is `cd FOLDER && .venv/bin/nmt ...`."""
    cd, folder, then, program, *arguments = shlex.split(line)
    assert [cd, then, program] == ["cd", "&&", ".venv/bin/nmt"]
    process = Loaded(arguments, stdout=PIPE, stderr=STDOUT, text=True, cwd=Path(folder), env=BARE)
    printed, _ = process.communicate()
    return process.returncode, printed


def test_the_crontab_of_the_guide_mails_failures_and_nothing_else(
    corpus: Path, tmp_path: Path
) -> None:
    config = tmp_path / "configs" / "mine.yaml"
    config.parent.mkdir()
    config.write_text(yaml.safe_dump(dump(tiny_config(corpus, tmp_path / "run"))))
    train, evaluate = crontab(tmp_path)
    assert mailed(train) == (0, "")
    code, mail = mailed(evaluate)
    assert code == 4, "after twenty updates"
    assert mail.startswith("nmt: bleu ")
    assert len(mail.splitlines()) == 1
    assert mailed(train) == (0, "")
    vocabulary = tmp_path / "run" / "vocab.src.tsv"
    vocabulary.write_text(vocabulary.read_text().replace("seven", "Seven"))
    code, mail = mailed(train)
    assert code == 5
    assert "trained with another src vocabulary" in mail
    assert len(mail.splitlines()) == 1

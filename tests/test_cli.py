"""The command line as a whole: help, wrong calls, exit codes."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest
from command_line import invoke

from nmt.__main__ import main as run_program
from nmt.config.schema import SearchConfig, TrainConfig
from nmt.run.folder import RunDir


@pytest.mark.parametrize("command", [[], ["train"]])
def test_help_may_be_a_command(command: list[str]) -> None:
    assert invoke("help", *command).output == invoke(*command, "--help").output


def test_help_names_the_commands_and_version_the_version() -> None:
    text = invoke("--help").output
    assert all(
        name in text
        for name in ("prepare", "build-vocab", "train", "translate", "evaluate", "import")
    )
    assert invoke("--version").output.startswith("nmt 0.")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["translate", "--model", "nowhere"],
            5,
            "nowhere: does not exist; run nmt train, or name another run with --model",
        ),
        (["import", "nodir", "no"], 5, "nodir: no such folder; name a folder, firefox, or a model"),
        (["import", "nodir"], 2, "Missing argument 'DIR'; see nmt import --help"),
        (["import", "nodir", "{corpus}"], 2, "is not empty; name a new or an empty folder"),
        (["translate", "--config", "none.yaml"], 2, "none.yaml: no such file"),
        (
            ["translate", "train.updates=3"],
            2,
            "train.updates=3: a trained model takes only search.*",
        ),
        (
            ["translate", "{corpus}"],
            2,
            " is a folder; name a file in it, or give --input 'FOLDER/*'",
        ),
        (["translate", "-i", "{corpus}/*.en"], 2, "*.en: a pattern needs --output-dir DIR"),
        (
            ["translate", "{corpus}/test.en", "{corpus}/test.zh"],
            2,
            "more than one file to translate; give one, or several as --input 'PATTERN'",
        ),
        (
            ["translate", "{corpus}/test.en", "--input", "{corpus}/test.en"],
            2,
            "more than one file to translate; give one, or several as --input 'PATTERN'",
        ),
        (
            ["translate", "Hello there"],
            2,
            "'Hello there' is not a setting (KEY=VALUE); there is no such file; text is given as echo",
        ),
        (["train", "updates=5"], 2, "unknown key 'updates'; did you mean 'train.updates'?"),
        (["train", "mine.yaml"], 2, "did you mean --config mine.yaml?"),
        (
            ["translate", "--model", "{trained}", "--n-best", "9"],
            2,
            "command line: search.n_best=9 is more than",
        ),
        (
            ["translate", "--model", "{trained}", "--precision", "fp17"],
            2,
            "Invalid value for '--precision': 'fp17' is not one of 'auto', 'fp32', 'bf16', 'fp16'",
        ),
        (
            ["translate", "--device", "gpu"],
            2,
            "--device gpu: must be auto, cpu, mps, cuda or cuda:N",
        ),
        (["translate", "run_dir=runs/a"], 2, "run_dir= goes with --config"),
        (["translat"], 2, "No such command 'translat'. Did you mean 'translate', 'train'?"),
        (["train", "--confg", "x"], 2, "No such option: --confg (Possible options: --config)"),
        (["--version=1"], 2, "Option '--version' does not take a value; see nmt --help"),
        (["--foo"], 2, "No such option: --foo; see nmt --help"),
        (
            ["translate", "--beam-size", "five"],
            2,
            "--beam-size five: must be a whole number from 1",
        ),
        (
            ["translate", "--beam-size", "0"],
            2,
            "--beam-size 0: must be a whole number from 1 to 1,000",
        ),
        (["translate", "--beam-size", ""], 2, "--beam-size '': must be a whole number from 1"),
        (["translate", "--beam-size", "a\nb"], 2, r"--beam-size a\nb: must be a whole number"),
        (["translate", "-i", "a\nb\u2028"], 3, r"a\nb\u2028: no such file"),
        (["prepare", "a\nb"], 2, r"'a\nb' is not of the form"),
        (["translate", "search=3"], 2, "search=3: 'search' is a section; name a setting in it"),
        (
            ["translate", "--beam-size"],
            2,
            "'--beam-size' requires an argument; see nmt translate --help",
        ),
        (["translate", "--max-length", "1.5"], 2, "--max-length 1.5: must be a whole number"),
        (
            ["translate", "--length-penalty", "[1"],
            2,
            "--length-penalty [1: must be a number from 0",
        ),
        (["translate", "--format", "json"], 2, "'--format': 'json' is not one of 'text', 'jsonl'"),
        (
            ["translate", "--verify", "on"],
            2,
            "'--verify': 'on' is not one of 'off', 'flag', 'retry'",
        ),
        (
            ["translate", "--quiet=1"],
            2,
            "'--quiet' does not take a value; see nmt translate --help",
        ),
        (
            ["prepare", "--max-bytes", "1GB"],
            2,
            "--max-bytes 1GB: must be a whole number of at least 1",
        ),
        (["typography", "--spacing", "foo"], 2, "'--spacing': 'foo' is not one of 'keep', 'none'"),
        (["typography", "ty.txt"], 2, "(ty.txt); give a file as --input FILE"),
        (["translate", "--file", "x"], 2, "No such option: --file (Possible options: --input)"),
        (["translate", "--src", "x"], 2, "No such option: --src (Possible options: --input)"),
        (["evaluate", "--input", "x"], 2, "No such option: --input (Possible options: --src)"),
        (["translate", "--beam", "5"], 2, "No such option: --beam (Possible options: --beam-size)"),
        (
            ["train", "--precision", "fp32"],
            2,
            "--precision (Possible options: train.precision=VALUE)",
        ),
        (["train", "--batch-tokens", "9"], 2, "(Possible options: train.batch_tokens=VALUE)"),
        (["translate", "--temperature=2"], 2, "(Possible options: search.temperature=VALUE)"),
        (["evaluate", "--tgt", "x"], 2, "No such option: --tgt (Possible options: --ref)"),
        (["translate", "-x"], 2, "No such option: -x; see nmt translate --help"),
        (["translate", "--zzz"], 2, "No such option: --zzz; see nmt translate --help"),
        (["translate", "-c", "a", "--config", "b"], 2, "--config is given twice; give it once"),
        (
            ["translate", "--beam-size", "5", "search.beam_size=3"],
            2,
            "--beam-size 5 and search.beam_size=3 set the same thing; give one of them",
        ),
        (["translate", "--overwrite"], 2, "--overwrite needs --output FILE"),
        (["translate", "--overwrite", "-o", "-"], 2, "--overwrite needs --output FILE"),
        (["translate", "--resume"], 2, "--resume needs --output FILE"),
        (["evaluate", "--overwrite"], 2, "--overwrite needs --output FILE"),
        (["translate", "evaluate.history=x"], 2, "evaluate.history=x: a trained model takes only"),
        (
            ["translate", "serach.method=sample"],
            2,
            "'serach.method'; did you mean 'search.method'?",
        ),
        (["translate", "beam_size=3"], 2, "key 'beam_size'; did you mean 'search.beam_size'?"),
        (["evaluate", "search.beamsize=3"], 2, "did you mean 'search.beam_size'?"),
        (["evaluate", "out.zh"], 2, "give files as --hyp FILE --ref FILE"),
        (
            ["translate", "-o", "nodir/x"],
            2,
            "nodir/x: there is no folder nodir; make it with mkdir",
        ),
        (["translate", "-o", "{corpus}"], 2, "is a folder; name a file"),
        (["translate", "-o", "{corpus}/test.en"], 2, "test.en: exists already; name another file"),
        (["translate", "-o", "x.zh.gz"], 2, "x.zh.gz: would not be compressed; name x.zh and"),
        (["translate", "-o", "{corpus}/test.en/x"], 2, "test.en is a file, not a folder"),
        (["translate", "-o", "/dev/null", "--overwrite"], 2, "/dev/null: is a device or a pipe"),
        (["translate", "-i", "none.txt"], 3, "none.txt: no such file"),
        (["translate", "-i", "{corpus}"], 3, "is a folder; name a file in it"),
        (["evaluate", "-m", "{trained}", "--history", "{corpus}"], 2, "is a folder; name a file"),
        (["evaluate", "-m", "{trained}", "--history", "no/h"], 2, "there is no folder no; make it"),
        (["evaluate", "-m", "{trained}", "evaluate.history=no/h"], 2, "there is no folder no"),
        (["evaluate", "-m", "{trained}", "--history", "-"], 2, "--history needs a file; --json"),
        (
            ["evaluate", "--output", "-"],
            2,
            "would mix translations and scores on stdout; add --quiet",
        ),
        (["evaluate", "--hyp", "-", "--ref", "-"], 2, "only one file can be - (stdin)"),
        (["prepare", "data.corpora=[{{tsv: {corpus}}}]"], 3, "is a folder; name the files in it"),
        (["prepare", "data.path={corpus}/test.en"], 3, "test.en: is a file; list files under"),
        (["train", "train.updates=0"], 2, "command line: train.updates=0"),
        (["train"], 2, "data.path"),
        (["train", "data.path=missing"], 3, "missing"),
        (["train", "train.device=cuda", "data.path=x"], 2, "device=cuda"),
        (
            ["train", "train.precision=fp16", "data.path={corpus}"],
            2,
            "precision=fp16 needs a CUDA GPU",
        ),
        (["evaluate", "--hyp", "a.zh"], 2, "--hyp needs --ref"),
        (["evaluate", "--hyp", "a.zh", "--ref", "b.zh", "--model", "x"], 2, "leave out --model"),
        (["evaluate", "--hyp", "a.zh", "--ref", "b.zh"], 3, "a.zh: no such file"),
        (
            ["evaluate", "--hyp", "a", "--ref", "b", "--beam-size", "3", "--device", "cpu"],
            2,
            "--hyp is scored as it is: leave out --device and search.beam_size=3",
        ),
        (["evaluate", "--src", "a.en"], 2, "--src and --ref go together"),
        (["evaluate", "--fail-under", "bluе=3"], 2, "unknown metric"),
        (["evaluate", "--fail-below-baseline"], 2, "needs --baseline"),
        (["prepare", "data.path={corpus}", "src.language=fr"], 3, "train.fr"),
    ],
)
def test_a_wrong_call_is_one_line_and_its_exit_code(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    corpus: Path,
    trained: RunDir,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_MODEL", raising=False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = invoke(*(argument.format(corpus=corpus, trained=trained.path) for argument in arguments))
    assert done.exit_code == code, done.output
    assert message in done.stderr
    assert "Traceback" not in done.output
    line, *more = done.stderr.splitlines()
    assert line.startswith("nmt: ")
    if not more or "prepare:" not in done.stderr:  # a stage that had begun says so
        assert more == []
    assert not Path("nodir").exists()
    assert not Path("no").exists()


PAGES = [
    [],
    ["prepare"],
    ["build-vocab"],
    ["train"],
    ["translate"],
    ["typography"],
    ["evaluate"],
    ["import"],
]


@pytest.mark.parametrize("command", PAGES, ids=str)
def test_a_page_of_help_is_whole_and_plain(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = invoke(*command, "--help")
    assert done.exit_code == 0
    assert all(len(line) <= 80 for line in done.output.splitlines())
    _usage, _, rest = done.output.partition("\n")
    assert not re.search(r"<\w+|\.\.\.$|None", rest, re.MULTILINE)
    if command and command not in (["typography"], ["import"]):
        assert re.search(r"^  (FILE\|)?KEY=VALUE  .*[Ss]ettings that", done.output, re.MULTILINE)


def test_help_names_the_choices_of_a_setting_as_the_schema_does() -> None:
    search = SearchConfig.model_fields
    for command in ("translate", "evaluate"):
        text = invoke(command, "--help").output
        for name, field in (
            ("typography", search["typography"]),
            ("verify", search["verify"]),
            ("precision", TrainConfig.model_fields["precision"]),
        ):
            more = ("int8",) if name == "precision" else ()  # on CTranslate2, never in training
            assert f"--{name} [{'|'.join((*get_args(field.annotation), *more))}]" in text


def test_ctrl_c_while_the_program_loads_ends_it_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Loading:
        @property
        def main(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "nmt.cli", Loading())
    with pytest.raises(SystemExit) as ended:
        run_program()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="torch has another OpenMP library there")
@pytest.mark.parametrize(
    ("chosen", "spins"),
    [({}, "30000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")],
)
def test_threads_sleep_sooner_unless_the_environment_says_how_they_wait(
    chosen: dict[str, str], spins: str
) -> None:
    spec = find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    torch = Path(spec.origin).parent
    found = [*torch.glob("lib/libgomp*"), *torch.parent.glob("torch.libs/libgomp*")]
    openmp = str(found[0])  # torch itself takes seconds to load
    code = (
        "import contextlib, ctypes, sys; from nmt.__main__ import main\n"
        "sys.argv = ['nmt', '--version']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        f"ctypes.CDLL({openmp!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**without_waiting(), "OMP_DISPLAY_ENV": "verbose", **chosen},
    )
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr


def without_waiting() -> dict[str, str]:
    """The environment without what it may say about threads that wait."""
    told = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
    return {name: value for name, value in os.environ.items() if name not in told}


def test_no_command_shows_the_help_and_fails() -> None:
    done = invoke()
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Usage: nmt")


def test_home_is_found_in_every_option_that_names_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    told = []
    for arguments in (
        ["translate", "--config=~/c.yaml"],
        ["translate", "--model=~/run"],
        ["translate", "--input=~/in.en"],
        ["translate", "--output=~/no/out.zh"],
        ["typography", "--input=~/in.zh"],
        ["evaluate", "--hyp=~/hyp", "--ref=~/ref"],
        ["evaluate", "--src=~/src", "--ref=~/ref"],
        ["prepare", "run_dir=~/run", "data.path=~/data"],
    ):
        told.append(invoke(*arguments).stderr)
        assert str(tmp_path / "home") in told[-1], told[-1]
        assert "~" not in told[-1]
    assert not (tmp_path / "~").exists()


def start(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a new process; its exit code is 99 if it loads torch."""
    watch = (
        "import atexit, os, sys; atexit.register(lambda: 'torch' in sys.modules and os._exit(99)); "
    )
    command = [sys.executable, "-c", f"{watch}from nmt.cli import main; {code}"]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    )


CALLS = [
    (["--help"], 0),
    (["translate", "--help"], 0),
    (["translate", "--beam-size", "five"], 2),
    (["translate", "serach.method=sample"], 2),
    (["translate", "-o", "/no/where"], 2),
    (["evaluate", "--fali-under", "bleu=3"], 2),
    (["prepare", "train.updates=many"], 2),
]
EACH_CALL = f"""
for arguments, code in {CALLS}:
    sys.argv = ["nmt", *arguments]
    try:
        main()
    except SystemExit as end:
        assert end.code == code, arguments
    assert "torch" not in sys.modules, arguments
"""


def test_help_and_wrong_calls_load_no_torch() -> None:
    done = start(f"exec({EACH_CALL!r})")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("nmt tr", {"train", "translate"}),
        ("nmt translate --bea", {"--beam-size"}),
        ("nmt translate --verify re", {"retry"}),
        ("nmt evaluate --typography ", {"off", "keep", "none", "space"}),
    ],
)
def test_a_shell_completes_commands_options_and_choices_without_torch(
    words: str, offered: set[str], tmp_path: Path
) -> None:
    count = len(words.split(" ")) - 1
    done = start(
        "sys.argv = ['nmt']; main()",
        _NMT_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(count),
        HOME=str(tmp_path),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) == offered
    assert list(tmp_path.iterdir()) == []

"""The commands as a user types them: real processes, real pipes."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NMT, TINY, run_nmt, write_corpus
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.config.load import load_config
from nmt.run_dir import RunDir
from nmt.translate.load import load_translator

SENTENCES = ["one two.", "", "three four five.", "  ", "nine.", "seven one."]


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_help_names_the_five_commands_and_version_the_version() -> None:
    text = invoke("--help").output
    assert all(
        name in text for name in ("prepare", "build-vocab", "train", "translate", "evaluate")
    )
    assert invoke("--version").output.startswith("nmt 0.")


def test_translation_by_pipe_equals_the_library(trained: RunDir, tmp_path: Path) -> None:
    lines = [*SENTENCES, *trained.text("test", "en").read_text().splitlines()]
    done = run_nmt("translate", "--model", trained.path, "--quiet", stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    translator = load_translator(load_config(trained.config), trained)
    assert done.stdout.decode().split("\n")[:-1] == [t.text for t in translator.translate(lines)]
    from_file = tmp_path / "in.txt"
    from_file.write_text("\n".join(lines))  # no line end at the end
    with from_file.open("rb") as file:
        again = subprocess.run(
            [*NMT, "translate", "-m", trained.path], stdin=file, capture_output=True, check=True
        )
    assert again.stdout == done.stdout


def test_lines_end_at_line_feeds_only(trained: RunDir) -> None:
    done = run_nmt("translate", "--model", trained.path, stdin=b"a\n\n  \nb\xe2\x80\xa8c\n")
    assert done.stdout.count(b"\n") == 4
    assert done.stdout.split(b"\n")[1:3] == [b"", b""]


def test_a_typed_line_is_answered_at_once_and_in_order(trained: RunDir) -> None:
    process = subprocess.Popen(
        [*NMT, "translate", "--model", str(trained.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines = ["three.", "", "one two."]
    answers = load_translator(load_config(trained.config), trained).translate(lines)
    for line, answer in zip(lines, [answer.text for answer in answers], strict=True):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert (
            process.stdout.readline().decode() == answer + "\n"
        )  # would hang if it waited for more
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    process.stdout.close()


def test_a_reader_that_goes_away_ends_it_quietly(trained: RunDir, tmp_path: Path) -> None:
    source = tmp_path / "many.txt"
    source.write_text("one two.\n" * 5000)
    command = f"{sys.executable} -m nmt translate -m {trained.path} search.method=greedy < {source} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert done.stdout.decode() == "一，二。\n"
    assert done.stderr == b""


def test_json_lines_and_scores_give_the_n_best(trained: RunDir) -> None:
    done = run_nmt(
        "translate",
        "-m",
        trained.path,
        "--format",
        "jsonl",
        "--n-best",
        2,
        "--beam-size",
        3,
        stdin="one.\n\n",
    )
    first, blank = map(json.loads, done.stdout.decode().splitlines())
    assert first["translation"] == first["n_best"][0]["text"] == "一。"
    assert first["source"] == "one."
    scores = [candidate["score"] for candidate in first["n_best"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 2
    assert blank == {"line": 2, "source": "", "translation": "", "n_best": [], "faults": []}
    table = run_nmt(
        "translate", "-m", trained.path, "--format", "scores", stdin="one.\n\n"
    ).stdout.decode()
    number, score, log_prob, text = table.split("\n")[0].split("\t")
    assert (number, text) == ("1", "一。")
    assert float(log_prob) <= 0
    assert float(score) <= 0
    assert table.split("\n")[1] == "2\t\t\t"


def test_undecodable_input_is_named_by_line_and_byte_after_what_came_before(
    trained: RunDir,
) -> None:
    done = run_nmt("translate", "-m", trained.path, stdin=b"one.\ntwo.\nthr\xffee.\n")
    assert done.returncode == 3
    assert done.stdout.decode() == "一。\n二。\n"
    assert done.stderr.decode().startswith("nmt: stdin:3: not UTF-8 at byte 13")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["translate", "--model", "nowhere"], 5, "nowhere: not a run folder"),
        (["translate"], 5, "no model: nothing was trained in this folder; run nmt train"),
        (["translate", "--config", "none.yaml"], 2, "none.yaml: cannot be read"),
        (
            ["translate", "train.updates=3"],
            2,
            "train.updates=3: a trained model takes only search.* and evaluate.*",
        ),
        (["translate", "--n-best", "3"], 5, "no model"),
        (
            ["translate", "{corpus}/test.en"],
            2,
            "is no KEY=VALUE; files are given as in nmt translate < FILE",
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
            "precision=fp17: no such precision",
        ),
        (["translate", "--model", "{trained}", "--device", "gpu"], 2, "device=gpu: no such device"),
        (["translate", "run_dir=runs/a"], 2, "run_dir= goes with --config"),
        (["translat"], 2, "No such command"),
        (["train", "--confg", "x"], 2, "No such option"),
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
        (["evaluate", "--fail-under", "bluе=3"], 2, "unknown metric"),
        (["evaluate", "--fail-below-baseline"], 2, "needs --baseline"),
        (["prepare", "data.path={corpus}", "src.language=fr"], 3, "train.fr"),
    ],
)
def test_a_wrong_call_is_one_line_and_its_exit_code(
    arguments: list[str],
    code: int,
    told: str,
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
    assert told in done.stderr
    assert "Traceback" not in done.output
    if done.stderr.startswith("nmt:") and code != 2:
        assert done.stderr.splitlines()[-1].startswith("nmt: ")


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


def test_an_interrupt_while_waiting_for_a_line_ends_it_quietly(trained: RunDir) -> None:
    process = subprocess.Popen(
        [*NMT, "translate", "--model", str(trained.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"three.\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.communicate()[1] == b""


def test_a_full_disk_while_saving_is_one_line_and_leaves_what_was_whole(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    settings = [
        f"data.path={corpus}",
        f"run_dir={tmp_path / 'run'}",
        *TINY,
        "train.validate_every=1000",
    ]
    assert run_nmt("train", *settings, "train.updates=2", cwd=tmp_path).returncode == 0
    limit = 200_000  # bytes of a file: less than the model has
    command = [*NMT, "train", *settings, "train.updates=20"]
    full = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    assert full.stderr.splitlines()[-1].startswith(
        "nmt: step-00000010: the checkpoint cannot be written"
    )
    checkpoints = tmp_path / "run" / "checkpoints"
    assert [path.name for path in checkpoints.iterdir()] == ["step-00000002"]
    assert run_nmt("translate", "-m", tmp_path / "run", stdin="one.\n").returncode == 0


def test_interrupting_training_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    settings = [
        f"data.path={corpus}",
        f"run_dir={tmp_path / 'run'}",
        *TINY,
        "train.updates=100000",
        "train.log_every=1",
    ]
    process = subprocess.Popen(
        [*NMT, "train", *settings], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stderr is not None
    while "update 3/" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait(timeout=60) == 130
    process.stderr.close()
    assert "nmt: SIGINT: saved after update" in rest
    saved = int(rest.split("saved after update ")[1].split(";")[0])
    done = run_nmt("train", *settings[:-2], f"train.updates={saved + 1}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"resuming after update {saved}" in done.stderr.decode()


def test_evaluating_a_model_equals_the_sacrebleu_command(trained: RunDir, tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    done = run_nmt(
        "evaluate",
        "--model",
        trained.path,
        "--json",
        "--output",
        output,
        "--history",
        tmp_path / "h.jsonl",
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    reference = trained.text("test", "zh")
    oracle = subprocess.run(
        [
            sys.executable,
            "-m",
            "sacrebleu",
            str(reference),
            "-i",
            str(output),
            "-m",
            "bleu",
            "-tok",
            "zh",
            "-w",
            "4",
            "-b",
        ],
        capture_output=True,
        check=True,
        text=True,
    )
    assert round(result["scores"]["bleu"]["value"], 4) == float(oracle.stdout)
    assert result["model"] == str(trained.path)
    history = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert [record["scores"] for record in history] == [result["scores"]]


def test_the_gate_holds_or_exits_4(tmp_path: Path) -> None:
    reference, good, bad = tmp_path / "ref.zh", tmp_path / "good.zh", tmp_path / "bad.zh"
    lines = [f"我有{n}本书，他有{n + 1}本书。" for n in range(40)]
    reference.write_text("".join(line + "\n" for line in lines))
    good.write_text("".join(line.replace("他", "她") + "\n" for line in lines))
    bad.write_text("".join(line[:4] + "\n" for line in lines))
    common = ["evaluate", "--ref", reference, "--hyp"]
    assert (
        invoke(
            *common, good, "--fail-under", "bleu=50", "--baseline", bad, "--fail-below-baseline"
        ).exit_code
        == 0
    )
    failed = invoke(
        *common, bad, "--fail-under", "bleu=50", "--baseline", good, "--fail-below-baseline"
    )
    assert failed.exit_code == 4
    assert "bleu" in failed.stderr
    short = tmp_path / "short.zh"
    short.write_text("我。\n")
    assert invoke(*common, short).exit_code == 3


# --- typography ---


def test_typography_mends_line_by_line():
    done = run_nmt("typography", stdin="你好,世界.\n\nHello, world.\n用Python写\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "你好，世界。\n\nHello, world.\n用Python写\n"
    spaced = run_nmt("typography", "--spacing", "space", stdin="用Python写\n")
    assert spaced.stdout.decode() == "用 Python 写\n"


def test_typography_checks_and_tells_by_its_exit_code():
    done = run_nmt("typography", "--check", stdin="你好。\n你好,我 是\n")
    assert done.returncode == 4
    assert done.stdout.decode() == (
        "2:3: ',' in Chinese text, write '，'\n2:5: space where Chinese has none\n"
    )
    assert run_nmt("typography", "--check", stdin="你好。\n").returncode == 0


def test_typography_refuses_what_is_not_utf8_and_a_spacing_that_is_not_there():
    done = run_nmt("typography", stdin=b"\xc4\xe3\n")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode().startswith("nmt: stdin:1: not UTF-8 at byte 0")
    done = run_nmt("typography", "--spacing", "wide", stdin="")
    assert done.returncode == 2
    assert "Invalid value for '--spacing'" in done.stderr.decode()
    assert "'wide' is not one of 'keep', 'none', 'space'" in done.stderr.decode()

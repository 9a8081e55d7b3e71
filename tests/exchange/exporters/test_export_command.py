"""nmt export as a user types it: folders that appear whole, and pages whose lines work."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from made_runs import POST, SEPARATE, SHARED, made_run
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.config.load import load_config
from nmt.exchange.exporters import ctranslate2_folder
from nmt.exchange.exporters.exports import TARGETS
from nmt.exchange.exporters.quantization import QUANTIZATIONS
from nmt.run.folder import RunDir
from nmt.text.normalize import normalize
from nmt.translate.opening import load_translator

pytest.importorskip("ctranslate2")

DOCS = Path(__file__).resolve().parents[3] / "docs" / "guide" / "exports.md"
# Searched as other programs search: to the last position, and no blank or repeated line tried again.
GREEDY = ("search.method=greedy", "search.max_ratio=1000")
TEA = "I like tea."


def export(*arguments: object) -> Result:
    """Run the command in this process: torch is loaded already."""
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def refusal(*arguments: object) -> tuple[int, str]:
    """The exit code, and the last line of stderr; the command must not succeed or crash."""
    done = export(*arguments)
    assert done.exit_code != 0
    assert isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A run of words and characters."""
    return made_run(corpus, tmp_path_factory.mktemp("runs") / "words", *GREEDY)


@pytest.fixture(scope="module")
def pieces(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A run with one sentencepiece model."""
    folder = tmp_path_factory.mktemp("runs") / "pieces"
    origin = {
        "licence": "CC-BY-4.0",
        "imported": {"source": "other", "kind": "Marian"},
        "data": "0" * 64,
    }
    return made_run(corpus, folder, *SHARED, *GREEDY, origin=origin)


def greedy(run: RunDir, line: str = TEA) -> str:
    """What our own search makes of a line, without spans, typography or second attempts."""
    translator = load_translator(load_config(run.config), run, "cpu", "fp32")
    found = translator.engine.decode([translator.src.encode(line)], translator.search)
    return translator.tgt.decode(found[0][0].ids)


# --- what is written ---


def test_the_last_line_says_what_was_written_and_how_to_use_it(run: RunDir, tmp_path: Path) -> None:
    done = export("ct2", tmp_path / "ct2", "--model", run.path)
    assert (done.exit_code, done.stdout) == (0, "")
    line = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        rf"nmt: {tmp_path}/ct2: \d+\.\d MB; its README\.md has the lines that use it", line
    )
    assert export("ct2", tmp_path / "quiet", "-m", run.path, "--quiet").stderr == ""


def test_the_record_has_the_checksum_of_every_file_and_the_origin(
    pieces: RunDir, tmp_path: Path
) -> None:
    export("ct2", tmp_path / "ct2", "-m", pieces.path, "--quantize", "int8")
    record = json.loads((tmp_path / "ct2" / "export.json").read_text())
    names = {path.name for path in (tmp_path / "ct2").iterdir()}
    assert names == {*record["sha256"], "export.json"}
    assert names == {
        "README.md",
        "config.json",
        "export.json",
        "model.bin",
        "shared_vocabulary.json",
        "source.spm",
        "target.spm",
    }
    assert (record["numbers"], record["checkpoint"]) == ("int8", "step-00000001")
    assert record["origin"]["licence"] == "CC-BY-4.0"


def test_the_page_names_no_folder_of_this_machine(corpus: Path, tmp_path: Path) -> None:
    imported = {"imported": {"source": "/home/jane/models/opus", "revision": None}}
    started = {"checkpoint": "/home/jane/runs/a/checkpoints/step-00000007", "origin": imported}
    run = made_run(corpus, tmp_path / "run", *SHARED, *GREEDY, origin={"started_from": started})
    export("hf", tmp_path / "out", "-m", run.path)
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "- started_from.checkpoint: a/step-00000007\n" in readme
    assert "- started_from.origin.imported.source: opus\n" in readme
    assert "jane" not in readme


@pytest.mark.parametrize("target", ["ct2", "hf", "argos"])
def test_the_page_names_checkpoint_origin_and_licence(
    target: str, pieces: RunDir, tmp_path: Path
) -> None:
    export(target, tmp_path / "out", "-m", pieces.path)
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "from the run `pieces`, checkpoint `step-00000001`." in readme
    assert "- licence: CC-BY-4.0\n- imported.source: other\n- imported.kind: Marian\n" in readme
    assert "0" * 64 not in readme
    assert "hides URLs, code and the like" in readme


def test_the_export_of_a_copied_run_is_the_same_byte_for_byte(
    pieces: RunDir, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        export("argos", tmp_path / name, "-m", pieces.path)
    one, two = (tmp_path / name / "translate-en_zh-1_0.argosmodel" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


# --- the lines of the pages ---


def run_lines(page: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the Python of a page prints, cleaned as nmt cleans text."""
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "README.md", "exec"), {})  # noqa: S102 - our own page
    return normalize(capsys.readouterr().out, "zh")


@pytest.mark.filterwarnings("ignore:Recommended")
@pytest.mark.parametrize("target", ["ct2", "hf"])
@pytest.mark.parametrize(
    "overrides",
    [
        (),
        SHARED,
        (*SEPARATE, *POST, "src.prefix=['>>cmn<<']", "src.lowercase=true"),
        (*SEPARATE, "src.prefix=[to, zh]"),
    ],
    ids=["words", "shared", "prefix", "long prefix"],
)
def test_the_lines_of_the_page_translate_as_nmt_does(
    target: str,
    overrides: tuple[str, ...],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if target == "hf":
        pytest.importorskip("transformers")
    made = made_run(corpus, tmp_path / "run", *overrides, *GREEDY)
    assert export(target, tmp_path / "out", "-m", made.path).exit_code == 0
    monkeypatch.chdir(tmp_path / "out")
    page = Path("README.md").read_text().replace('Path("RUN")', f"Path({str(made.path)!r})")
    printed = run_lines(page, capsys)
    assert printed == greedy(made)


def test_every_target_has_its_types_and_a_row_in_the_documentation() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert set(TARGETS) == set(QUANTIZATIONS)
    for target in TARGETS:
        assert f"| `{target} DIR` |" in text


def test_the_examples_of_the_documentation_work(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    made_run(corpus, Path("runs/subword"), *SHARED, *GREEDY, "model.max_length=256")
    _, _, section = DOCS.read_text(encoding="utf-8").partition("\nThe examples below")
    section = section.partition("\n## For Firefox's engines\n")[0]
    commands = re.findall(r"^nmt export (.*)$", section, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["ct2", "hf", "argos"]
    for command in commands:
        assert export(*command.replace("--quantize int8", "").split()).exit_code == 0
    ct2, hf, argos = re.findall(r"```python\n.*?```", section, re.DOTALL)
    with pytest.warns(UserWarning, match="sacremoses"):
        texts = [run_lines(page, capsys) for page in (ct2.replace("=5", "=1"), hf)]
    assert texts == [greedy(RunDir(Path("runs/subword")))] * 2
    package = re.search(r'install_from_path\("(.*)"\)', argos)
    assert package is not None
    assert zipfile.is_zipfile(package[1])


# --- what is refused ---


def test_a_folder_that_exists_is_refused_and_only_an_export_is_overwritten(
    run: RunDir, tmp_path: Path
) -> None:
    folder = tmp_path / "ct2"
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("dear")
    assert export("ct2", folder, "-m", run.path).exit_code == 0

    taken = (2, f"nmt: {folder}: is not empty; name another folder, or --overwrite it")
    assert refusal("ct2", folder, "-m", run.path) == taken
    assert export("hf", folder, "-m", run.path, "--overwrite").exit_code == 0
    assert not (folder / "model.bin").exists()

    fix = "it is not as nmt exported it: move it away, or name another folder"
    not_ours = (2, f"nmt: {mine}: is not empty; {fix}")
    assert refusal("ct2", mine, "-m", run.path, "--overwrite") == not_ours
    assert (mine / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize(
    "change", ["added", "changed", "deleted", "linked", "folder", "pipe", "no record"]
)
def test_an_export_that_was_changed_is_the_users(change: str, run: RunDir, tmp_path: Path) -> None:
    folder = tmp_path / "ct2"
    export("ct2", folder, "-m", run.path)
    if change == "added":
        (folder / "notes.txt").write_text("mine")
    elif change == "changed":
        (folder / "README.md").write_text("mine")
    elif change == "deleted":
        (folder / "README.md").unlink()
    elif change == "linked":
        (folder / "link").symlink_to(tmp_path)
    elif change == "folder":
        (folder / "empty").mkdir()
    elif change == "pipe":
        (folder / "export.json").unlink()
        os.mkfifo(folder / "export.json")
    else:
        (folder / "export.json").write_text("[]")
    before = sorted(path.name for path in folder.iterdir())
    code, line = refusal("ct2", folder, "-m", run.path, "--overwrite")
    assert code == 2
    assert "not as nmt exported it" in line
    assert sorted(path.name for path in folder.iterdir()) == before


def test_what_is_no_folder_is_refused(run: RunDir, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for path in (file, link):
        assert refusal("ct2", path, "-m", run.path)[0] == 2
        assert refusal("ct2", path, "-m", run.path, "--overwrite")[0] == 2
    assert refusal("ct2", file / "inner", "-m", run.path) == (
        2,
        f"nmt: {file}: there is a file where a folder is needed; name another folder",
    )
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("target", "overrides", "named"),
    [
        ("ct2", ("model.norm=post", "model.final_norm=true"), "model.norm=post with model.final_"),
        ("hf", ("model.activation=swiglu",), "model.activation=swiglu: neither Marian nor Pegasus"),
        ("argos", (), "src.tokenizer=whitespace and tgt.tokenizer=char: Argos Translate takes one"),
        ("argos", SEPARATE, "the sides have two sentencepiece models: Argos Translate takes one"),
        ("argos", (*SHARED, "src.prefix=[to]"), "src.prefix=to: Argos Translate puts nothing"),
        (
            "argos",
            (*SHARED, "src.lowercase=true", "tgt.lowercase=true"),
            "src.lowercase=true: Argos Translate does not put text in lower case",
        ),
        (
            "argos",
            (*SHARED, "src.recase=true"),
            "src.recase=true: Argos Translate does not put words in another case",
        ),
        ("argos", (*SHARED, "src.detach=true"), "src.detach=true: Argos Translate does not set"),
    ],
)
def test_what_the_program_has_no_place_for_is_refused_in_one_line_and_leaves_nothing(
    target: str, overrides: tuple[str, ...], named: str, corpus: Path, tmp_path: Path
) -> None:
    made = made_run(corpus, tmp_path / "run", *overrides)
    code, line = refusal(target, tmp_path / "new" / "out", "-m", made.path)
    assert (code, line[: len(named) + 5]) == (5, f"nmt: {named}")
    assert not (tmp_path / "new").exists()


def test_mistakes_on_the_command_line_are_named(run: RunDir, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert refusal("hf", out, "-m", run.path, "--quantize", "int8")[0] == 2
    code, line = refusal("ct2", out, "-m", run.path, "--quantize", "int4")
    assert (code, "'int4' is not one of 'int8', " in line) == (2, True)
    assert refusal("onnx", out)[1].startswith(
        "nmt: command line: Invalid value for 'nmt|ct2|hf|argos|firefox|page': 'onnx'"
    )
    assert refusal("ct2")[1].startswith("nmt: command line: Missing argument 'DIR'; see ")
    assert refusal("ct2", out, "-m", tmp_path / "nowhere")[0] == 5


def test_the_run_is_found_as_nmt_translate_finds_it(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NMT_MODEL", str(run.path))
    assert export("ct2", "of-variable").exit_code == 0
    monkeypatch.delenv("NMT_MODEL")
    assert export("ct2", "of-config", "-c", run.config).exit_code == 0
    checkpoint = run.checkpoints / "step-00000001"
    assert export("ct2", "of-checkpoint", "-m", checkpoint).exit_code == 0
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "latest").write_text(f"{run.path}\n")
    assert export("ct2", "of-latest").exit_code == 0
    assert len(list(tmp_path.glob("of-*/model.bin"))) == 4


def test_a_damaged_checkpoint_is_exit_5(corpus: Path, tmp_path: Path) -> None:
    made = made_run(corpus, tmp_path / "run")
    weights = made.checkpoints / "step-00000001" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert refusal("ct2", tmp_path / "out", "-m", made.path)[0] == 5
    assert not (tmp_path / "out").exists()


def test_without_ctranslate2_the_fix_is_named(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    code, line = refusal("ct2", tmp_path / "out", "-m", run.path)
    assert (code, line) == (
        2,
        "nmt: CTranslate2 is not installed; run pip install ctranslate2",
    )


def test_a_ctranslate2_that_cannot_be_loaded_is_told(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "library"
    broken.mkdir()
    (broken / "ctranslate2.py").write_text("raise ImportError('libgomp.so.1: not found')\n")
    monkeypatch.delitem(sys.modules, "ctranslate2", raising=False)
    monkeypatch.syspath_prepend(broken)
    code, line = refusal("ct2", tmp_path / "out", "-m", run.path)
    assert code == 2
    assert line.startswith("nmt: CTranslate2 cannot be loaded (libgomp.so.1: not found); reinstall")


def test_an_export_that_fails_leaves_the_one_before_as_it_was(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ct2"
    export("ct2", folder, "-m", run.path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def fail(_trained: object, folder: Path, _quantization: str) -> None:
        (folder / "model.bin").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ctranslate2_folder, "write_model", fail)
    code, line = refusal("ct2", folder, "-m", run.path, "--overwrite")
    assert (code, "No space left" in line) == (1, True)
    assert refusal("ct2", tmp_path / "new", "-m", run.path)[0] == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["ct2"]


# --- the process ---


def test_the_page_of_help_is_whole_and_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    help_page = export("--help").output
    assert all(len(line) <= 80 for line in help_page.splitlines())
    assert not re.search(r"<\w+|None", help_page)
    assert re.search(r"^  nmt\|ct2\|hf\|argos\|firefox\|page  ", help_page, re.MULTILINE)


def test_reading_an_export_loads_no_torch() -> None:
    code = (
        "import sys, ctranslate2, nmt.exchange.exporters.tokens;"
        "import nmt.exchange.exporters.ctranslate2, nmt.commands.export;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

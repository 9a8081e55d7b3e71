"""Files from strangers: nothing of theirs is executed, nothing is written elsewhere, and nothing grows without end.

A damaged or truncated file of each kind: the tests of the module that reads it. Stores: tests/corpus/test_store.py.
"""

import gzip
import importlib
import json
import os
import pickle
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
import torch
from conftest import run_nmt
from typer.testing import CliRunner

from nmt.cli import app
from nmt.commands.shell.trained_run import find_run
from nmt.config.load import load_config
from nmt.corpus.encoding.store import Block, ParallelCorpus, write_store
from nmt.corpus.reading.lines import read_lines
from nmt.errors import ConfigError, DataError, ModelError, UserError
from nmt.files import locked, read_json
from nmt.machine.workers import map_chunks
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.text.normalize import normalize
from nmt.text.tokenizers import Jieba
from nmt.text.vocab import Vocab
from nmt.translate.opening import load_translator

SCRIPTS = Path(__file__).parents[2] / "scripts"


class Trap:
    """Pickled, it creates a file when it is unpickled by what executes pickles."""

    def __init__(self, sprung: Path) -> None:
        self.sprung = sprung

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.sprung,)


@pytest.fixture
def stranger(trained: RunDir, tmp_path: Path) -> RunDir:
    """A run that came from somebody else."""
    shutil.copytree(trained.path, tmp_path / "run")
    return RunDir(tmp_path / "run")


@pytest.fixture(autouse=True)
def _hangs_end() -> Iterator[None]:
    signal.alarm(120)
    yield
    signal.alarm(0)


def sign(folder: Path) -> None:
    """Checksums that fit: a stranger can write those as well."""
    meta = json.loads((folder / "meta.json").read_text())
    meta.pop("seal", None)  # a stranger leaves it out
    meta["sha256"] = {name: checkpoint.checksum(folder / name) for name in meta["sha256"]}
    (folder / "meta.json").write_text(json.dumps(meta))


def best(run: RunDir) -> Path:
    folder = checkpoint.best(run)
    assert folder is not None
    return folder


# --- code ---


def test_a_pickle_in_the_training_state_is_refused_and_not_run(
    stranger: RunDir, tmp_path: Path
) -> None:
    folder, sprung = best(stranger), tmp_path / "sprung"
    torch.save({"optimizer": Trap(sprung)}, folder / "training.pt")
    sign(folder)
    with pytest.raises(ModelError, match=r"training\.pt: not the training state"):
        checkpoint.load_training(folder)
    assert not sprung.exists()
    torch.load(folder / "training.pt", weights_only=False)  # to see that the trap is one
    assert sprung.exists()


@pytest.mark.parametrize("name", ["training.pt", "model.safetensors"])
def test_a_bare_pickle_is_refused_and_not_run(stranger: RunDir, tmp_path: Path, name: str) -> None:
    folder, sprung = best(stranger), tmp_path / "sprung"
    (folder / name).write_bytes(pickle.dumps(Trap(sprung)))
    sign(folder)
    with pytest.raises(ModelError, match="not "):
        (checkpoint.load_training if name == "training.pt" else checkpoint.load_weights)(folder)
    assert not sprung.exists()


@pytest.mark.parametrize("key", ["run_dir: ", "src: {language: ", "? "])
def test_yaml_that_makes_objects_is_refused_and_not_run(tmp_path: Path, key: str) -> None:
    sprung, path = tmp_path / "sprung", tmp_path / "x.yaml"
    path.write_text(
        f"{key}!!python/object/apply:os.system ['touch {sprung}']" + "}" * key.count("{") + "\n"
    )
    with pytest.raises(
        ConfigError, match=r"x\.yaml:1: not valid YAML \(could not determine a constructor"
    ):
        load_config(path)
    with pytest.raises(ConfigError, match="is not a YAML value"):
        load_config(None, [f"run_dir=!!python/object/apply:os.system ['touch {sprung}']"])
    assert not sprung.exists()


# --- what would be written elsewhere ---


@pytest.mark.parametrize(
    "name", [".lock", "train.log", "metrics.jsonl", "checkpoints", "validation", "best"]
)
def test_nothing_is_written_through_a_link(stranger: RunDir, tmp_path: Path, name: str) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "file").write_text("mine\n")
    path = stranger.path / name
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(mine if name in ("checkpoints", "validation") else mine / "file")
    with (
        pytest.raises(
            UserError, match=f"{name}: a link, through which files elsewhere would be written"
        ),
        locked(stranger.path, stranger.places()),
    ):
        pass
    assert (mine / "file").read_text() == "mine\n"


def test_a_run_folder_that_is_itself_a_link_can_be_written_to(
    stranger: RunDir, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(stranger.path)
    with locked(tmp_path / "link", RunDir(tmp_path / "link").places()):
        pass


def configure(run: RunDir, name: str, value: object) -> None:
    """Change a setting of a run's own configuration that is null."""
    text = run.config.read_text().replace(f"{name}: null", f"{name}: {value}")
    run.config.write_text(text)


# Of the last one, a part lies in the run, and it is a link that leads out of it.
ELSEWHERE = ["/tmp/x", "../x", "run/../x", ".bashrc", ".git/hooks/pre-commit", "run/x"]  # noqa: S108


def naming(
    run: RunDir, setting: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go to a folder where a run has this name in a setting, and a link that leads out of it."""
    monkeypatch.chdir(folder)
    configure(run, setting, name)
    (run.path / "x").symlink_to(folder / "mine")


@pytest.mark.parametrize("history", ELSEWHERE)
def test_a_history_that_a_run_names_stays_in_the_run(
    stranger: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, history: str
) -> None:
    naming(stranger, "history", history, tmp_path, monkeypatch)
    done = CliRunner().invoke(app, ["evaluate", "-m", str(stranger.path)])
    message = f"config.yaml: evaluate.history={history} is outside the run's folder"
    assert (done.exit_code, message in done.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_history_in_the_run_is_written_and_any_that_the_user_names(
    stranger: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    configure(stranger, "history", "run/scores.jsonl")
    ask = ["evaluate", "-m", "run", "-q"]
    assert CliRunner().invoke(app, ask).exit_code == 0
    assert (stranger.path / "scores.jsonl").is_file()
    config = Path(shutil.copy(stranger.config, "my.yaml"))
    config.write_text(config.read_text().replace("run/scores.jsonl", "c"))
    for named in (["--history", "a"], ["evaluate.history=b"], ["--config", "my.yaml"]):
        assert CliRunner().invoke(app, [*ask, *named]).exit_code == 0
    assert all(Path(name).is_file() for name in "abc")


@pytest.mark.parametrize("memory", ELSEWHERE)
def test_a_memory_that_a_run_names_stays_in_the_run(
    stranger: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    naming(stranger, "memory", memory, tmp_path, monkeypatch)
    message = f"search.memory={memory} is outside the run's folder"
    for command in ("translate", "evaluate"):
        done = CliRunner().invoke(app, [command, "--model", str(stranger.path)])
        assert (done.exit_code, message in done.stderr) == (2, True)
    mine = ["--memory", str(tmp_path / "absent.tsv")]
    done = CliRunner().invoke(app, ["translate", "--model", str(stranger.path), *mine])
    assert (done.exit_code, "outside" in done.stderr) == (3, False)


@pytest.mark.parametrize(
    "name", ["../../elsewhere", "/elsewhere", "step-00000600/../../../elsewhere", "."]
)
def test_the_best_checkpoint_is_one_of_the_runs_own(
    stranger: RunDir, tmp_path: Path, name: str
) -> None:
    shutil.copytree(best(stranger), tmp_path / "elsewhere")
    stranger.best.write_text(name)
    assert checkpoint.best(stranger) is None


@pytest.mark.parametrize("setting", ["src.language=../x", "tgt.language=/etc", "src.language=a/b"])
def test_a_language_is_no_path(setting: str) -> None:
    with pytest.raises(ConfigError, match="language="):
        load_config(None, [setting])


def test_a_message_does_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text('"\\e]0;owned\\a\\u202e": 1\n')
    done = run_nmt("prepare", "--config", tmp_path / "x.yaml")
    assert done.returncode == 2
    assert b"unknown key '\\x1b]0;owned\\x07\\u202e'" in done.stderr


# --- what would never end ---


@pytest.mark.parametrize(
    "setting",
    [
        "model.encoder_layers=1000000000",
        "model.d_model=1000000000",
        "model.d_ff=1000000000",
        "model.max_length=1000000000",
        "search.beam_size=1000000000",
        "search.max_ratio=1e300",
        "search.length_penalty=1e300",
        "search.temperature=1e-300",
        "train.updates=0x" + "f" * 5000,
        "train.updates=" + "many" * 5000,
    ],
)
def test_a_setting_that_would_fill_the_memory_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match="command line: ") as caught:
        load_config(None, [setting])
    assert len(str(caught.value)) < 300


def test_a_configuration_larger_than_the_weights_allocates_nothing(stranger: RunDir) -> None:
    text = (
        stranger.config.read_text()
        .replace("d_model: 64", "d_model: 131072")
        .replace("d_ff: 64", "d_ff: 131072")
    )
    stranger.config.write_text(text)  # 800 GB
    config, run = find_run(stranger.path, None, [])
    with pytest.raises(ModelError, match=r"has shape .* the configuration makes it"):
        load_translator(config, run)


def test_aliases_that_stand_for_billions_of_items_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (tmp_path / "x.yaml").write_text("\n".join(lines))
    with pytest.raises(
        ConfigError, match=r"x\.yaml:1: more than 20,000 keys and items; aliases repeat too much"
    ):
        load_config(tmp_path / "x.yaml")


def sparse(path: Path, size: int = 2**40) -> None:
    """A file of as many zeros, which takes no room on the disk, nor in an archive."""
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize(
    "name", ["config.yaml", "vocab.src.tsv", "best", "checkpoints/step-00000600/meta.json"]
)
def test_an_endless_file_in_a_run_is_refused(stranger: RunDir, name: str) -> None:
    sparse(stranger.path / name)
    told: list[str] = []
    with (
        suppress(UserError)
        if name.startswith(("best", "check"))
        else pytest.raises(UserError, match="larger than")
    ):
        load_translator(*find_run(stranger.path, None, []), warn=told.append)
    assert all(
        "larger than" in warning or "names a checkpoint that is not there" in warning
        for warning in told
    )


@pytest.mark.parametrize("name", ["vocab.src.tsv", "best", "checkpoints/extra"])
def test_a_pipe_or_a_device_in_a_run_is_not_waited_for(stranger: RunDir, name: str) -> None:
    path = stranger.path / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(ModelError, match=f"{name}: neither a file nor a folder"):
        find_run(stranger.path, None, [])
    with (
        pytest.raises(ModelError, match=f"{name}: neither a file nor a folder"),
        locked(stranger.path, stranger.places()),
    ):
        pass
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(ModelError, match=f"{name}: neither a file nor a folder"):
        find_run(stranger.path, None, [])


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 1j])
def test_weights_that_are_no_numbers_are_refused(factor: complex, tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2)
    weights = {name: tensor * factor for name, tensor in checkpoint.parameters_of(model).items()}
    with pytest.raises(
        ModelError,
        match="'weight' holds values that are not finite numbers; use another checkpoint",
    ):
        checkpoint.put_weights(model, weights, tmp_path)


def test_a_safetensors_header_that_lies_is_refused(stranger: RunDir) -> None:
    folder = best(stranger)
    tensor = {"dtype": "F32", "shape": [2**20, 2**20], "data_offsets": [0, 2**42]}
    header = json.dumps({"src_embedding.tokens.weight": tensor}).encode()
    for data in (
        struct.pack("<Q", len(header)) + header + b"\0" * 64,
        struct.pack("<Q", 2**60) + header,
    ):
        (folder / "model.safetensors").write_bytes(data)
        sign(folder)
        with pytest.raises(ModelError, match="not whole safetensors"):
            checkpoint.load_weights(folder)


def test_a_training_state_that_would_unzip_to_more_than_its_size_is_refused(
    stranger: RunDir,
) -> None:
    folder = best(stranger)
    path = folder / "training.pt"
    with zipfile.ZipFile(path) as whole:
        parts = {entry.filename: whole.read(entry) for entry in whole.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        for name, data in parts.items():
            bomb.writestr(name, data)
        bomb.writestr("archive/data/bomb", b"\0" * 10**8)
    sign(folder)
    with pytest.raises(ModelError, match=r"says that it holds 1.* bytes, more than its size"):
        checkpoint.load_training(folder)


def test_a_store_whose_offsets_lie_is_refused(tmp_path: Path) -> None:
    import numpy as np

    block = Block(np.array([5, 6, 8]), np.array([7, 9, 4]), np.array([(2, 1), (1, 2)]))
    write_store(tmp_path / "store", [block], (10, 10), ("a", "b"))
    for middle in (-1, 3 + 2**32, 2**62):
        np.save(tmp_path / "store" / "offsets.npy", np.array([[0, 0], [middle, 1], [3, 3]]))
        with pytest.raises(ModelError, match="sentences overlap"):
            _ = ParallelCorpus(tmp_path / "store").lengths
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
    header += (
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000, 2), }".ljust(117)
        + b"\n"
    )
    (tmp_path / "store" / "offsets.npy").write_bytes(header)
    with pytest.raises(ModelError, match="missing or damaged"):
        ParallelCorpus(tmp_path / "store")


def test_numbers_and_brackets_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[" * 10**6)
    with pytest.raises(ModelError, match=r"x\.json: damaged"):
        read_json(tmp_path / "x.json")
    (tmp_path / "v.tsv").write_text(
        "<pad>\t0\n<unk>\t0\n<bos>\t0\n<eos>\t0\nx\t" + "9" * 5000 + "\n"
    )
    with pytest.raises(ModelError, match=r"v\.tsv:5: not of the form"):
        Vocab.load(tmp_path / "v.tsv")


def test_a_gzip_bomb_is_refused_in_one_line(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.tsv.gz"
    bomb.write_bytes(gzip.compress(b"a b c.\t\xe4\xb8\x80\n" * 40_000))
    assert bomb.stat().st_size < 10_000
    settings = [f"data.corpora=[{{tsv: {bomb}}}]", f"run_dir={tmp_path / 'run'}"]
    done = run_nmt("prepare", *settings, "--max-bytes", 100_000)
    told = f"nmt: {bomb}: more than 100,000 bytes unzipped; if this is intended, raise data.max_bytes\n"
    assert (done.returncode, done.stderr.decode()) == (3, told)
    assert not list((tmp_path / "run").rglob("train.*"))


def test_an_endless_line_in_a_gzip_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"\0" * 2**25))
    with pytest.raises(DataError, match=r"bomb\.gz:1: a line of more than 4,194,304 bytes"):
        list(read_lines(bomb))


def test_long_lines_are_not_gathered_by_their_number() -> None:
    """A chunk of lines is sized in characters too: 50,000 lines of a megabyte would be 50 GB."""
    taken = 0

    def lines() -> Iterator[str]:
        nonlocal taken
        while taken < 200:
            taken += 1
            yield "x" * 10**6

    assert next(map_chunks(len, lines(), workers=1, size=len)) <= 50
    assert taken <= 110


def test_a_heap_of_combining_marks_is_cut_and_short_ones_are_not() -> None:
    assert normalize("e" + "\u0315\u0300" * 250_000 + "x", "en")[-1] == "x"
    assert normalize("e" + "\u0315\u0300" * 20, "en") == normalize(
        "e" + "\u0300" * 20 + "\u0315" * 20, "en"
    )


def test_a_long_run_of_unlisted_characters_is_cut_into_words_in_time() -> None:
    text = "锟" * 100_000
    assert Jieba().decode(Jieba().encode(text)) == text


# --- at random ---


def fuzz() -> ModuleType:
    if str(SCRIPTS) not in sys.path:  # as it is when the script is run
        sys.path.insert(0, str(SCRIPTS))
    return importlib.import_module("fuzz")


@pytest.mark.parametrize("name", fuzz().FORMATS)
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_file_gives_a_right_result_or_a_message(name: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # short: a name that is damaged may not become too long
        assert sum(fuzz().trials(name, 50, 2, Path(folder))) > 0


@pytest.mark.slow
def test_a_hundred_thousand_damaged_files_of_each_format() -> None:
    signal.alarm(3600)  # instead of the two minutes that other tests have
    done = subprocess.run(
        [sys.executable, SCRIPTS / "fuzz.py", "--inputs", "100000"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()

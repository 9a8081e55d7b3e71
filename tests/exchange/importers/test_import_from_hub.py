"""`nmt import owner/name`, from a server on this machine that answers as the hub does."""

import shutil
from pathlib import Path

import huggingface_hub
import marians
import pytest
import torch
from safetensors.torch import load_file
from stand_in_hub import COMMIT, be_hub, stand_in_hub

from nmt.errors import ModelError, print_nothing
from nmt.exchange.importers.importing import import_run
from nmt.files import checksum
from nmt.run import checkpoint
from nmt.run.folder import RunDir

NAME = "Helsinki-NLP/opus-mt-en-zh"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What such a folder on the hub holds, and more than is needed."""
    folder = tmp_path_factory.mktemp("served")
    marians.make(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# opus-mt-en-zh\n")
    for name in ("pytorch_model.bin", "tf_model.h5", "rust_model.ot", "benchmark_results.txt"):
        (folder / name).write_bytes(b"not needed")
    return folder


def test_the_files_that_are_needed_are_fetched_and_written_down(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with stand_in_hub(served, NAME) as hub:
        be_hub(hub.url, monkeypatch)
        import_run(NAME, tmp_path / "run", None, "v1", lines.append)
    needed = {"config.json", "tokenizer_config.json", "vocab.json", "README.md"}
    assert set(hub.fetched) == needed | {"source.spm", "target.spm", "model.safetensors"}
    assert lines[0].startswith(f"nmt: {NAME} at {COMMIT}: Hugging Face MarianMT")
    assert "nmt: licence: apache-2.0" in lines
    provenance = checkpoint.read_meta(RunDir(tmp_path / "run").steps()[0]).provenance
    assert provenance.licence == "apache-2.0"
    kept = provenance.imported
    assert kept is not None
    assert (kept.source, kept.revision) == (NAME, COMMIT)
    assert kept.sha256["model.safetensors"] == checksum(served / "model.safetensors")


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
@pytest.mark.parametrize("revision", [None, "v1", COMMIT])
def test_what_was_fetched_once_is_imported_without_the_hub(
    weights: str,
    revision: str | None,
    served: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "served"
    shutil.copytree(served, folder, ignore=shutil.ignore_patterns("pytorch_model.bin"))
    if weights != "model.safetensors":
        torch.save(load_file(folder / "model.safetensors"), folder / weights)
        (folder / "model.safetensors").unlink()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with stand_in_hub(folder, NAME) as hub:
        be_hub(hub.url, monkeypatch)
        import_run(NAME, tmp_path / "online", None, revision, print_nothing)
        assert weights in hub.fetched
    be_hub("http://127.0.0.1:9", monkeypatch)
    import_run(NAME, tmp_path / "offline", None, revision, print_nothing)
    online, offline = (
        checkpoint.read_meta(RunDir(tmp_path / name).steps()[0]) for name in ("online", "offline")
    )
    assert online == offline


def test_a_model_without_weights_is_named(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "served"
    shutil.copytree(served, folder, ignore=shutil.ignore_patterns("*model.*"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with stand_in_hub(folder, NAME) as hub:
        be_hub(hub.url, monkeypatch)
        message = f"{NAME} at {COMMIT}: has no model.safetensors or pytorch_model.bin"
        with pytest.raises(ModelError, match=message):
            import_run(NAME, tmp_path / "run", None, None, print_nothing)


@pytest.mark.parametrize(
    ("name", "revision", "reason"),
    [
        (NAME, "v2", "404"),
        ("nobody/nothing", None, "404"),
        ("nobody/nothing", "offline", "refused|Connect"),
    ],
)
def test_what_the_hub_does_not_give_is_told_in_one_line(
    name: str,
    revision: str | None,
    reason: str,
    served: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with stand_in_hub(served, NAME) as hub:
        url = hub.url if revision != "offline" else "http://127.0.0.1:9"
        be_hub(url, monkeypatch)
        with pytest.raises(ModelError, match=rf"{name}: cannot be fetched \(.*({reason})") as error:
            import_run(name, tmp_path / "run", None, revision, print_nothing)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()

"""`nmt import firefox`, from a server on this machine with a list and files as Mozilla's."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import run_nmt
from made_runs import POST, SEPARATE, exported, made_run
from stand_in_bucket import Bucket, stand_in_bucket

from nmt.errors import ConfigError, ModelError, print_nothing
from nmt.exchange import fetching
from nmt.exchange.importers.fields import Fields
from nmt.exchange.importers.firefox_models import newest
from nmt.exchange.importers.importing import import_run
from nmt.run import checkpoint
from nmt.run.folder import RunDir

SSRU = (
    *(*SEPARATE, *POST, "model.tie_embeddings=target", "model.decoder=ssru"),
    *("model.d_model=64", "model.heads=4", "model.d_ff=64"),
)
MODEL = "model.enzh.intgemm.alphas.bin.gz"
SIZE = 20_000  # bytes at least of the packed model
Listed = dict[str, Any]


@pytest.fixture(scope="module")
def exported_model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model")
    return exported("firefox", made_run(corpus, place / "run", *SSRU), place / "exported")


@pytest.fixture
def bucket(
    exported_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bucket]:
    """A server of its packed files, and a cache of its own."""
    folder = tmp_path / "served"
    (folder / "v1").mkdir(parents=True)
    for path in exported_model.glob("*enzh*"):
        (folder / "v1" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with stand_in_bucket(folder) as server:
        monkeypatch.setenv("NMT_FIREFOX_MODELS", f"{server.url}/models.json")
        write_list(server, entry(exported_model))
        yield server


def entry(exported_model: Path, **changes: object) -> Listed:
    metadata = json.loads((exported_model / "metadata.json").read_text())
    files = {
        "model": {"path": f"v1/{MODEL}"},
        "srcVocab": {"path": "v1/srcvocab.enzh.spm.gz"},
        "trgVocab": {"path": "v1/trgvocab.enzh.spm.gz"},
        "lexicalShortlist": {"path": "v1/lex.50.50.enzh.s2t.bin.gz"},
    }
    return {
        "releaseStatus": "Release",
        "architecture": "base-memory",
        "hash": metadata["hash"],
        "byteSize": metadata["byteSize"],
        "modelConfig": metadata["modelConfig"],
        "files": files,
        **changes,
    }


def write_list(server: Bucket, *entries: Listed) -> None:
    listed = {"generated": "2026-11-01", "baseUrl": server.url, "models": {"en-zh": list(entries)}}
    (server.folder / "models.json").write_text(json.dumps(listed))


def refused(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        import_run("firefox", folder, None, None, print_nothing)
    line = str(caught.value)
    assert "\n" not in line
    assert not folder.exists()
    return line


def test_the_command_makes_a_run_that_translates(bucket: Bucket, tmp_path: Path) -> None:
    done = run_nmt("import", "firefox", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    said = done.stderr.decode()
    assert f"nmt: firefox: base-memory, from {bucket.url}/v1/{MODEL}" in said
    assert "licence: MPL-2.0" in said
    assert [name for name, _ in bucket.told] == [
        "models.json",
        f"v1/{MODEL}",
        "v1/srcvocab.enzh.spm.gz",
        "v1/trgvocab.enzh.spm.gz",
    ]
    run = RunDir(tmp_path / "run")
    assert run.firefox.exists()
    provenance = checkpoint.read_meta(run.steps()[0]).provenance
    assert provenance.licence is not None
    assert provenance.licence.startswith("MPL-2.0")
    assert provenance.imported is not None
    assert provenance.imported.source == "firefox base-memory"
    translated = run_nmt("translate", "--model", run.path, stdin="one two.\n")
    assert translated.returncode == 0


def test_what_was_fetched_is_not_fetched_again(bucket: Bucket, tmp_path: Path) -> None:
    import_run("firefox", tmp_path / "run", None, None, print_nothing)
    bucket.told.clear()
    import_run("firefox", tmp_path / "again", None, None, print_nothing)
    assert bucket.told == [("models.json", 0)]
    (bucket.folder / "models.json").unlink()
    lines: list[str] = []
    import_run("firefox", tmp_path / "offline", None, None, lines.append)
    assert "cannot be fetched (the server answers 404" in lines[0]
    assert lines[0].endswith("; the list of an earlier time is taken")


def test_what_broke_off_is_gone_on_with(bucket: Bucket, tmp_path: Path) -> None:
    bucket.most = SIZE
    size = (bucket.folder / "v1" / MODEL).stat().st_size
    assert size > 2 * SIZE
    line = refused(tmp_path / "run")
    assert f"/v1/{MODEL}: cannot be fetched ({SIZE:,} of {size:,} bytes came; the next try" in line
    bucket.most = None
    bucket.told.clear()
    import_run("firefox", tmp_path / "run", None, None, print_nothing)
    assert bucket.told[:2] == [("models.json", 0), (f"v1/{MODEL}", SIZE)]


def test_a_server_that_begins_anew_is_followed(bucket: Bucket, tmp_path: Path) -> None:
    bucket.most = SIZE
    refused(tmp_path / "run")
    bucket.most, bucket.ranges = None, False
    import_run("firefox", tmp_path / "run", None, None, print_nothing)


def test_a_remainder_that_the_server_does_not_have_is_fetched_anew(
    bucket: Bucket, tmp_path: Path
) -> None:
    path = fetching.place_of(f"{bucket.url}/v1/{MODEL}")
    path.parent.mkdir(parents=True)
    path.with_name(f"part-{MODEL}").write_bytes(bytes(10**6))
    import_run("firefox", tmp_path / "run", None, None, print_nothing)


def test_another_content_is_refused_and_not_kept(
    bucket: Bucket, exported_model: Path, tmp_path: Path
) -> None:
    write_list(bucket, entry(exported_model, hash="0" * 64))
    assert f"its SHA-256 is not {'0' * 64}, which Mozilla's list states" in refused(
        tmp_path / "run"
    )
    write_list(bucket, entry(exported_model))
    import_run("firefox", tmp_path / "run", None, None, print_nothing)


def test_without_a_network_the_address_is_named(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMT_FIREFOX_MODELS", "http://127.0.0.1:9/models.json")
    line = refused(tmp_path / "run")
    assert line.startswith("http://127.0.0.1:9/models.json: cannot be fetched (Connection refused")
    assert "; check the network, or fetch it by hand, or take the files of a model" in line
    monkeypatch.setenv("NMT_FIREFOX_MODELS", "http://example.org/models.json")
    assert "not an address with https" in refused(tmp_path / "run")
    monkeypatch.setenv("NMT_FIREFOX_MODELS", f"{bucket.url}/elsewhere.json")
    assert refused(tmp_path / "run").startswith("'http://example.org/models.json': not an")


def test_too_large_a_list_is_not_read(bucket: Bucket, tmp_path: Path) -> None:
    (bucket.folder / "models.json").write_bytes(b" " * (2**24 + 1))
    assert "are more than 16,777,216" in refused(tmp_path / "run")


def test_a_folder_of_that_name_is_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("firefox").mkdir()
    with pytest.raises(ModelError, match="firefox: neither Hugging Face MarianMT"):
        import_run("firefox", tmp_path / "run", None, None, print_nothing)


def test_it_has_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--revision v1: the newest model is taken; only models"):
        import_run("firefox", tmp_path / "run", None, "v1", print_nothing)


# --- the list ---

FILES = {"model": {"path": "a/m.bin"}, "vocab": {"path": "a/v.spm"}}
ONE = {"releaseStatus": "Release", "hash": "1", "files": FILES}


def newest_of(*entries: Listed, **changes: object) -> Any:
    listed = {"baseUrl": "https://x.org/", "models": {"en-zh": list(entries)}, **changes}
    return newest(Fields("list", listed))


def test_the_last_released_model_is_taken() -> None:
    later = {**ONE, "hash": "2", "architecture": "base"}
    found = newest_of(ONE, later, {**ONE, "releaseStatus": "Nightly", "hash": "3"})
    assert (found.architecture, found.hashes) == ("base", {"model": "2"})
    assert found.urls == {"model": "https://x.org/a/m.bin", "vocab": "https://x.org/a/v.spm"}


def test_hashes_of_files_are_known() -> None:
    files = {
        "model": {"path": "m", "uncompressedHash": "5"},
        "srcVocab": {"path": "s", "uncompressedHash": "6"},
        "trgVocab": {"path": "t", "uncompressedHash": "7"},
    }
    found = newest_of({"releaseStatus": "Release", "files": files})
    assert found.hashes == {"model": "5", "srcVocab": "6", "trgVocab": "7"}


@pytest.mark.parametrize(
    ("entries", "changes", "message"),
    [
        ([], {}, "no released model from en to zh"),
        ([{**ONE, "releaseStatus": "Nightly"}], {}, "no released model from en to zh"),
        (["text", 5], {}, "no released model"),
        ([ONE], {"models": []}, "'models' is a list: no list of models"),
        ([ONE], {"baseUrl": 5}, "'baseUrl' is 5: not text"),
        ([ONE], {"baseUrl": "ftp://x.org"}, "'ftp://x.org/a/m.bin': not an address with https"),
        ([ONE], {"baseUrl": "https:/x.org"}, "'https:/x.org/a/m.bin': not an address with https"),
        ([ONE], {"baseUrl": "https://[*a"}, "'https://[*a/a/m.bin': not an address with https"),
        ([ONE], {"baseUrl": "https://x.org/茶"}, "not an address with https"),
        ([{**ONE, "files": 5}], {}, "'files' is 5: no files"),
        ([{**ONE, "files": {"model": {"path": "m"}}}], {}, "no vocab, or srcVocab and trgVocab"),
        ([{**ONE, "files": {**FILES, "model": 5}}], {}, "model is 5 among its files"),
        ([{**ONE, "files": {**FILES, "model": {}}}], {}, "'path' is missing"),
        ([{**ONE, "hash": 7}], {}, "'hash' is 7: not text"),
        ([{"releaseStatus": "Release", "files": FILES}], {}, "states no hash of the model"),
    ],
)
def test_damaged_lists_are_refused_in_a_line(
    entries: list[Any], changes: Listed, message: str
) -> None:
    with pytest.raises(ModelError) as caught:
        newest_of(*entries, **changes)
    assert message in str(caught.value)


def test_without_a_home_folder_the_message_says_where_to_name_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nobodys() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobodys)
    with pytest.raises(ModelError, match=r"no home folder is known; name one as \$XDG_CACHE_HOME"):
        fetching.cached("https://example.org/model.bin", lambda path: None)

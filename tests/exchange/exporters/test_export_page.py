"""The page that translates in the browser: what is in it, and in Chromium, where that is installed, what it does."""

import base64
import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import CHROMIUM, browser
from made_runs import POST, SEPARATE, SHARED, exported, made_run
from stand_in_bucket import Bucket, stand_in_bucket

from nmt.errors import ModelError
from nmt.exchange.exporters import web_page
from nmt.run.folder import RunDir

SSRU = (*POST, "model.decoder=ssru", "model.d_model=64", "model.heads=4", "model.d_ff=64")
JOINT = (*SHARED, *SSRU, "model.tie_embeddings=all")
SPLIT = (*SEPARATE, *SSRU, "model.tie_embeddings=target")
# Not the engine, but what the page knows of it: it writes what it was given.
GLUE = """
var Module = typeof Module != "undefined" ? Module : {};
class List {
  constructor() { this.all = []; }
  push_back(one) { this.all.push(one); }
  delete() {}
}
Object.assign(Module, {
  AlignedMemoryList: List, VectorString: List, VectorResponseOptions: List,
  AlignedMemory: class {
    constructor(size) { this.bytes = new Uint8Array(size); }
    getByteArrayView() { return this.bytes; }
  },
  TranslationModel: class {
    constructor(settings, weights, shortlist, vocabularies) {
      this.sizes = [weights, shortlist, ...vocabularies.all].map((each) => each.bytes.length);
    }
  },
  BlockingService: class {
    translate(model, lines) {
      const [line] = lines.all;
      if (line == "fail") throw new Error("no such word");
      return { get: () => ({ getTranslatedText: () => `${line} ${model.sizes} 你` }), delete() {} };
    }
  },
});
Module.instantiateWasm({}, (instance) => {
  if (instance instanceof WebAssembly.Instance) Module.onRuntimeInitialized();
});
"""
PACKAGE = "bergamot-translator-0.4.9.tgz"
WASM = b"\0asm\1\0\0\0"  # the shortest there is


def package(*files: tuple[str, bytes]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A server with a package in the place of the engine's."""
    folder = tmp_path / "registry" / "@browsermt" / "bergamot-translator" / "-"
    folder.mkdir(parents=True)
    content = package((web_page._GLUE, GLUE.encode()), (web_page._WASM, WASM))
    (folder / PACKAGE).write_bytes(content)
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    monkeypatch.setattr(web_page, "_SHA512", digest)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with stand_in_bucket(tmp_path / "registry") as server:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"{server.url}/")
        yield server


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """With two vocabularies."""
    return made(SPLIT, corpus, tmp_path_factory.mktemp("split"))


def made(overrides: tuple[str, ...], corpus: Path, folder: Path) -> RunDir:
    return made_run(corpus, folder / "run", *overrides, origin={"licence": "CC <b>&"})


def block(page: str, name: str) -> str:
    found = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("overrides", [JOINT, SPLIT], ids=["joint", "split"])
def test_the_page_has_everything_in_it(
    overrides: tuple[str, ...], corpus: Path, tmp_path: Path
) -> None:
    run = made(overrides, corpus, tmp_path)
    folder = exported("page", run, tmp_path / "page")
    files = exported("firefox", run, tmp_path / "firefox")
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "export.json",
        "translate.html",
    ]
    page = (folder / "translate.html").read_text(encoding="utf-8")
    vocabularies = sorted(files.glob("*.spm"))
    expected = {"wasm": WASM, "model": next(files.glob("model*")).read_bytes()}
    expected["src"] = vocabularies[0].read_bytes()
    expected["tgt"] = vocabularies[1].read_bytes() if len(vocabularies) > 1 else b""
    for name, content in expected.items():
        assert base64.b64decode(block(page, name)) == content
    assert block(page, "engine") == GLUE
    assert "Model: CC &lt;b&gt;&amp;. Engine: bergamot-translator 0.4.9" in page
    assert "{{" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"https?://", page)


@pytest.mark.usefixtures("registry")
def test_the_policy_allows_its_own_script_and_style_alone(run: RunDir, tmp_path: Path) -> None:
    page = (exported("page", run, tmp_path / "page") / "translate.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    assert policy.startswith("default-src 'none'; ")
    for kind, pattern in (
        ("script", r"<script>(.*?)</script>"),
        ("style", r"<style>(.*?)</style>"),
    ):
        (text,) = re.findall(pattern, page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_another_package_is_refused(run: RunDir, registry: Bucket, tmp_path: Path) -> None:
    path = registry.folder / "@browsermt" / "bergamot-translator" / "-" / PACKAGE
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ModelError, match=r"not bergamot-translator 0\.4\.9 as npm has it"):
        exported("page", run, tmp_path / "page")
    path.unlink()
    with pytest.raises(
        ModelError, match=r"0\.4\.9\.tgz: cannot be fetched \(the server answers 404"
    ):
        exported("page", run, tmp_path / "page")
    assert not (tmp_path / "page").exists()


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
@pytest.mark.usefixtures("registry")
def test_people_type_and_read(run: RunDir, tmp_path: Path) -> None:
    folder = exported("page", run, tmp_path / "page")
    files = exported("firefox", run, tmp_path / "firefox")
    vocabularies = sorted(files.glob("*.spm"))
    model = next(files.glob("model*"))
    sizes = [model.stat().st_size, 0, *(path.stat().st_size for path in vocabularies)]
    tail = f"{','.join(map(str, sizes))} 你"
    ready = "document.getElementById('status').textContent == 'Ready.'"
    chinese = "document.getElementById('chinese').value"
    profile = tmp_path / "profile"
    with browser(profile) as page:
        page.open(f"file://{folder}/translate.html#Good%20morning")
        page.wait_for(ready)
        assert page.value(chinese) == f"Good morning {tail}"
        page.type("english", "\n\nSee you")
        page.wait_for(f"document.getElementById('chinese').value.includes('See you') && {ready}")
        assert page.value(chinese).splitlines() == [f"Good morning {tail}", "", f"See you {tail}"]
        assert page.value("document.getElementById('copy').disabled") is False
        page.type("english", "\nfail")
        page.wait_for(
            "document.getElementById('status').textContent == "
            "'This browser cannot translate: Error: no such word'"
        )


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
@pytest.mark.skipif("NMT_TEST_NETWORK" not in os.environ, reason="no network is allowed here")
def test_the_engine_itself_writes_chinese(corpus: Path, tmp_path: Path) -> None:
    from conftest import tiny_config, train

    course = ("train.seed=4", "train.updates=600", "train.validate_every=600", "train.average=0")
    run = train(tiny_config(corpus, tmp_path / "run", *JOINT, "model.output_bias=true", *course))
    folder = exported("page", run, tmp_path / "page")
    with browser(tmp_path / "profile") as page:
        page.open(f"file://{folder}/translate.html#two%20six%20three.")
        page.wait_for("document.getElementById('status').textContent == 'Ready.'")
        assert page.value("document.getElementById('chinese').value") == "二，六，三。"

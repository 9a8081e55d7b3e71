"""A run as one HTML file that translates in the browser, without a server and without a network.

The engine is bergamot-translator, Marian as Firefox had it, in WebAssembly; its package is fetched from npm's registry
when a page is made. The content security policy allows the page its own script and style sheet, by their hashes, and no
connection.
"""

import base64
import hashlib
import html
import os
import tarfile
from pathlib import Path

from nmt.errors import ModelError
from nmt.exchange.exporters import firefox_folder, readme
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.trained import Trained
from nmt.exchange.fetching import cached

PAGE = "translate.html"
_PACKAGE = "bergamot-translator"
_VERSION = "0.4.9"
_SHA512 = (  # of the package, as the registry states it
    "bNuuCwM/JnsIYQCKXcYKFT4Qc5vLMoB8Nbvz8ReIgs7xzebK8Sa+R8iEK8mLvNBe/WaZ6zrPaUQilLsRT/ea8Q=="
)
_REGISTRY = "https://registry.npmjs.org"
_GLUE = "package/worker/bergamot-translator-worker.js"
_WASM = "package/worker/bergamot-translator-worker.wasm"
_LARGEST = 2**23  # bytes of the package
_PARTS = Path(__file__).parent / "page"
_ENGINE = f"Engine: {_PACKAGE} {_VERSION}, under MPL-2.0; its source is at github.com/browsermt/{_PACKAGE}."


def refuse(trained: Trained) -> None:
    """Raise ModelError for a model that the engine cannot run, or if the engine cannot be fetched."""
    firefox_folder.refuse(trained)
    _engine()


def write(trained: Trained, folder: Path, _quantization: Quantization) -> None:
    """Write the page and README.md. Raises as `refuse` does."""
    files = firefox_folder.files_of(trained)
    glue, wasm = _engine()
    css, js, worker, page = (
        (_PARTS / name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js", "worker.js", "page.html")
    )
    parts = {
        "policy": _policy(css, js),
        "css": css,
        "js": js,
        "worker": worker,
        "about": html.escape(f"{_licence(trained)} {_ENGINE}"),
        "engine": glue.decode(),
        "wasm": _base64(wasm),
        "src": _base64(files.src),
        "tgt": "" if files.tgt == files.src else _base64(files.tgt),
        "model": _base64(files.model),
    }
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    (folder / PAGE).write_text(page, encoding="utf-8")
    (folder / "README.md").write_text(_readme(trained), encoding="utf-8")


def _engine() -> tuple[bytes, bytes]:
    """The engine's two files, from the user's cache or the registry. Raises ModelError if they cannot be had."""
    registry = os.environ.get("NPM_CONFIG_REGISTRY") or _REGISTRY
    url = f"{registry.rstrip('/')}/@browsermt/{_PACKAGE}/-/{_PACKAGE}-{_VERSION}.tgz"
    path = cached(url, _refuse_other, _LARGEST)
    with tarfile.open(path) as package:
        glue, wasm = (package.extractfile(name) for name in (_GLUE, _WASM))
        if glue is None or wasm is None:
            raise ModelError(f"{url}: has no engine in it")
        return glue.read(), wasm.read()


def _refuse_other(path: Path) -> None:
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    if digest != _SHA512:
        message = f"not {_PACKAGE} {_VERSION} as npm has it (another SHA-512)"
        raise ModelError(f"{path}: {message}; delete it, or fetch it by hand")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _policy(css: str, js: str) -> str:
    style, script = (_base64(hashlib.sha256(text.encode()).digest()) for text in (css, js))
    rules = [f"style-src 'sha256-{style}'", f"script-src 'sha256-{script}' 'wasm-unsafe-eval'"]
    return "; ".join(["default-src 'none'", *rules, "worker-src blob:", "base-uri 'none'"])


def _licence(trained: Trained) -> str:
    licence = trained.provenance.licence
    return f"Model: {licence}." if licence else "Model: its makers state no licence."


def _readme(trained: Trained) -> str:
    how = (
        f"Open `{PAGE}` in a browser, from a disk or a server: it has all that it needs in it. `{PAGE}#Good%20morning` "
        "begins with that text."
    )
    notes = [
        *readme.text_notes(trained),
        "The page does not repair punctuation, and has no protected spans.",
        _ENGINE,
    ]
    return readme.page(
        "A page that translates in the browser",
        f"## Use\n\n{how}",
        f"## Good to know\n\n{readme.bullets(notes)}",
        readme.provenance_section(trained),
    )

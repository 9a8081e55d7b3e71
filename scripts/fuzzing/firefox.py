"""Models of Firefox Translations, as `nmt import` and its engine in int8 read them, and Mozilla's list of them."""
# ruff: noqa: S101 - an assert says what a right result is

import gzip
import hashlib
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from fuzzing.foreign import pieces_of_both, read_foreign
from nmt.archives import read_unpacked
from nmt.config.schema import ModelConfig
from nmt.config.yaml_values import dump_yaml
from nmt.errors import EngineError
from nmt.exchange.exporters.marian_pieces import marian_pieces
from nmt.exchange.exporters.marian_writer import in_int8, write_binary
from nmt.exchange.importers.fields import json_fields
from nmt.exchange.importers.firefox_models import newest
from nmt.exchange.importers.importing import read_model
from nmt.exchange.int8_engines import refuse_unfit
from nmt.exchange.marian_format import shapes_of
from nmt.exchange.marian_settings import settings_of

_CONFIG = ModelConfig(
    d_model=16,
    heads=2,
    d_ff=32,
    encoder_layers=1,
    decoder_layers=1,
    decoder="ssru",
    norm="post",
    tie_embeddings="target",
)
_MODEL, _PACKED, _LIST = "model.enzh.bin", "srcvocab.enzh.spm.gz", "models.json"


def make_firefox(folder: Path) -> list[Path]:
    """A model of one layer, a vocabulary that is packed and one that is not, and metadata.json."""
    chance = np.random.default_rng(1)
    pieces = marian_pieces(pieces_of_both())
    rows = len(pieces.rows)
    shapes = shapes_of(_CONFIG, rows, rows)
    arrays = {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    matrices = [name for name, shape in shapes.items() if shape[0] > 1 and "Wemb" not in name]
    settings = settings_of(_CONFIG, rows, rows)
    items = in_int8(arrays, dict.fromkeys([*matrices, "none"], 25.0))
    content = write_binary(items, dump_yaml(settings))
    (folder / _MODEL).write_bytes(content)
    (folder / _PACKED).write_bytes(gzip.compress(pieces.content))
    (folder / "trgvocab.enzh.spm").write_bytes(pieces.content)
    metadata = {"byteSize": len(content), "modelConfig": settings, "sourceLanguage": "en"}
    (folder / "metadata.json").write_text(json.dumps(metadata))
    small = ["metadata.json", _PACKED, "trgvocab.enzh.spm"]
    return [folder / name for name in small] + [folder / _MODEL] * 6


def read_firefox(folder: Path) -> None:
    """A whole model; where the engine takes it, it translates with it, or gives up in a line."""
    if (folder / _MODEL).stat().st_size != json_fields(folder / "metadata.json").values.get(
        "byteSize"
    ):
        (folder / "metadata.json").unlink()  # else nothing behind it would be tried
    read_foreign(folder)
    model = read_model(folder)
    assert model.binary is not None
    src, tgt = (len(side.tokens.listed) - 1 for side in (model.src, model.tgt))
    refuse_unfit(model.binary, model.config, src, tgt, _MODEL)
    if find_spec("fxtranslate") is not None:
        _translate(model.binary, read_unpacked(folder / _PACKED), model.tgt.pieces)


def _translate(model: bytes, src: bytes, tgt: bytes) -> None:
    import fxtranslate

    try:
        fxtranslate.Translator(model, src, tgt).translate("I like tea.")
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise EngineError(str(error) or "it gives up") from None


def make_list(folder: Path) -> list[Path]:
    """A list of two models."""
    files = {
        "model": {"path": "a/m.bin.gz"},
        "srcVocab": {"path": "a/s"},
        "trgVocab": {"path": "t"},
    }
    digest = hashlib.sha256(b"").hexdigest()
    one = {"releaseStatus": "Release", "architecture": "base", "hash": digest, "files": files}
    joint = {**files, "vocab": {"path": "v.spm", "uncompressedHash": digest}}
    listed = {"baseUrl": "https://example.org", "models": {"en-zh": [one, {**one, "files": joint}]}}
    (folder / _LIST).write_text(json.dumps(listed))
    return [folder / _LIST]


def read_list(folder: Path) -> None:
    """The newest model has addresses to fetch it from."""
    found = newest(json_fields(folder / _LIST))
    safe = ("https:", "http://localhost", "http://127.")
    assert all(url.lower().startswith(safe) for url in found.urls.values())
    assert "model" in found.hashes

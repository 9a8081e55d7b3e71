"""A run as Firefox Translations has its models: Marian's `.bin`, sentencepiece models, and metadata.json."""

import hashlib
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from nmt.config.yaml_values import dump_yaml
from nmt.corpus.reading.pairs import read_pairs
from nmt.errors import DataError, ModelError
from nmt.exchange.exporters import readme
from nmt.exchange.exporters.activations import input_multipliers
from nmt.exchange.exporters.marian import (
    arrays_of,
    inputs_of,
    refuse_inexpressible,
    refuse_trained_start,
    table_factor,
)
from nmt.exchange.exporters.marian_pieces import marian_pieces
from nmt.exchange.exporters.marian_writer import in_int8, write_binary
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.trained import Trained
from nmt.exchange.marian_settings import settings_of
from nmt.files import write_json
from nmt.text.vocab import EOS

MODEL = "model.enzh.intgemm.alphas.bin"
JOINT, SOURCE, TARGET = "vocab.enzh.spm", "srcvocab.enzh.spm", "trgvocab.enzh.spm"
_MEASURED = 320  # pairs of dev whose activations are measured
_OUTPUTS = ("none", "Wemb")  # what engines call the output's matrix, where it is the one table


def refuse(trained: Trained) -> None:
    """Raise ModelError for a run that Firefox's engines have no place for."""
    config = trained.config
    refuse_inexpressible(config.model)
    refuse_trained_start(trained.model)
    if not trained.has_pieces:
        tokenizers = (
            f"src.tokenizer={config.src.tokenizer} and tgt.tokenizer={config.tgt.tokenizer}"
        )
        raise ModelError(f"{tokenizers}: Firefox's engines take sentencepiece on both sides")
    if config.model.tie_embeddings == "all" and trained.pieces("src") != trained.pieces("tgt"):
        message = "one table of embeddings needs one sentencepiece model for both sides"
        raise ModelError(f"model.tie_embeddings=all: {message}; train with tie_embeddings=target")
    for setting in ("prefix", "lowercase", "recase", "detach"):
        if getattr(config.src, setting):
            raise ModelError(f"src.{setting} is on: Firefox's engines do not prepare text so")


class Files(NamedTuple):
    """A model as the engines get it; with one vocabulary for both sides, `src` and `tgt` are equal."""

    model: bytes
    src: bytes
    tgt: bytes
    settings: dict[str, Any]


def files_of(trained: Trained) -> Files:
    """The contents of the files. Raises ModelError if the run has no dev set, on which int8 is set up."""
    src = marian_pieces(trained.pieces("src"))
    tgt = marian_pieces(trained.pieces("tgt"))
    settings = settings_of(trained.config.model, len(src.rows), len(tgt.rows))
    arrays = arrays_of(trained, src.ids(trained.src.vocab, EOS), tgt.ids(trained.tgt.vocab, EOS))
    model = write_binary(in_int8(arrays, _multipliers(trained)), dump_yaml(settings))
    return Files(model, src.content, tgt.content, settings)


def write(trained: Trained, folder: Path, _quantization: Quantization) -> None:
    """Write the model, the vocabularies, metadata.json and README.md. Raises as `refuse` and `files_of` do."""
    files = files_of(trained)
    (folder / MODEL).write_bytes(files.model)
    if _is_joint(trained):
        (folder / JOINT).write_bytes(files.src)
    else:
        (folder / SOURCE).write_bytes(files.src)
        (folder / TARGET).write_bytes(files.tgt)
    write_json(folder / "metadata.json", _metadata(trained, files))
    (folder / "README.md").write_text(_readme(trained), encoding="utf-8")


def _is_joint(trained: Trained) -> bool:
    return trained.config.model.tie_embeddings == "all"


def _multipliers(trained: Trained) -> dict[str, float]:
    """What the inputs of each of Marian's matrices are multiplied with, by its name."""
    measured = input_multipliers(trained.model, _dev_pairs(trained))
    multipliers = {name: measured[ours] for name, ours in inputs_of(trained.config.model).items()}
    scale = trained.model.output_scale / table_factor(trained.model)  # of the last norm
    outputs = _OUTPUTS if _is_joint(trained) else ("none", "decoder_Wemb")
    return multipliers | dict.fromkeys(outputs, measured["output"] / scale)


def _dev_pairs(trained: Trained) -> list[tuple[list[int], list[int]]]:
    """The first pairs of dev as ids. Raises ModelError if the run has none."""
    src, tgt = (trained.run.text("dev", side.language) for side in (trained.src, trained.tgt))
    longest = trained.config.model.max_length - 1
    pairs = []
    try:
        for pair in islice(read_pairs(src, tgt), _MEASURED):
            ids = trained.src.encode(pair.src), trained.tgt.encode(pair.tgt)
            if min(map(len, ids)) > 0 and max(map(len, ids)) <= longest:
                pairs.append(ids)
    except (OSError, DataError):
        pairs = []
    if not pairs:
        fix = "put a few hundred pairs there"
        raise ModelError(f"{src}: no pairs of dev, on which int8 is set up; {fix}")
    return pairs


def _metadata(trained: Trained, files: Files) -> dict[str, Any]:
    return {
        "architecture": "nmt",
        "byteSize": len(files.model),
        "hash": hashlib.sha256(files.model).hexdigest(),
        "modelConfig": files.settings,
        "sourceLanguage": trained.src.language,
        "targetLanguage": trained.tgt.language,
    }


def _readme(trained: Trained) -> str:
    src, tgt = (JOINT, JOINT) if _is_joint(trained) else (SOURCE, TARGET)
    lines = [
        "from pathlib import Path",
        "",
        "import fxtranslate",
        "",
        f'files = ("{MODEL}", "{src}", "{tgt}")',
        "translator = fxtranslate.Translator(*(Path(file).read_bytes() for file in files))",
        'print(translator.translate("I like tea."))',
    ]
    if trained.config.model.decoder == "ssru":
        how = f"In this folder, with `pip install fxtranslate`:\n\n{readme.code(*lines)}"
    else:
        how = (
            "Its decoder has self-attention: bergamot-translator and Marian run it, fxtranslate and Firefox do not "
            "(they need `model.decoder=ssru`)."
        )
    notes = [
        *readme.text_notes(trained),
        "The engines search greedily, one sentence at a time; a longer text has to be cut into sentences.",
        "Placeholders and the unknown token have a bias that keeps them out.",
        "`nmt import` makes a run of this folder again.",
    ]
    title = "A translation model for Firefox Translations' engines, in int8"
    return readme.page(
        title,
        f"## Use\n\n{how}",
        f"## Good to know\n\n{readme.bullets(notes)}",
        readme.provenance_section(trained),
    )

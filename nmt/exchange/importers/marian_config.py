"""Marian's settings as ours. What Marian can be told and nmt cannot compute is refused by its name.

CTranslate2's converter (converters/marian.py) refuses the same, and recurrent decoders too.
"""

from pathlib import Path
from typing import Any

from torch import Tensor

from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.importers.fields import Fields, brief
from nmt.exchange.importers.marian import kind_of_positions, model_config
from nmt.exchange.marian_format import BIAS, OUTPUT, SHARED, SOURCE, TARGET
from nmt.exchange.marian_settings import NEEDED

_POSITIONS = 512  # Marian computes them without end; transformers' converter makes as many
_ACTIVATIONS = {"relu": "relu", "swish": "swish"}
_PLACES = (
    "transformer-preprocess",
    "transformer-postprocess",
    "transformer-postprocess-top",
)
_NORMS = {("", "dan", ""): "post", ("n", "da", "n"): "pre"}


def refuse_other_models(fields: Fields) -> None:
    """Raise ModelError for what is no Transformer of the usual kind."""
    for name, values in NEEDED.items():
        value = fields.values.get(name)
        if value is not None and value not in values:
            raise fields.unfit(name, f"nmt can express only {brief(values[0])}")
    fields.word("type")
    _decoder(fields)
    _norm_settings(fields)
    _activation(fields)


def marian_config(fields: Fields, tensors: dict[str, Tensor], path: Path) -> ModelConfig:
    """`model` of a run. Raises ModelError for what nmt has not, and where settings and weights disagree."""
    inner = tensors.get("model.encoder.layers.0.fc1.weight")
    embedding = tensors.get(SHARED, tensors.get(SOURCE))
    if inner is None or embedding is None or inner.ndim != 2 or embedding.ndim != 2:
        raise ModelError(f"{path}: no embeddings or no first layer; fetch the file again")
    positions = tensors.get("model.encoder.embed_positions.weight")
    _compare(fields, tensors, len(inner), embedding.shape[1])
    return model_config(
        fields.place,
        d_model=embedding.shape[1],
        heads=fields.whole("transformer-heads"),
        d_ff=len(inner),
        encoder_layers=fields.whole("enc-depth"),
        decoder_layers=fields.whole("dec-depth"),
        decoder=_decoder(fields),
        decoder_start="zeros",
        **_norm_settings(fields),
        positions=kind_of_positions(tensors),
        activation=_activation(fields),
        bias="all",
        output_bias=True,
        tie_embeddings=_tie(tensors),
        scale="embedding",
        max_length=_POSITIONS if positions is None else len(positions),
    )


def _decoder(fields: Fields) -> str:
    """`model.decoder`. Raises ModelError for what nmt has not."""
    autoreg = fields.word("transformer-decoder-autoreg", "self-attention")
    if autoreg == "self-attention":
        return "attention"
    if autoreg != "rnn":
        raise fields.unfit("transformer-decoder-autoreg", "nmt has self-attention and rnn")
    if fields.word("dec-cell") != "ssru":
        raise fields.unfit("dec-cell", "nmt has no recurrent decoder but ssru")
    return "ssru"


def _activation(fields: Fields) -> str:
    """`model.activation`. Raises ModelError for what nmt has not."""
    activation = fields.word("transformer-ffn-activation")
    if activation not in _ACTIVATIONS:
        fix = "nmt has relu and swish (Marian's gelu is an approximation that nmt has not)"
        raise fields.unfit("transformer-ffn-activation", fix)
    return _ACTIVATIONS[activation]


def _norm_settings(fields: Fields) -> dict[str, Any]:
    """The places of the norms. Raises ModelError for sequences other than the two usual ones."""
    around = {name: fields.word(name, "") for name in _PLACES}
    sequence = tuple(around.values())
    if sequence not in _NORMS:
        written = ", ".join(f"{name} {brief(value)}" for name, value in around.items())
        known = "'', 'dan', '' or 'n', 'da', 'n'"
        raise ModelError(f"{fields.place}: {written}; nmt has {known}")
    embedding = fields.word("transformer-postprocess-emb", "d")
    if embedding not in ("", "d", "n", "nd"):
        raise fields.unfit("transformer-postprocess-emb", "nmt has '', d, n and nd")
    return {"norm": _NORMS[sequence], "embedding_norm": "n" in embedding}


def _tie(tensors: dict[str, Tensor]) -> str:
    if OUTPUT in tensors:
        return "none"
    return "all" if SHARED in tensors else "target"


def _compare(fields: Fields, tensors: dict[str, Tensor], d_ff: int, d_model: int) -> None:
    """Raise ModelError where the settings name other shapes and matrices than there are."""
    rows = [
        len(tensors[own]) if own in tensors else len(tensors.get(SHARED, ()))
        for own in (SOURCE, TARGET)
    ]
    tie = _tie(tensors)
    found: dict[str, list[Any]] = {
        "dim-emb": [d_model],
        "dim-vocabs": [rows, [0, 0]],
        "output-omit-bias": [BIAS not in tensors],
        "tied-embeddings": [tie != "none", False] if tie == "all" else [tie != "none"],
        "tied-embeddings-all": [tie == "all"],
        "transformer-dim-ffn": [d_ff],
        "transformer-decoder-dim-ffn": [0, d_ff],
        "transformer-train-position-embeddings": [
            "model.encoder.embed_positions.weight" in tensors
        ],
    }
    for name, values in found.items():
        value = fields.values.get(name)
        if value is not None and value not in values:
            raise fields.unfit(name, f"the weights are of a model with {values[0]}")

"""Our Transformer as CTranslate2 4.8 reads it: one mapping for `nmt export` and the benchmarks.

torch and CTranslate2 are imported only where something is converted.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nmt.config.schema import ModelConfig
from nmt.errors import ConfigError, ModelError
from nmt.exchange.exporters.arrays import Array, output_bias, values
from nmt.exchange.exporters.quantization import Quantization
from nmt.text.vocab import BOS, EOS, UNK

if TYPE_CHECKING:
    from torch import nn

    from nmt.model.layers import DecoderLayer, EncoderLayer, SelfAttention
    from nmt.model.transformer import Embedding, Transformer

# CTranslate2 cuts sources at 1,024 tokens unless told otherwise, and fails without a position for each.
_POSITIONS = 1025
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH", "swiglu": "SWISH"}


def refuse_inexpressible(config: ModelConfig) -> None:
    """Raise ModelError for a model that CTranslate2 has no place for."""
    if config.decoder == "ssru":
        message = "CTranslate2 has self-attention only, so it cannot run this model"
        raise ModelError(f"model.decoder=ssru: {message}")
    if config.norm == "post" and config.has_final_norm:
        message = "CTranslate2 has no norm after a post-norm stack, so it cannot run this model"
        raise ModelError(f"model.norm=post with model.final_norm=true: {message}")


def refuse_absent() -> None:
    """Raise ConfigError if CTranslate2 is not installed, or cannot be loaded."""
    try:
        import ctranslate2  # noqa: F401
    except ModuleNotFoundError:
        fix = "run pip install ctranslate2"
        raise ConfigError(f"CTranslate2 is not installed; {fix}") from None
    except ImportError as error:
        fix = "reinstall it: pip install --force-reinstall ctranslate2"
        raise ConfigError(f"CTranslate2 cannot be loaded ({error}); {fix}") from None


def convert(
    model: "Transformer",
    src_tokens: Sequence[str],
    tgt_tokens: Sequence[str],
    folder: Path,
    quantization: Quantization = "float32",
    forbidden: Sequence[int] = (),
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write model.bin, config.json and the vocabularies of a model in fp32 into a folder, which exists.

    The tokens are those of `unique_tokens`, in the order of their ids: token i of `source_vocabulary.json` and
    `target_vocabulary.json` (or of `shared_vocabulary.json`, if they are equal) is id i, and `read_tokens` reads them
    without torch. A source is given as its tokens with the prefix and without EOS, which CTranslate2 adds. The target
    ids `forbidden` are never written, whatever the caller asks for: to let placeholders through where the source has
    them, leave them out here and give `suppress_sequences` where it has none. `settings` go into config.json.

    Raises as `refuse_inexpressible` and `refuse_absent` do.
    """
    refuse_inexpressible(model.config)
    refuse_absent()
    from ctranslate2 import specs

    config = model.config
    spec = specs.TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
        no_final_norm=not config.has_final_norm,
        activation=specs.Activation[_ACTIVATIONS[config.activation]],
        layernorm_embedding=config.embedding_norm,
        ffn_glu=config.activation == "swiglu",
    )
    _put_encoder(spec.encoder, model)
    _put_decoder(spec.decoder, model, forbidden)
    _name_specials(spec.config, tgt_tokens)
    for name, value in (settings or {}).items():
        spec.config.add_attribute(name, value)
    spec.register_source_vocabulary(list(src_tokens))
    spec.register_target_vocabulary(list(tgt_tokens))
    spec.validate()
    spec.optimize(quantization)
    spec.save(str(folder))


def _name_specials(config: Any, tgt_tokens: Sequence[str]) -> None:
    config.add_source_eos = True
    config.unk_token = tgt_tokens[UNK]
    config.bos_token = tgt_tokens[BOS]
    config.eos_token = tgt_tokens[EOS]
    config.decoder_start_token = tgt_tokens[BOS]


# --- the two stacks ---


def _put_encoder(theirs: Any, model: "Transformer") -> None:
    _put_embedding(theirs, theirs.embeddings[0], model.src_embedding, model.config)
    for their_layer, layer in zip(theirs.layer, model.encoder, strict=True):
        _put_layer(their_layer, layer)  # type: ignore[arg-type]
    if model.config.has_final_norm:
        _put_norm(theirs.layer_norm, model.encoder_norm)


def _put_decoder(theirs: Any, model: "Transformer", forbidden: Sequence[int]) -> None:
    _put_embedding(theirs, theirs.embeddings, model.tgt_embedding, model.config)
    for their_layer, layer in zip(theirs.layer, model.decoder, strict=True):
        _put_layer(their_layer, layer)  # type: ignore[arg-type]
        _put_cross(their_layer.attention, layer)  # type: ignore[arg-type]
    if model.config.has_final_norm:
        _put_norm(theirs.layer_norm, model.decoder_norm)
    if model.config.scale == "output":
        theirs.scale_outputs = model.output_scale
    _put_linear(theirs.projection, model.output)
    theirs.projection.bias = output_bias(model, forbidden)


# --- the parts ---


def _put_layer(theirs: Any, ours: "EncoderLayer | DecoderLayer") -> None:
    """What the layers of encoder and decoder have in common."""
    _put_norm(theirs.self_attention.layer_norm, ours.attention_residual.norm)
    attention = cast("SelfAttention", ours.attention)  # others are refused
    _put_linear(theirs.self_attention.linear[0], attention.qkv)
    _put_linear(theirs.self_attention.linear[1], attention.out)
    _put_norm(theirs.ffn.layer_norm, ours.feed_forward_residual.norm)
    inner = ours.feed_forward.inner
    if ours.feed_forward.gated:
        _put_linear(theirs.ffn.linear_0, inner, part=0)  # the gate, which is activated
        _put_linear(theirs.ffn.linear_0_noact, inner, part=1)
    else:
        _put_linear(theirs.ffn.linear_0, inner)
    _put_linear(theirs.ffn.linear_1, ours.feed_forward.out)


def _put_cross(theirs: Any, ours: "DecoderLayer") -> None:
    _put_norm(theirs.layer_norm, ours.cross_residual.norm)
    _put_linear(theirs.linear[0], ours.cross.q)
    _put_linear(theirs.linear[1], ours.cross.kv)
    _put_linear(theirs.linear[2], ours.cross.out)


def _put_embedding(side: Any, table: Any, ours: "Embedding", config: ModelConfig) -> None:
    table.weight = values(ours.tokens.weight)
    side.scale_embeddings = config.scale == "embedding"  # times the square root of d_model
    side.position_encodings.encodings = _positions(ours, config)
    if config.embedding_norm:
        _put_norm(side.layernorm_embedding, ours.norm)


def _positions(ours: "Embedding", config: ModelConfig) -> Array:
    """The table of positions, with a row for every position that CTranslate2 may ask for.

    The model was not trained on those beyond its own. If its positions are learned, they are all as its last.
    """
    rows = max(_POSITIONS, config.max_length)
    if config.positions == "learned":
        return np.pad(values(ours.positions), ((0, rows - config.max_length), (0, 0)), mode="edge")
    from nmt.model.transformer import sinusoids

    return values(sinusoids(rows, config.d_model))


def _put_norm(theirs: Any, ours: Any) -> None:
    theirs.gamma = values(ours.weight)
    theirs.beta = np.zeros_like(theirs.gamma) if ours.bias is None else values(ours.bias)


def _put_linear(theirs: Any, ours: "nn.Linear", part: int | None = None) -> None:
    """A linear layer, or of two that are stored as one the first or the second."""
    theirs.weight = _part(values(ours.weight), part)
    if ours.bias is not None:
        theirs.bias = _part(values(ours.bias), part)


def _part(stacked: Array, part: int | None) -> Array:
    return stacked if part is None else np.split(stacked, 2)[part]

"""Our Transformer as transformers reads it: post-norm as Marian, pre-norm as Pegasus.

Both compute their positions, sines in the first half of d_model and cosines in the second, where ours alternate:
everything over d_model is put in that order. Learned positions stand in the file instead, from which both read what
it has. Neither has a place for a factor of the logits, but it can go into the last norm, which nothing else reads.
transformers itself is not needed.

Shapes: d = d_model, S source tokens, T target tokens, V rows of a table.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.exporters.arrays import FORBIDDEN, Array, output_bias, values
from nmt.exchange.marian_format import FORGET, RECURRENT_NORM, VALUES
from nmt.model.layers import DecoderLayer, EncoderLayer, SelfAttention
from nmt.model.recurrence import SSRU
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, EOS, PAD

Tensors = dict[str, Array]  # by transformers' names

_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish"}


# --- what can be expressed ---


def refuse_inexpressible(config: ModelConfig) -> None:
    """Raise ModelError, naming the setting, for a model that is neither Marian nor Pegasus."""
    final_norm = "true" if config.has_final_norm else "false"
    reasons = {
        f"model.norm=post with model.final_norm={final_norm}": (
            config.norm == "post" and config.has_final_norm
        ),
        f"model.norm=pre with model.final_norm={final_norm}": (
            config.norm == "pre" and not config.has_final_norm
        ),
        f"model.activation={config.activation}": config.activation not in _ACTIVATIONS,
        "model.embedding_norm=true": config.embedding_norm,
        "model.decoder=ssru": config.decoder == "ssru",
    }
    for setting, is_so in reasons.items():
        if is_so:
            message = (
                "neither Marian nor Pegasus, the models of transformers that are nearest, has it"
            )
            raise ModelError(f"{setting}: {message}; nmt export ct2 may take this model")


# --- ids ---


@dataclass(frozen=True)
class Layout:
    """The rows of tokens in the tables. Pegasus has one table, so it holds two vocabularies end to end."""

    src_tokens: int  # S
    tgt_tokens: int  # T
    is_marian: bool
    has_one_table: bool  # source, target and output are one matrix

    @classmethod
    def of(cls, model: Transformer) -> "Layout":
        """The layout of a model's tables."""
        config = model.config
        src_tokens = len(model.src_embedding.tokens.weight)
        is_one = config.tie_embeddings == "all"
        return cls(src_tokens, model.tgt_tokens, config.norm == "post", is_one)

    @property
    def first_target(self) -> int:
        """The id of the first target token."""
        return 0 if self.is_marian or self.has_one_table else self.src_tokens

    @property
    def target_rows(self) -> int:
        """The rows of the target's table, V."""
        return self.first_target + self.tgt_tokens


# --- weights ---


def tensors_of(model: Transformer, forbidden: list[int]) -> Tensors:
    """All weights of a model, by the names that transformers gives them; `forbidden` are ids of nmt's vocabulary."""
    layout = Layout.of(model)
    parts = _Parts(model.config)
    tensors = _tables(model, layout, parts)
    for i, encoder_layer in enumerate(model.encoder):
        assert isinstance(encoder_layer, EncoderLayer)  # noqa: S101 - for the type checker
        tensors |= _layer(f"model.encoder.layers.{i}", encoder_layer, parts)
    for i, decoder_layer in enumerate(model.decoder):
        assert isinstance(decoder_layer, DecoderLayer)  # noqa: S101
        name = f"model.decoder.layers.{i}"
        tensors |= _layer(name, decoder_layer, parts) | _cross(name, decoder_layer, parts)
    last = f"model.decoder.layers.{len(model.decoder) - 1}.final_layer_norm"
    if model.config.has_final_norm:
        tensors |= parts.norm("model.encoder.layer_norm", model.encoder_norm)
        last = "model.decoder.layer_norm"
        tensors |= parts.norm(last, model.decoder_norm)
    for part in ("weight", "bias"):
        tensors[f"{last}.{part}"] *= np.float32(model.output_scale)
    tensors |= _positions(model, layout, parts)
    tensors["final_logits_bias"] = _bias(model, forbidden, layout)
    return tensors


class _Parts:
    """Parts of a layer, in transformers' order of d_model. A bias that ours lacks is 0."""

    def __init__(self, config: ModelConfig) -> None:
        axes = np.arange(config.d_model)
        halves = np.concatenate([axes[0::2], axes[1::2]])
        self.order = axes if config.positions == "learned" else halves  # [d]

    def norm(self, name: str, ours: Any) -> Tensors:
        weight = values(ours.weight)
        bias = np.zeros_like(weight) if ours.bias is None else values(ours.bias)
        return {f"{name}.weight": weight[self.order], f"{name}.bias": bias[self.order]}

    def into(self, name: str, ours: Any, part: int = 0, parts: int = 1) -> Tensors:
        """A matrix that reads [d]; of several that are stored as one, the one with this number."""
        weight = np.split(values(ours.weight), parts)[part]
        bias = np.zeros(len(weight), np.float32)
        if ours.bias is not None:
            bias = np.split(values(ours.bias), parts)[part]
        return {f"{name}.weight": self.columns(weight), f"{name}.bias": bias}

    def out_of(self, name: str, ours: Any) -> Tensors:
        """A matrix that writes [d]."""
        weight = values(ours.weight)[self.order]
        bias = np.zeros(len(weight), np.float32)
        if ours.bias is not None:
            bias = values(ours.bias)[self.order]
        return {f"{name}.weight": weight, f"{name}.bias": bias}

    def columns(self, matrix: Array) -> Array:
        """[n,d] in transformers' order."""
        return np.ascontiguousarray(matrix[:, self.order])


def _layer(name: str, ours: EncoderLayer | DecoderLayer, parts: _Parts) -> Tensors:
    """What the layers of encoder and decoder have in common."""
    recurrent = isinstance(ours.attention, SSRU)
    tensors = (_recurrence if recurrent else _self_attention)(name, ours, parts)
    tensors |= parts.norm(f"{name}.final_layer_norm", ours.feed_forward_residual.norm)
    tensors |= parts.into(f"{name}.fc1", ours.feed_forward.inner)
    tensors |= parts.out_of(f"{name}.fc2", ours.feed_forward.out)
    return tensors


def _self_attention(name: str, ours: EncoderLayer | DecoderLayer, parts: _Parts) -> Tensors:
    tensors = parts.norm(f"{name}.self_attn_layer_norm", ours.attention_residual.norm)
    attention = cast(SelfAttention, ours.attention)
    for i, kind in enumerate("qkv"):
        tensors |= parts.into(f"{name}.self_attn.{kind}_proj", attention.qkv, i, 3)
    return tensors | parts.out_of(f"{name}.self_attn.out_proj", attention.out)


def _recurrence(name: str, ours: EncoderLayer | DecoderLayer, parts: _Parts) -> Tensors:
    """SSRU, by the names that `marian_format` has for it."""
    recurrence = cast(SSRU, ours.attention)
    tensors = parts.norm(f"{name}.{RECURRENT_NORM}", ours.attention_residual.norm)
    for kind, linear in ((VALUES, recurrence.values), (FORGET, recurrence.forget)):
        tensors |= parts.out_of(f"{name}.{kind}", linear)
        weight = tensors[f"{name}.{kind}.weight"]
        tensors[f"{name}.{kind}.weight"] = parts.columns(weight)  # it reads [d] too
    return tensors


def _cross(name: str, ours: DecoderLayer, parts: _Parts) -> Tensors:
    tensors = parts.norm(f"{name}.encoder_attn_layer_norm", ours.cross_residual.norm)
    tensors |= parts.into(f"{name}.encoder_attn.q_proj", ours.cross.q)
    for i, kind in enumerate("kv"):
        tensors |= parts.into(f"{name}.encoder_attn.{kind}_proj", ours.cross.kv, i, 2)
    tensors |= parts.out_of(f"{name}.encoder_attn.out_proj", ours.cross.out)
    return tensors


def _tables(model: Transformer, layout: Layout, parts: _Parts) -> Tensors:
    """The embeddings, and the output where it is a matrix of its own."""
    source = parts.columns(values(model.src_embedding.tokens.weight))  # [S,d]
    target = parts.columns(values(model.tgt_embedding.tokens.weight))  # [T,d]
    is_tied = model.config.tie_embeddings != "none"
    tensors: Tensors = {}
    if layout.has_one_table:
        tensors["model.shared.weight"] = source
    elif layout.is_marian:
        tensors["model.encoder.embed_tokens.weight"] = source
        tensors["model.decoder.embed_tokens.weight"] = target
    else:
        both = np.concatenate([source, target])  # [S+T,d]
        tensors["model.shared.weight"] = both
        if not is_tied:  # then transformers takes each table by its own name
            tensors["model.encoder.embed_tokens.weight"] = both
            tensors["model.decoder.embed_tokens.weight"] = both
    if not is_tied:
        output = np.zeros((layout.target_rows, model.config.d_model), np.float32)  # [V,d]
        output[layout.first_target :] = parts.columns(values(model.output.weight))
        tensors["lm_head.weight"] = output
    return tensors


def _positions(model: Transformer, layout: Layout, parts: _Parts) -> Tensors:
    """The positions, but for those that Marian computes: it leaves them out of its own files, too."""
    if layout.is_marian and model.config.positions == "sinusoidal":
        return {}
    sides = {"encoder": model.src_embedding, "decoder": model.tgt_embedding}
    tensors = {}
    for name, embedding in sides.items():
        tensors[f"model.{name}.embed_positions.weight"] = parts.columns(values(embedding.positions))
    return tensors


def _bias(model: Transformer, forbidden: list[int], layout: Layout) -> Array:
    """What is added to the logits [1,V]; it keeps out source tokens that are in the same table."""
    bias = np.full((1, layout.target_rows), FORBIDDEN, np.float32)
    bias[0, layout.first_target :] = output_bias(model, forbidden)
    return bias


# --- settings ---


def model_settings(model: Transformer) -> dict[str, Any]:
    """What config.json says."""
    config = model.config
    layout = Layout.of(model)
    settings = {
        "architectures": [
            "MarianMTModel" if layout.is_marian else "PegasusForConditionalGeneration"
        ],
        "model_type": "marian" if layout.is_marian else "pegasus",
        "dtype": "float32",
        "is_encoder_decoder": True,
        "vocab_size": layout.src_tokens if layout.is_marian else layout.target_rows,
        "d_model": config.d_model,
        "max_position_embeddings": config.max_length,
        "activation_function": _ACTIVATIONS[config.activation],
        "scale_embedding": config.scale == "embedding",
        "tie_word_embeddings": config.tie_embeddings != "none",
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        **_special_ids(layout),
    }
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        settings[f"{stack}_layers"] = layers
        settings[f"{stack}_attention_heads"] = config.heads
        settings[f"{stack}_ffn_dim"] = config.d_ff
    if layout.is_marian:
        settings["decoder_vocab_size"] = layout.tgt_tokens
        settings["share_encoder_decoder_embeddings"] = layout.has_one_table
    return settings


def generation_settings(model: Transformer, beams: int) -> dict[str, Any]:
    """What generation_config.json says: the longest output has BOS, all our positions, and EOS."""
    special_ids = _special_ids(Layout.of(model))
    return {**special_ids, "max_length": model.config.max_length + 1, "num_beams": beams}


def _special_ids(layout: Layout) -> dict[str, int]:
    first = layout.first_target
    return {
        "pad_token_id": PAD,
        "bos_token_id": first + BOS,
        "eos_token_id": first + EOS,
        "forced_eos_token_id": first + EOS,
        "decoder_start_token_id": first + BOS,
    }

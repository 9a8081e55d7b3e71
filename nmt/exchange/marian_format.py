"""Marian's names and numbers, and the names that transformers' MarianMT has for the same weights.

What reads Marian's files and what writes them goes through transformers' names. Marian counts layers from 1, and its
matrices are [in,out], transformers' [out,in].
"""

import struct
from collections.abc import Iterator

from nmt.config.schema import ModelConfig

SETTINGS = "special:model.yml"  # the settings, as YAML, among the arrays

# --- `.bin`: marian-dev, src/common/binary.cpp ---
VERSION = 1
FLOAT32, INT8, INTGEMM8 = 0x0404, 0x0101, 0x4101  # types of arrays
ALIGNMENT = 256  # bytes
TABLES = "Wemb"  # how the names of embeddings end
ACTIVATIONS = "_QuantMultA"  # ends the name of what the inputs of a matrix are multiplied with
MULTIPLIER = struct.Struct(
    "<f"
)  # lies behind the numbers of an INTGEMM8: what they were multiplied with

# --- transformers' names ---
SHARED = "model.shared.weight"
SOURCE = "model.encoder.embed_tokens.weight"
TARGET = "model.decoder.embed_tokens.weight"
OUTPUT = "lm_head.weight"
BIAS = "final_logits_bias"
VALUES = "rnn.values"  # of SSRU, which transformers does not have
FORGET = "rnn.forget"
RECURRENT_NORM = "rnn_layer_norm"

# --- Marian's matrix and bias, and what transformers calls the two ---
ENCODER_PARTS = {
    ("self_Wq", "self_bq"): "self_attn.q_proj",
    ("self_Wk", "self_bk"): "self_attn.k_proj",
    ("self_Wv", "self_bv"): "self_attn.v_proj",
    ("self_Wo", "self_bo"): "self_attn.out_proj",
    ("self_Wo_ln_scale", "self_Wo_ln_bias"): "self_attn_layer_norm",
    ("ffn_W1", "ffn_b1"): "fc1",
    ("ffn_W2", "ffn_b2"): "fc2",
    ("ffn_ffn_ln_scale", "ffn_ffn_ln_bias"): "final_layer_norm",
}
DECODER_PARTS = {
    ("context_Wq", "context_bq"): "encoder_attn.q_proj",
    ("context_Wk", "context_bk"): "encoder_attn.k_proj",
    ("context_Wv", "context_bv"): "encoder_attn.v_proj",
    ("context_Wo", "context_bo"): "encoder_attn.out_proj",
    ("context_Wo_ln_scale", "context_Wo_ln_bias"): "encoder_attn_layer_norm",
    ("rnn_W", "rnn_b"): VALUES,
    ("rnn_Wf", "rnn_bf"): FORGET,
    ("rnn_ffn_ln_scale", "rnn_ffn_ln_bias"): RECURRENT_NORM,
}

# --- outside of the layers ---
OUTSIDE = {
    "Wemb": SHARED,
    "encoder_Wemb": SOURCE,
    "decoder_Wemb": TARGET,
    "decoder_ff_logit_out_b": BIAS,
    "encoder_emb_ln_scale": "model.encoder.layernorm_embedding.weight",
    "encoder_emb_ln_bias": "model.encoder.layernorm_embedding.bias",
    "decoder_emb_ln_scale": "model.decoder.layernorm_embedding.weight",
    "decoder_emb_ln_bias": "model.decoder.layernorm_embedding.bias",
    "encoder_top_ln_scale": "model.encoder.layer_norm.weight",
    "encoder_top_ln_bias": "model.encoder.layer_norm.bias",
    "decoder_top_ln_scale": "model.decoder.layer_norm.weight",
    "decoder_top_ln_bias": "model.decoder.layer_norm.bias",
}

Sources = dict[str, tuple[str, ...]]  # of the parts of a layer

# --- our layers' parts, and those of transformers' that they consist of ---
ENCODER_SOURCES: Sources = {
    "attention.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attention.out": ("self_attn.out_proj",),
    "attention_residual.norm": ("self_attn_layer_norm",),
    "feed_forward.inner": ("fc1",),
    "feed_forward.out": ("fc2",),
    "feed_forward_residual.norm": ("final_layer_norm",),
}
_CROSS = {
    "cross.q": ("encoder_attn.q_proj",),
    "cross.kv": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "cross.out": ("encoder_attn.out_proj",),
    "cross_residual.norm": ("encoder_attn_layer_norm",),
}
_SELF = ("attention.qkv", "attention.out", "attention_residual.norm")
_SSRU = {
    "attention.values": (VALUES,),
    "attention.forget": (FORGET,),
    "attention_residual.norm": (RECURRENT_NORM,),
}
_RECURRENT = {part: theirs for part, theirs in ENCODER_SOURCES.items() if part not in _SELF} | _SSRU
DECODER_SOURCES: dict[str, Sources] = {
    "attention": ENCODER_SOURCES | _CROSS,
    "ssru": _RECURRENT | _CROSS,
}


def layers_of(config: ModelConfig) -> Iterator[tuple[str, int, Sources]]:
    """Each layer: its stack, its number from 0, and what its parts consist of."""
    for layer in range(config.encoder_layers):
        yield "encoder", layer, ENCODER_SOURCES
    for layer in range(config.decoder_layers):
        yield "decoder", layer, DECODER_SOURCES[config.decoder]


def shapes_of(config: ModelConfig, src_rows: int, tgt_rows: int) -> dict[str, tuple[int, int]]:
    """Marian's arrays of a post-norm model with tied embeddings, each with its shape."""
    d_model, d_ff = config.d_model, config.d_ff
    shapes = {"decoder_ff_logit_out_b": (1, tgt_rows)}
    if config.tie_embeddings == "all":
        shapes["Wemb"] = (tgt_rows, d_model)
    else:
        shapes |= {"encoder_Wemb": (src_rows, d_model), "decoder_Wemb": (tgt_rows, d_model)}
    for stack, layer, sources in layers_of(config):
        theirs = {part for parts in sources.values() for part in parts}
        for (matrix, bias), part in (ENCODER_PARTS | DECODER_PARTS).items():
            if part not in theirs:
                continue
            rows = d_ff if matrix == "ffn_W2" else d_model
            columns = d_ff if matrix == "ffn_W1" else d_model
            is_norm = matrix.endswith("_ln_scale")
            shapes[f"{stack}_l{layer + 1}_{matrix}"] = (1 if is_norm else rows, columns)
            if part != VALUES:
                shapes[f"{stack}_l{layer + 1}_{bias}"] = (1, columns)
    return shapes

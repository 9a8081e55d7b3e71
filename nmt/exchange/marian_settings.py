"""Marian's settings of a Transformer: in its models, and again in the `metadata.json` of Firefox Translations."""

from typing import Any

from nmt.config.schema import ModelConfig

# With another value than one of these, a model computes something that nmt does not.
NEEDED: dict[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "factors-dim-emb": (0,),
    "input-types": ([],),
    "layer-normalization": (False,),  # within recurrent cells
    "lemma-dependency": ("",),
    "lemma-dim-emb": (0,),
    "right-left": (False,),
    "skip": (False,),
    "tied-embeddings-src": (False,),
    "transformer-decoder-ffn-depth": (0, 2),  # 0: as the encoder's
    "transformer-ffn-depth": (2,),
    "transformer-no-affine": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-projection": (False,),
    "transformer-pool": (False,),
    "transformer-rnn-projection": (False,),
    "transformer-tied-layers": ([],),
    "ulr": (False,),
}
# Settings of other architectures, and of training: a Transformer is the same with any value. Here are Mozilla's.
WITHOUT_EFFECT: dict[str, Any] = {
    "bert-train-type-embeddings": True,
    "bert-type-vocab-size": 2,
    "dec-cell-base-depth": 2,
    "dec-cell-high-depth": 1,
    "dim-rnn": 1024,
    "enc-cell": "gru",
    "enc-cell-depth": 1,
    "enc-type": "bidirectional",
    "factors-combine": "sum",
    "transformer-aan-activation": "swish",
    "transformer-aan-depth": 2,
    "transformer-aan-nogate": False,
    "transformer-dim-aan": 2048,
    "transformer-guided-alignment-layer": "last",
    "ulr-dim-emb": 0,
    "ulr-trainable-transformation": False,
    "version": "v1.12.14",  # of the Marian whose files these are like
}


def settings_of(config: ModelConfig, src_rows: int, tgt_rows: int) -> dict[str, Any]:
    """All settings of a post-norm model of ours."""
    is_recurrent = config.decoder == "ssru"
    return {
        **WITHOUT_EFFECT,
        **{name: values[0] for name, values in NEEDED.items()},
        "dec-cell": "ssru" if is_recurrent else "gru",
        "dec-depth": config.decoder_layers,
        "dim-emb": config.d_model,
        "dim-vocabs": [src_rows, tgt_rows],
        "enc-depth": config.encoder_layers,
        "output-omit-bias": False,
        "tied-embeddings": config.tie_embeddings == "target",
        "tied-embeddings-all": config.tie_embeddings == "all",
        "transformer-decoder-autoreg": "rnn" if is_recurrent else "self-attention",
        "transformer-decoder-dim-ffn": 0,  # as the encoder's
        "transformer-dim-ffn": config.d_ff,
        "transformer-ffn-activation": config.activation,
        "transformer-heads": config.heads,
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "",
        "transformer-preprocess": "",
        "transformer-train-position-embeddings": False,
    }

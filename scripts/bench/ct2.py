"""The yardstick of decoding: CTranslate2, given the same weights. It has to be installed; nmt itself never needs it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from torch import Tensor, nn

from nmt.model.transformer import DecoderLayer, EncoderLayer, SelfAttention, Transformer
from nmt.text.vocab import SPECIALS

BATCHES = {"greedy": (64, 256), "beam": (32, 128)}  # sentences; what was best for it is among these


def installed() -> bool:
    """Whether CTranslate2 can be compared with."""
    try:
        import ctranslate2  # noqa: F401
    except ImportError:
        return False
    return True


def export(model: Transformer, folder: Path) -> None:
    """Write a model (pre-norm, relu, sinusoidal positions) as CTranslate2 reads it; its tokens are ids in digits."""
    from ctranslate2 import specs

    config = model.config
    assert config.norm == "pre" and config.activation == "relu" and config.scale == "embedding"  # noqa: S101, PT018
    layers = (config.encoder_layers, config.decoder_layers)
    spec = specs.TransformerSpec.from_config(
        layers, config.heads, pre_norm=True, activation=specs.Activation.RELU
    )
    _embed(spec.encoder, spec.encoder.embeddings[0], model.src_embedding)
    _embed(spec.decoder, spec.decoder.embeddings, model.tgt_embedding)
    _norm(spec.encoder.layer_norm, model.encoder_norm)
    _norm(spec.decoder.layer_norm, model.decoder_norm)
    for theirs, encoder in zip(
        spec.encoder.layer, cast(list[EncoderLayer], model.encoder), strict=True
    ):
        _layer(theirs, encoder)
    for theirs, decoder in zip(
        spec.decoder.layer, cast(list[DecoderLayer], model.decoder), strict=True
    ):
        _layer(theirs, decoder)
        _norm(theirs.attention.layer_norm, decoder.cross_residual.norm)
        parts = (decoder.cross.q, decoder.cross.kv, decoder.cross.out)
        for part, linear in zip(theirs.attention.linear, parts, strict=True):
            _linear(part, linear)
    _linear(spec.decoder.projection, model.output)
    _save(spec, [len(e.tokens.weight) for e in (model.src_embedding, model.tgt_embedding)], folder)


def translate(
    folder: Path, kind: str, method: str, batch: int, threads: int, limit: int
) -> Callable[..., Any]:
    """A function from sources (lists of ids) to lists of ids: `kind` is float32 or int8."""
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder), compute_type=kind, inter_threads=1, intra_threads=threads
    )

    def run(sources: list[list[int]]) -> list[list[str]]:
        tokens = [[str(token) for token in ids] for ids in sources]
        beams = 5 if method == "beam" else 1
        found = translator.translate_batch(
            tokens, beam_size=beams, max_batch_size=batch, max_decoding_length=limit
        )
        return [result.hypotheses[0] for result in found]

    return run


def _save(spec: Any, sizes: list[int], folder: Path) -> None:
    src, tgt = ([*SPECIALS, *map(str, range(len(SPECIALS), size))] for size in sizes)
    spec.config.add_source_eos = True
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = SPECIALS[1:]
    spec.config.decoder_start_token = spec.config.bos_token
    spec.register_source_vocabulary(src)
    spec.register_target_vocabulary(tgt)
    spec.validate()
    spec.optimize()
    folder.mkdir()
    spec.save(str(folder))


def _layer(theirs: Any, ours: EncoderLayer | DecoderLayer) -> None:
    attention: SelfAttention = ours.attention
    _norm(theirs.self_attention.layer_norm, ours.attention_residual.norm)
    _linear(theirs.self_attention.linear[0], attention.qkv)
    _linear(theirs.self_attention.linear[1], attention.out)
    _norm(theirs.ffn.layer_norm, ours.feed_forward_residual.norm)
    _linear(theirs.ffn.linear_0, ours.feed_forward.inner)
    _linear(theirs.ffn.linear_1, ours.feed_forward.out)


def _embed(side: Any, table: Any, ours: Any) -> None:
    table.weight = _values(ours.tokens.weight)
    side.scale_embeddings = True
    side.position_encodings.encodings = _values(ours.positions)


def _norm(theirs: Any, ours: Any) -> None:
    theirs.gamma, theirs.beta = _values(ours.weight), _values(ours.bias)


def _linear(theirs: Any, ours: nn.Linear) -> None:
    theirs.weight = _values(ours.weight)
    theirs.bias = (
        np.zeros(len(ours.weight), np.float32) if ours.bias is None else _values(ours.bias)
    )


def _values(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()

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
    """Write a model (pre-norm, relu, sinusoidal positions) as CTranslate2 reads it; its tokens are ids in digits.

    Raises ValueError for a model of another kind.
    """
    from ctranslate2 import specs

    config = model.config
    kind = (config.norm, config.activation, config.scale)
    if kind != ("pre", "relu", "embedding"):
        raise ValueError(f"a model with {', '.join(kind)} cannot be compared with CTranslate2")
    spec = specs.TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=True,
        activation=specs.Activation.RELU,
    )
    _put_encoder(spec.encoder, model)
    _put_decoder(spec.decoder, model)
    _save(
        spec, len(model.src_embedding.tokens.weight), len(model.tgt_embedding.tokens.weight), folder
    )


def _put_encoder(theirs: Any, model: Transformer) -> None:
    _put_embedding(theirs, theirs.embeddings[0], model.src_embedding)
    layers = cast(list[EncoderLayer], model.encoder)
    for their_layer, layer in zip(theirs.layer, layers, strict=True):
        _put_layer(their_layer, layer)
    _put_norm(theirs.layer_norm, model.encoder_norm)


def _put_decoder(theirs: Any, model: Transformer) -> None:
    _put_embedding(theirs, theirs.embeddings, model.tgt_embedding)
    layers = cast(list[DecoderLayer], model.decoder)
    for their_layer, layer in zip(theirs.layer, layers, strict=True):
        _put_layer(their_layer, layer)
        _put_norm(their_layer.attention.layer_norm, layer.cross_residual.norm)
        _put_linear(their_layer.attention.linear[0], layer.cross.q)
        _put_linear(their_layer.attention.linear[1], layer.cross.kv)
        _put_linear(their_layer.attention.linear[2], layer.cross.out)
    _put_norm(theirs.layer_norm, model.decoder_norm)
    _put_linear(theirs.projection, model.output)


def _put_layer(theirs: Any, ours: EncoderLayer | DecoderLayer) -> None:
    """What the layers of encoder and decoder have in common."""
    attention: SelfAttention = ours.attention
    _put_norm(theirs.self_attention.layer_norm, ours.attention_residual.norm)
    _put_linear(theirs.self_attention.linear[0], attention.qkv)
    _put_linear(theirs.self_attention.linear[1], attention.out)
    _put_norm(theirs.ffn.layer_norm, ours.feed_forward_residual.norm)
    _put_linear(theirs.ffn.linear_0, ours.feed_forward.inner)
    _put_linear(theirs.ffn.linear_1, ours.feed_forward.out)


def _put_embedding(side: Any, table: Any, ours: Any) -> None:
    table.weight = _values(ours.tokens.weight)
    side.scale_embeddings = True
    side.position_encodings.encodings = _values(ours.positions)


def _put_norm(theirs: Any, ours: Any) -> None:
    theirs.gamma = _values(ours.weight)
    theirs.beta = _values(ours.bias)


def _put_linear(theirs: Any, ours: nn.Linear) -> None:
    theirs.weight = _values(ours.weight)
    if ours.bias is None:
        theirs.bias = np.zeros(len(ours.weight), np.float32)
    else:
        theirs.bias = _values(ours.bias)


def _values(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()


def _save(spec: Any, src_tokens: int, tgt_tokens: int, folder: Path) -> None:
    _, unk, bos, eos = SPECIALS
    spec.config.add_source_eos = True
    spec.config.unk_token = unk
    spec.config.bos_token = bos
    spec.config.eos_token = eos
    spec.config.decoder_start_token = bos
    spec.register_source_vocabulary(_ids_as_tokens(src_tokens))
    spec.register_target_vocabulary(_ids_as_tokens(tgt_tokens))
    spec.validate()
    spec.optimize()
    folder.mkdir()
    spec.save(str(folder))


def _ids_as_tokens(count: int) -> list[str]:
    return [*SPECIALS, *map(str, range(len(SPECIALS), count))]


def translate(
    folder: Path, kind: str, method: str, batch: int, threads: int, limit: int
) -> Callable[[list[list[int]]], list[list[str]]]:
    """A function from sources (lists of ids) to lists of ids in digits: `kind` is float32 or int8."""
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder), compute_type=kind, inter_threads=1, intra_threads=threads
    )
    beam_size = 5 if method == "beam" else 1

    def run(sources: list[list[int]]) -> list[list[str]]:
        tokens = [list(map(str, ids)) for ids in sources]
        found = translator.translate_batch(
            tokens, beam_size=beam_size, max_batch_size=batch, max_decoding_length=limit
        )
        return [result.hypotheses[0] for result in found]

    return run

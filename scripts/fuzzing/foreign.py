"""Models from elsewhere, as `nmt import` reads them: Hugging Face MarianMT and Marian's own files."""
# ruff: noqa: S101 - an assert says what a right result is

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import safetensors.torch
import sentencepiece
import torch
import yaml
from torch import Tensor

from nmt.exchange.importers.importing import read_model
from nmt.exchange.importers.licence import stated_licence
from nmt.model.transformer import Transformer
from nmt.run.checkpoint import refuse_misfits

_LINES = ["one two .", "a b c", "I like tea, and you?", "我喜欢喝茶，你呢？", "三 二 , 一 。"] * 12
_WIDTH, _INNER, _LAYERS = 8, 12, 1
_ATTENTIONS = {"encoder": ("self_attn",), "decoder": ("self_attn", "encoder_attn")}
_SETTINGS = {
    "type": "transformer",
    "transformer-decoder-autoreg": "self-attention",
    "transformer-ffn-activation": "swish",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-heads": 2,
    "enc-depth": _LAYERS,
    "dec-depth": _LAYERS,
}


def pieces_of_both() -> bytes:
    """A sentencepiece model of both languages."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_LINES),
        model_writer=model,
        vocab_size=50,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def _vocab(pieces: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=pieces)
    listed = [processor.id_to_piece(row) for row in range(3, processor.get_piece_size())]
    return ["</s>", "<unk>", ">>cmn_Hans<<", *listed]


def _norm(name: str) -> Iterator[tuple[str, Tensor]]:
    yield f"{name}.weight", torch.ones(_WIDTH)
    yield f"{name}.bias", torch.zeros(_WIDTH)


def _linear(name: str, rows: int, columns: int) -> Iterator[tuple[str, Tensor]]:
    yield f"{name}.weight", torch.randn(rows, columns)
    yield f"{name}.bias", torch.randn(rows)


def _layers() -> Iterator[tuple[str, Tensor]]:
    """The weights of both stacks, as transformers calls them."""
    for stack, attentions in _ATTENTIONS.items():
        for layer in range(_LAYERS):
            base = f"model.{stack}.layers.{layer}"
            for attention in attentions:
                for part in ("q", "k", "v", "out"):
                    yield from _linear(f"{base}.{attention}.{part}_proj", _WIDTH, _WIDTH)
                yield from _norm(f"{base}.{attention}_layer_norm")
            yield from _linear(f"{base}.fc1", _INNER, _WIDTH)
            yield from _linear(f"{base}.fc2", _WIDTH, _INNER)
            yield from _norm(f"{base}.final_layer_norm")


# --- Hugging Face MarianMT ---


def _make_hf(folder: Path, save: Callable[[dict[str, Tensor], Path], Path]) -> list[Path]:
    torch.manual_seed(1)
    pieces = pieces_of_both()
    vocab = [*_vocab(pieces), "<pad>"]
    tensors = dict(_layers())
    tensors["model.shared.weight"] = torch.randn(len(vocab), _WIDTH)
    tensors["final_logits_bias"] = torch.randn(1, len(vocab))
    config = {
        "model_type": "marian",
        "activation_function": "swish",
        "d_model": _WIDTH,
        "max_position_embeddings": 16,
        "scale_embedding": True,
        "vocab_size": len(vocab),
        "eos_token_id": 0,
        "pad_token_id": len(vocab) - 1,
        "decoder_start_token_id": len(vocab) - 1,
    }
    for stack in ("encoder", "decoder"):
        config |= {f"{stack}_layers": _LAYERS, f"{stack}_ffn_dim": _INNER}
        config[f"{stack}_attention_heads"] = 2
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(vocab)}))
    languages = {"source_lang": "eng", "target_lang": "zho"}
    (folder / "tokenizer_config.json").write_text(json.dumps(languages))
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\n")
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(pieces)
    weights = save(tensors, folder)
    # The weights are damaged in every other input.
    small = ["config.json", "vocab.json", "tokenizer_config.json", "README.md", "source.spm"]
    return [folder / name for name in small] + [weights] * len(small)


def make_hf_safetensors(folder: Path) -> list[Path]:
    """A MarianMT of one layer, in safetensors."""

    def save(tensors: dict[str, Tensor], folder: Path) -> Path:
        safetensors.torch.save_file(tensors, folder / "model.safetensors")
        return folder / "model.safetensors"

    return _make_hf(folder, save)


def make_hf_bin(folder: Path) -> list[Path]:
    """The same in a zip of torch's."""

    def save(tensors: dict[str, Tensor], folder: Path) -> Path:
        torch.save(tensors, folder / "pytorch_model.bin")
        return folder / "pytorch_model.bin"

    return _make_hf(folder, save)


# --- Marian's own files ---

_MARIAN = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}


def _marian_name(name: str) -> str:
    """`model.encoder.layers.0.fc1.weight` → `encoder_l1_ffn_W1`."""
    _, stack, _, layer, part, *rest = name.split(".")
    scope = f"{stack}_l{int(layer) + 1}"
    attention = "self" if part.startswith("self") else "context"
    is_bias = name.endswith("bias")
    if part in ("self_attn", "encoder_attn"):
        return f"{scope}_{attention}_{'b' if is_bias else 'W'}{_MARIAN[rest[0]]}"
    if part.endswith("norm"):
        norm = "ffn_ffn" if part == "final_layer_norm" else f"{attention}_Wo"
        return f"{scope}_{norm}_ln_{'bias' if is_bias else 'scale'}"
    return f"{scope}_ffn_{'b' if is_bias else 'W'}{part[-1]}"


def make_npz(folder: Path) -> list[Path]:
    """A Marian of one layer."""
    torch.manual_seed(1)
    pieces = pieces_of_both()
    vocab = _vocab(pieces)
    arrays = {}
    for name, tensor in _layers():
        arrays[_marian_name(name)] = tensor.t().numpy() if tensor.ndim > 1 else tensor.numpy()[None]
    arrays["Wemb"] = torch.randn(len(vocab), _WIDTH).numpy()
    arrays["decoder_ff_logit_out_b"] = torch.randn(1, len(vocab)).numpy()
    text = yaml.safe_dump(_SETTINGS).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, dtype=np.int8)
    np.savez(folder / "model.npz", allow_pickle=False, **arrays)
    lines = [f"{json.dumps(token, ensure_ascii=False)}: {row}\n" for row, token in enumerate(vocab)]
    (folder / "vocab.yml").write_text("".join(lines))
    (folder / "decoder.yml").write_text("vocabs: [vocab.yml, vocab.yml]\n")
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(pieces)
    small = ["vocab.yml", "decoder.yml", "target.spm"]
    return [folder / name for name in small] + [folder / "model.npz"] * 3


# --- what a right result is ---


def read_foreign(folder: Path) -> None:
    """What was read is a whole model: its weights fit, its sides encode and decode."""
    with _checksums_fit(folder):
        model = read_model(folder)
    assert stated_licence(folder) != ""
    src, tgt = model.src.tokens.vocab(), model.tgt.tokens.vocab()
    with torch.device("meta"):
        shapes = Transformer(model.config, len(src), len(tgt))
    refuse_misfits(shapes, model.weights, folder)
    for vocab in (src, tgt):
        ids = vocab.encode(["▁tea", "茶", "x"])
        assert all(0 <= i < len(vocab) for i in ids)
        vocab.decode(range(len(vocab)))


@contextmanager
def _checksums_fit(folder: Path) -> Iterator[None]:
    """An attacker's archive has checksums that fit: leave zipfile's check of them out."""
    kept = zipfile.ZipExtFile._update_crc  # type: ignore[attr-defined]
    zipfile.ZipExtFile._update_crc = lambda *_: None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        zipfile.ZipExtFile._update_crc = kept  # type: ignore[attr-defined]

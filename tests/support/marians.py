"""Random tiny Marian models, made by transformers, with real sentencepiece models: no weights can be downloaded here.

`write_npz` writes the same weights as Marian itself would.
"""

import io
import json
import struct
import warnings
from collections.abc import Iterable
from pathlib import Path
from random import Random

import numpy as np
import sentencepiece
import torch
import yaml
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

HANS = ">>cmn_Hans<<"
HANT = ">>cmn_Hant<<"
ENGLISH = [
    "The cat sits on the mat, and the dog sleeps.",
    "I like tea; do you like coffee?",
    "He said that it's 10:30 already.",
    "Where is the nearest railway station?",
    "All of them went home after the meeting.",
    "See https://example.org/a?b=1 for more.",
    "Prices rose by 3.5% in 2024.",
]
CHINESE = [
    "猫坐在垫子上,狗在睡觉。",
    "我喜欢喝茶;你喜欢咖啡吗?",
    "他说已经十点半了。",
    "最近的火车站在哪里?",
    "会后他们都回家了。",
    "更多内容见 https://example.org/a?b=1 。",
    "2024年价格上涨了3.5%。",
]
SHAPE = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
}


def train_pieces(lines: list[str], size: int) -> bytes:
    """A model with sentencepiece's own defaults, as OPUS-MT trains it: it normalises by nmt_nfkc."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 20),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]


def rows(pieces: Iterable[str], seed: int) -> dict[str, int]:
    """Marian's order: </s>, <unk>, then anything; transformers' converter puts <pad> last."""
    listed = sorted({*pieces, HANS, HANT})
    Random(seed).shuffle(listed)
    return {token: row for row, token in enumerate(["</s>", "<unk>", *listed, "<pad>"])}


def make(
    folder: Path, shared: bool = True, weights: str = "safetensors", **settings: object
) -> MarianMTModel:
    """Write a model into a folder, and give it."""
    folder.mkdir(parents=True, exist_ok=True)
    spm = train_pieces(ENGLISH, 90), train_pieces(CHINESE, 110)
    (folder / "source.spm").write_bytes(spm[0])
    (folder / "target.spm").write_bytes(spm[1])
    pieces = [pieces_of(each) for each in spm]
    if shared:
        vocabularies = [rows(pieces[0] + pieces[1], 1)]
    else:  # of equal size: one number is padding's in both
        few = min(len({*each}) for each in pieces)
        vocabularies = [rows(each[:few], seed) for seed, each in enumerate(pieces)]
        (folder / "target_vocab.json").write_text(json.dumps(vocabularies[1]))
    (folder / "vocab.json").write_text(json.dumps(vocabularies[0]))
    languages = {"source_lang": "eng", "target_lang": "zho", "separate_vocabs": not shared}
    (folder / "tokenizer_config.json").write_text(json.dumps(languages))
    model = random_model(len(vocabularies[0]), shared, **settings)
    save_weights(model, folder, weights)
    return model


def random_model(tokens: int, shared: bool, **settings: object) -> MarianMTModel:
    config = MarianConfig(
        vocab_size=tokens,
        decoder_vocab_size=tokens,
        pad_token_id=tokens - 1,
        decoder_start_token_id=tokens - 1,
        share_encoder_decoder_embeddings=shared,
        **{"activation_function": "swish", "scale_embedding": True, **SHAPE, **settings},
    )
    torch.manual_seed(3)
    model = MarianMTModel(config).eval()
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name:
            parameter.data += torch.randn_like(parameter) * _spread(name)
    for embedding in {model.get_input_embeddings(), model.get_decoder().embed_tokens}:
        embedding.weight.data[tokens - 1] = 0  # what the decoder starts from
    model.final_logits_bias.normal_(std=0.5)
    model.final_logits_bias[0, -1] = 0
    model.final_logits_bias[0, 0] += 1.5  # some sentences end early
    return model


def _spread(name: str) -> float:
    """Wide enough that what is generated depends on the source."""
    if name.endswith("bias") or "norm" in name:
        return 0.1
    if "attn" in name:
        return 0.7
    return 0.3 if "fc" in name else 0.2


def save_weights(model: MarianMTModel, folder: Path, weights: str) -> None:
    """As `safetensors`, or as a `.bin` of all names."""
    model.config.save_pretrained(folder)
    if weights == "safetensors":
        model.save_pretrained(folder)
    else:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")


def tokenizer(folder: Path) -> MarianTokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends sacremoses
        return MarianTokenizer.from_pretrained(folder)


# --- Marian's own files ---

SETTINGS = {
    "type": "transformer",
    "transformer-decoder-autoreg": "self-attention",
    "transformer-no-projection": False,
    "transformer-ffn-activation": "swish",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-guided-alignment-layer": "last",
    "transformer-heads": SHAPE["encoder_attention_heads"],
    "enc-depth": SHAPE["encoder_layers"],
    "dec-depth": SHAPE["decoder_layers"],
    "dec-cell": "gru",
}
_ATTENTION = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}
_NAMES = {"self_attn": "self", "encoder_attn": "context"}


def marian_arrays(model: MarianMTModel, pre: str = "") -> dict[str, np.ndarray]:
    """The weights under Marian's names, matrices turned over, without the row for padding.

    `pre` ends the names of the norms: `_pre` in models that norm before each layer.
    """
    arrays = {}
    for name, tensor in model.state_dict().items():
        values = tensor.numpy()
        parts = name.split(".")
        if "layers" not in parts:
            continue
        scope = f"{parts[1]}_l{int(parts[3]) + 1}"
        values = values.T if values.ndim == 2 else values[None]
        kind = parts[-1]
        if parts[4] in _NAMES:
            letter = _ATTENTION[parts[5]]
            name = f"{_NAMES[parts[4]]}_{'W' if kind == 'weight' else 'b'}{letter}"
        elif parts[4].endswith("attn_layer_norm"):
            attention = _NAMES[parts[4].removesuffix("_layer_norm")]
            name = f"{attention}_Wo_ln_{'scale' if kind == 'weight' else 'bias'}{pre}"
        elif parts[4] == "final_layer_norm":
            name = f"ffn_ffn_ln_{'scale' if kind == 'weight' else 'bias'}{pre}"
        else:
            name = f"ffn_{'W' if kind == 'weight' else 'b'}{parts[4][-1]}"
        arrays[f"{scope}_{name}"] = np.ascontiguousarray(values)
    arrays["decoder_ff_logit_out_b"] = model.final_logits_bias[:, :-1].numpy()
    if model.config.share_encoder_decoder_embeddings:
        arrays["Wemb"] = model.model.shared.weight[:-1].detach().numpy()
    else:
        for stack in ("encoder", "decoder"):
            embedding = getattr(model.model, stack).embed_tokens.weight[:-1]
            arrays[f"{stack}_Wemb"] = embedding.detach().numpy()
    return arrays


def write_npz(path: Path, arrays: dict[str, np.ndarray], **settings: object) -> None:
    """As Marian writes it: the settings are an array of characters, which ends in a zero."""
    text = yaml.safe_dump({**SETTINGS, **settings}).encode() + b"\0"
    np.savez(path, **{"special:model.yml": np.frombuffer(text, dtype=np.int8)}, **arrays)


def write_yml(path: Path, vocab: dict[str, int]) -> None:
    """As Marian writes its vocabularies."""
    listed = sorted(vocab.items(), key=lambda item: item[1])
    lines = [f"{json.dumps(token, ensure_ascii=False)}: {row}\n" for token, row in listed]
    path.write_text("".join(lines), encoding="utf-8")


def make_npz(folder: Path, made: Path, model: MarianMTModel) -> None:
    """The model that transformers wrote into `made`, as Marian would have written it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_npz(folder / "model.npz", marian_arrays(model))
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes((made / name).read_bytes())
    vocab = json.loads((made / "vocab.json").read_text())
    del vocab["<pad>"]
    if model.config.share_encoder_decoder_embeddings:
        write_yml(folder / "opus.spm32k.vocab.yml", vocab)
    else:
        target = json.loads((made / "target_vocab.json").read_text())
        del target["<pad>"]
        write_yml(folder / "vocab.src.yml", vocab)
        write_yml(folder / "vocab.trg.yml", target)


# --- Marian's binary files, as Firefox Translations has them ---

SSRU = {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"}
_FLOAT32, _INT8, _INTGEMM8 = 0x0404, 0x0101, 0x4101


def with_recurrences(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with SSRU instead of the self-attention of the decoder."""
    theirs = {"self_Wq": "rnn_W", "self_Wk": "rnn_Wf", "self_bk": "rnn_bf"}
    theirs |= {f"self_Wo_ln_{kind}": f"rnn_ffn_ln_{kind}" for kind in ("scale", "bias")}
    changed = {}
    for name, array in arrays.items():
        scope, _, part = name.partition("_self_")
        if not part or name.startswith("encoder"):
            changed[name] = array
        elif f"self_{part}" in theirs:
            changed[f"{scope}_{theirs[f'self_{part}']}"] = array
    return changed


def write_bin(
    path: Path, arrays: dict[str, np.ndarray], is_quantised: bool, **settings: object
) -> None:
    """As Marian writes it; quantised: matrices as int8, with the multipliers of their inputs."""
    text = yaml.safe_dump({**SETTINGS, **settings}).encode() + b"\0"
    items = [("special:model.yml", _INT8, (len(text),), text)]
    for name, array in arrays.items():
        is_table = name.endswith("Wemb")
        if is_quantised and (is_table or ("_W" in name and "_ln_" not in name)):
            items.append((name, _INTGEMM8, array.shape, _quantised(array, is_table)))
            items.append((f"{name}_QuantMultA", _FLOAT32, (1, 1), struct.pack("<f", 25.0)))
        else:
            items.append((name, _FLOAT32, array.shape, array.astype("<f4").tobytes()))
    path.write_bytes(packed_items(items))


def _quantised(array: np.ndarray, is_table: bool) -> bytes:
    multiplier = 127 / np.abs(array).max()
    numbers = np.rint(array * multiplier).astype(np.int8)
    return (numbers if is_table else numbers.T).tobytes() + struct.pack("<f", multiplier)


def packed_items(items: list[tuple[str, int, tuple[int, ...], bytes]]) -> bytes:
    """A file of these names, types, shapes and data, which begins at a multiple of 256."""
    names = [name.encode() + b"\0" for name, *_ in items]
    blocks = [data + b"\0" * (-len(data) % 256) for *_, data in items]
    head = struct.pack("<QQ", 1, len(items))
    for name, (_, kind, shape, _), block in zip(names, items, blocks, strict=True):
        head += struct.pack("<QQQQ", len(name), kind, len(shape), len(block))
    head += b"".join(names)
    head += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    padding = -(len(head) + 8) % 256
    return head + struct.pack("<Q", padding) + b"\0" * padding + b"".join(blocks)

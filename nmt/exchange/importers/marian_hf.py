"""A folder of Hugging Face's MarianMT, as OPUS-MT's models have it.

    config.json                               the shape
    model.safetensors, or pytorch_model.bin   the weights
    source.spm target.spm                     text → pieces
    vocab.json (target_vocab.json)            pieces → rows: sentencepiece's own numbers are others
    tokenizer_config.json                     the languages, where it says so

The format: transformers, `models/marian/` (configuration, modeling and tokenization).
"""

import re
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from nmt.archives import open_archive
from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.importers.fields import Fields, brief, json_fields
from nmt.exchange.importers.marian import (
    Marian,
    MarianSide,
    Store,
    Tokens,
    kind_of_positions,
    model_config,
    our_weights,
    tokens_by_row,
)
from nmt.exchange.importers.marian_vocab import read_pieces
from nmt.files import unreadable

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that is there is read
VOCABULARIES = ("vocab.json", "target_vocab.json")
PIECES = ("source.spm", "target.spm")
TOKENIZER = "tokenizer_config.json"

_SMALLEST = 2  # bytes of a number
_ZIP = b"PK\x03\x04"  # how a zip begins
_MOST_POSITIONS = 2**14  # a table is made for them; Marian's models have 512
_ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu", "gelu": "gelu"}
# Models that people try, and what keeps them out.
_OTHER_MODELS = {
    "m2m_100": "NLLB and M2M-100 need a language token before the target, which nmt has not",
    "nllb-moe": "it is a mixture of experts",
    "mbart": "mBART needs a language token before the target, which nmt has not",
    "t5": "T5's attention looks at distances, which nmt's does not",
    "mt5": "mT5's attention looks at distances, which nmt's does not",
}
_DECODER_ONLY = {"llama", "qwen2", "qwen3", "gpt2", "hunyuan_v1_dense", "gemma2", "gemma3"}
# Switches of early versions of transformers, which converted no model in which they are on.
_NEVER_ON = ("normalize_before", "normalize_embedding", "add_final_layer_norm", "add_bias_logits")
_LANGUAGES = {"eng": "en", "zho": "zh", "cmn": "zh", "chi": "zh"}
_LANGUAGE = re.compile("[a-z]{2,3}")


def read_marian_hf(folder: Path) -> Marian:
    """The model in a folder. Raises ModelError, in one line, if it is damaged or nmt cannot express it."""
    fields = json_fields(folder / CONFIG)
    _refuse_other_models(fields)
    shared = fields.flag("share_encoder_decoder_embeddings", True)
    languages = _languages(folder)
    src, tgt = _tokens(folder, fields, shared)
    files = [folder / CONFIG, folder / PIECES[0], folder / PIECES[1], folder / VOCABULARIES[0]]
    if not shared:
        files.append(folder / VOCABULARIES[1])
    sides = (
        MarianSide(languages[0], src, read_pieces(folder / PIECES[0])),
        MarianSide(languages[1], tgt, read_pieces(folder / PIECES[1])),
    )
    path = weights_file(folder)
    tensors = _read_weights(path)
    config = _model_config(fields, shared, kind_of_positions(tensors))
    numbers = path.stat().st_size // _SMALLEST
    store = Store(path, tensors, numbers)
    weights = our_weights(config, src, tgt, shared, store)
    return Marian(
        kind="Hugging Face MarianMT",
        config=config,
        src=sides[0],
        tgt=sides[1],
        shared=shared,
        weights=weights,
        files=(*files, path),
    )


def weights_file(folder: Path) -> Path:
    """The file of the weights. Raises ModelError if there is none."""
    for name in WEIGHTS:
        if (folder / name).exists():
            return folder / name
    raise ModelError(f"{folder}: neither {WEIGHTS[0]} nor {WEIGHTS[1]}; fetch one of them")


def _read_weights(path: Path) -> dict[str, Tensor]:
    if path.name != WEIGHTS[0]:
        return _read_bin(path)
    try:
        return safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{path}: not whole safetensors ({error}); fetch it again") from None


def _read_bin(path: Path) -> dict[str, Tensor]:
    """The tensors in a file of `torch.save`, by name. Raises ModelError if it holds anything else, or is damaged.

    A zip is mapped into memory: whatever it claims, none is reserved for more than there is. Files from before
    PyTorch 1.6 are no zips.
    """
    is_zip = _is_zip(path)
    if is_zip:
        _refuse_damaged(path)
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip)
    except Exception as error:  # a damaged file can make torch raise anything
        raise _no_tensors(path, type(error).__name__) from None
    if not isinstance(loaded, dict):
        raise _no_tensors(path, f"a {type(loaded).__name__}")
    for name, tensor in loaded.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise _no_tensors(path, f"{brief(name)} is a {type(tensor).__name__}")
        if not _is_stored(tensor):
            raise _no_tensors(path, f"{brief(name)} is more than is stored of it")
    return {name: tensor.detach() for name, tensor in loaded.items()}


def _is_zip(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except OSError as error:
        raise ModelError(unreadable(path, error)) from None


def _refuse_damaged(path: Path) -> None:
    """Raise ModelError for a zip that is damaged, or claims more than its size."""
    with open_archive(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise ModelError(f"{path}: a damaged archive ({brief(damaged)} in it); fetch it again")


def _is_stored(tensor: Tensor) -> bool:
    """Whether each number of a tensor has a place of its own: strides of 0 make a file of any size of one number."""
    is_plain = tensor.layout == torch.strided and tensor.device.type == "cpu"
    return is_plain and tensor.nbytes <= tensor.untyped_storage().nbytes()


def _no_tensors(path: Path, reason: str) -> ModelError:
    message = "not a dict of tensors, as torch.save writes it"
    return ModelError(f"{path}: {message} ({reason}); fetch it again")


# --- the shape ---


def _refuse_other_models(fields: Fields) -> None:
    """Raise ModelError for what is no encoder and decoder of Marian's kind."""
    kind = fields.word("model_type")
    if kind in _DECODER_ONLY or fields.flag("is_decoder", False):
        raise fields.unfit("model_type", "a decoder without encoder, which nmt has no model for")
    if kind != "marian":
        reason = _OTHER_MODELS.get(kind, "nmt import knows marian")
        raise fields.unfit("model_type", f"nmt cannot express it: {reason}")
    for name in _NEVER_ON:
        if fields.flag(name, False):
            raise fields.unfit(name, "no model of Marian's kind has it on")
    for name in ("attention_heads", "ffn_dim"):
        encoder, decoder = (fields.whole(f"{stack}_{name}") for stack in ("encoder", "decoder"))
        if encoder != decoder:
            raise fields.unfit(
                f"decoder_{name}", f"the encoder's is {encoder}; nmt has one for both"
            )


def _model_config(fields: Fields, shared: bool, positions: str) -> ModelConfig:
    activation = fields.word("activation_function")
    if activation not in _ACTIVATIONS:
        raise fields.unfit("activation_function", f"nmt has {', '.join(_ACTIVATIONS)}")
    length = fields.whole("max_position_embeddings")
    if length > _MOST_POSITIONS:
        raise fields.unfit("max_position_embeddings", f"more than {_MOST_POSITIONS:,}")
    tie = "none"
    if fields.flag("tie_word_embeddings", True):
        tie = "all" if shared else "target"
    return model_config(
        fields.place,
        d_model=fields.whole("d_model"),
        heads=fields.whole("encoder_attention_heads"),
        d_ff=fields.whole("encoder_ffn_dim"),
        encoder_layers=fields.whole("encoder_layers"),
        decoder_layers=fields.whole("decoder_layers"),
        dropout=fields.values.get("dropout", 0.1),
        norm="post",
        positions=positions,
        activation=_ACTIVATIONS[activation],
        bias="all",
        output_bias=True,
        tie_embeddings=tie,
        scale="embedding" if fields.flag("scale_embedding", False) else "none",
        max_length=length,
    )


# --- tokens and languages ---


def _tokens(folder: Path, fields: Fields, shared: bool) -> tuple[Tokens, Tokens]:
    """Both sides' tokens. Raises ModelError where the vocabularies and the settings contradict each other."""
    start = fields.whole("decoder_start_token_id", fields.whole("pad_token_id"))
    names = _special_names(folder)
    src = _side_tokens(folder / VOCABULARIES[0], names)
    tgt = _side_tokens(folder / VOCABULARIES[0 if shared else 1], names)
    sizes = {"vocab_size": len(src.listed)}
    if not shared:
        sizes["decoder_vocab_size"] = len(tgt.listed)
    for name, size in sizes.items():
        if fields.whole(name) != size:
            raise fields.unfit(name, f"the vocabulary lists {size} tokens")
    for name, row in (("eos_token_id", tgt.eos), ("pad_token_id", tgt.pad)):
        if fields.whole(name) != row:
            raise fields.unfit(name, f"the vocabulary lists that token as {row}")
    if not 0 <= start < len(tgt.listed):
        raise fields.unfit("decoder_start_token_id", "the vocabulary has no such token")
    tgt = Tokens(tgt.listed, tgt.pad, tgt.unk, start, tgt.eos)
    return (tgt if shared else src), tgt


def _side_tokens(path: Path, names: dict[str, str]) -> Tokens:
    fields = json_fields(path)
    rows = {}
    for kind, token in names.items():
        if token not in fields.values:
            raise ModelError(f"{path}: {brief(token)} is missing; fetch it again")
        rows[kind] = fields.whole(token)
    listed = tokens_by_row(fields.values, str(path))
    return Tokens(listed, start=rows["pad"], **rows)


def _special_names(folder: Path) -> dict[str, str]:
    """How the vocabularies call padding, unknown tokens and the end: as OPUS-MT, or as the tokenizer's settings say."""
    values = _tokenizer_settings(folder)
    names = {"pad": "<pad>", "unk": "<unk>", "eos": "</s>"}
    for kind in names:
        named = values.get(f"{kind}_token")
        if isinstance(named, dict):  # with what is stripped around it
            named = named.get("content")
        if isinstance(named, str):
            names[kind] = named
    return names


def _tokenizer_settings(folder: Path) -> dict[str, Any]:
    path = folder / TOKENIZER
    return json_fields(path).values if path.exists() else {}


def _languages(folder: Path) -> tuple[str, str]:
    """The languages that the tokenizer's settings name, else English and Chinese."""
    values = _tokenizer_settings(folder)
    source = _language(values.get("source_lang"), "en")
    target = _language(values.get("target_lang"), "zh")
    if source == target:
        path = folder / TOKENIZER
        raise ModelError(f"{path}: source_lang and target_lang are both {brief(source)}")
    return source, target


def _language(value: Any, default: str) -> str:
    """`zho` → `zh`; what names no one language gives the default."""
    if not isinstance(value, str) or _LANGUAGE.fullmatch(value) is None:
        return default
    return _LANGUAGES.get(value, value)

"""A run as a folder for transformers: the model, a tokenizer where both sides are sentencepiece, and a page."""

from pathlib import Path
from typing import Any

import safetensors.numpy

from nmt.exchange.exporters import readme
from nmt.exchange.exporters.hugging_face import (
    Layout,
    generation_settings,
    model_settings,
    refuse_inexpressible,
    tensors_of,
)
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.tokens import ids_from, unique_tokens
from nmt.exchange.exporters.trained import Trained
from nmt.files import write_json
from nmt.run.folder import WEIGHTS
from nmt.text.vocab import BOS, EOS, PAD, SPECIALS, UNK


def refuse(trained: Trained) -> None:
    """Raise ModelError for a model that transformers has no class for."""
    refuse_inexpressible(trained.config.model)


def write(trained: Trained, folder: Path, _quantization: Quantization) -> None:
    """Write model, settings, tokenizer and README.md. Raises as `refuse` does."""
    refuse(trained)
    tensors = tensors_of(trained.model, trained.forbidden)
    safetensors.numpy.save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    write_json(folder / "config.json", model_settings(trained.model))
    write_json(
        folder / "generation_config.json",
        generation_settings(trained.model, trained.config.search.beams),
    )
    if trained.has_pieces:
        _write_tokenizer(trained, folder)
    (folder / "README.md").write_text(_readme(trained), encoding="utf-8")


# --- the tokenizer ---


def _write_tokenizer(trained: Trained, folder: Path) -> None:
    """The files of MarianTokenizer: pieces of each side, and the id of each."""
    trained.write_pieces(folder)
    src_tokens, tgt_tokens = unique_tokens(trained.src.vocab, trained.tgt.vocab)
    settings: dict[str, Any] = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": trained.src.language,
        "target_lang": trained.tgt.language,
        "pad_token": src_tokens[PAD],
        "unk_token": src_tokens[UNK],
        "bos_token": src_tokens[BOS],
        "eos_token": src_tokens[EOS],
        "model_max_length": trained.config.model.max_length,
        "separate_vocabs": src_tokens != tgt_tokens,
    }
    src_ids = ids_from(0, src_tokens)
    first_target = Layout.of(trained.model).first_target
    if first_target > 0:
        # The target's specials are in the same table, under names of their own, and are not text either.
        its_own = [f"{special[:-1]} target>" for special in SPECIALS]
        tgt_tokens = [*its_own, *tgt_tokens[len(its_own) :]]
        src_ids |= ids_from(first_target, its_own)
        settings |= {"separate_vocabs": True, "additional_special_tokens": its_own}
    if settings["separate_vocabs"]:
        write_json(folder / "target_vocab.json", ids_from(first_target, tgt_tokens))
    write_json(folder / "vocab.json", src_ids)
    write_json(folder / "tokenizer_config.json", settings)


# --- the page ---


def _readme(trained: Trained) -> str:
    layout = Layout.of(trained.model)
    name = "MarianMTModel" if layout.is_marian else "PegasusForConditionalGeneration"
    if _is_text(trained):
        who = "Its tokenizer is MarianTokenizer. In this folder:"
        lines = _lines_with_text(trained)
    else:
        who = f"{_why_ids(trained)} In this folder:"
        lines = _lines_with_ids(trained, layout)
    notes = [
        *readme.text_notes(trained),
        "Padding, begin of sentence, placeholders and (where nmt never writes it) the unknown token have a bias "
        "in `final_logits_bias` that keeps them out.",
        f"The model has {trained.config.model.max_length} positions, one of which the end of a sentence takes.",
        "nmt scores candidates by another length penalty, so that beam search may find another translation.",
    ]
    if layout.first_target > 0:
        notes.append(
            f"Both vocabularies are in one table: target token i has the id {layout.first_target:,} + i."
        )
    if layout.is_marian and trained.config.model.positions == "learned":
        notes.append(
            "Its positions are learned. `from_pretrained` reads them from model.safetensors, but `save_pretrained` of "
            "a MarianMTModel would leave them out: keep this file."
        )
    if trained.has_pieces:
        notes.append(
            "With sacremoses installed MarianTokenizer changes punctuation first, which nmt does not."
        )
    how = f"## Use\n\n{who}\n\n{readme.code(*lines)}"
    title = f"A translation model for transformers: {name}"
    return readme.page(
        title,
        how,
        f"## Good to know\n\n{readme.bullets(notes)}",
        readme.provenance_section(trained),
    )


def _is_text(trained: Trained) -> bool:
    """Whether MarianTokenizer makes our ids of a text: it knows no prefix but one like >>cmn<<."""
    prefix = trained.config.src.prefix
    is_known = (
        len(prefix) == 1
        and prefix[0].startswith(">>")
        and prefix[0].find("<<") == len(prefix[0]) - 2
    )
    return trained.has_pieces and (not prefix or is_known)


def _why_ids(trained: Trained) -> str:
    if trained.has_pieces:
        return "No tokenizer of transformers writes the source's prefix, so the model takes and gives ids."
    tokenizers = f"{trained.config.src.tokenizer}, {trained.config.tgt.tokenizer}"
    return (
        f"No tokenizer of transformers makes its tokens ({tokenizers}), so the model takes and gives ids: "
        "nmt makes them, with the vocabularies of the run."
    )


def _lines_with_text(trained: Trained) -> list[str]:
    text = "I like tea.".lower() if trained.config.src.lowercase else "I like tea."
    prefix = "".join(f"{token} " for token in trained.config.src.prefix)
    return [
        "from transformers import AutoModelForSeq2SeqLM, MarianTokenizer",
        "",
        'tokenizer = MarianTokenizer.from_pretrained(".")',
        'model = AutoModelForSeq2SeqLM.from_pretrained(".")',
        f'batch = tokenizer(["{prefix}{text}"], return_tensors="pt", padding=True)',
        "found = model.generate(**batch)",
        "print(tokenizer.batch_decode(found, skip_special_tokens=True)[0])",
    ]


def _lines_with_ids(trained: Trained, layout: Layout) -> list[str]:
    first = layout.first_target
    own = f"[i - {first} for i in found if i >= {first}]" if first else "found"
    return [
        "from pathlib import Path",
        "",
        "import torch",
        "from nmt.config.load import load_config",
        "from nmt.run.folder import RunDir",
        "from nmt.run.sides import load_side",
        "from transformers import AutoModelForSeq2SeqLM",
        "",
        *readme.LINES_OF_SIDES,
        'model = AutoModelForSeq2SeqLM.from_pretrained(".")',
        "",
        f'ids = [*source.encode("I like tea."), {EOS}]  # {EOS} ends a sentence',
        "found = model.generate(torch.tensor([ids]))[0].tolist()",
        f"print(target.decode({own}))",
    ]

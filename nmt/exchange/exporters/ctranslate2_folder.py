"""A run as a folder for CTranslate2: the model, the sentencepiece models, and a page that says how to use them."""

from pathlib import Path

from nmt.exchange.exporters import readme
from nmt.exchange.exporters.ctranslate2 import convert, refuse_absent, refuse_inexpressible
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.tokens import unique_tokens
from nmt.exchange.exporters.trained import Trained
from nmt.text.pieces import SPACE


def refuse(trained: Trained) -> None:
    """Raise ModelError for a model that CTranslate2 cannot run, ConfigError if it cannot be loaded."""
    refuse_inexpressible(trained.config.model)
    refuse_absent()


def write(trained: Trained, folder: Path, quantization: Quantization) -> None:
    """Write model, vocabularies, sentencepiece models and README.md. Raises as `refuse` does."""
    write_model(trained, folder, quantization)
    if trained.has_pieces:
        trained.write_pieces(folder)
    (folder / "README.md").write_text(_readme(trained, quantization), encoding="utf-8")


def write_model(trained: Trained, folder: Path, quantization: Quantization) -> None:
    """Write what CTranslate2 itself reads. Its config.json names the source's prefix, too."""
    names = unique_tokens(trained.src.vocab, trained.tgt.vocab)
    settings = {"source_prefix": list(trained.config.src.prefix)}
    convert(trained.model, *names, folder, quantization, trained.forbidden, settings)


def _readme(trained: Trained, quantization: Quantization) -> str:
    title = f"A translation model for CTranslate2, in {quantization}"
    lines = _lines_with_pieces(trained) if trained.has_pieces else _lines_with_nmt(trained)
    tokens = ", ".join((trained.config.src.tokenizer, trained.config.tgt.tokenizer))
    if trained.has_pieces:
        who = "Its tokens are sentencepiece's."
    else:
        who = (
            f"Its tokens are nmt's own ({tokens}): nmt prepares them, with the vocabularies of the run. "
            "`nmt translate --engine ctranslate2` does all this by itself, with the run alone."
        )
    notes = [
        *readme.text_notes(trained),
        "Padding, begin of sentence, placeholders and (where nmt never writes it) the unknown token have a bias "
        "that keeps them out: no option is needed for that.",
        f"The model has {trained.config.model.max_length} positions, one of which the end of a sentence takes.",
        "nmt scores candidates by another length penalty, so that beam search may find another translation.",
    ]
    how = f"## Use\n\n{who} In this folder:\n\n{readme.code(*lines)}"
    return readme.page(
        title,
        how,
        f"## Good to know\n\n{readme.bullets(notes)}",
        readme.provenance_section(trained),
    )


def _lines_with_pieces(trained: Trained) -> list[str]:
    encode = f"source.encode({_written(trained)}, out_type=str)"
    prefix = list(trained.config.src.prefix)
    return [
        "import ctranslate2",
        "import sentencepiece",
        "",
        'translator = ctranslate2.Translator(".")',
        'source = sentencepiece.SentencePieceProcessor(model_file="source.spm")',
        'target = sentencepiece.SentencePieceProcessor(model_file="target.spm")',
        "",
        'line = "I like tea."',
        f"tokens = {prefix} + {encode}" if prefix else f"tokens = {encode}",
        _search(trained),
        "text = target.decode(found[0].hypotheses[0])",
        f'print(text.replace("{SPACE}", " ").strip())',  # a piece of the source's keeps its own
    ]


def _lines_with_nmt(trained: Trained) -> list[str]:
    return [
        "from pathlib import Path",
        "",
        "import ctranslate2",
        "from nmt.config.load import load_config",
        "from nmt.exchange.exporters.tokens import read_tokens",
        "from nmt.run.folder import RunDir",
        "from nmt.run.sides import load_side",
        "",
        *readme.LINES_OF_SIDES,
        'src_tokens, tgt_tokens = read_tokens(Path("."))  # the token of each id',
        "ids = {token: i for i, token in enumerate(tgt_tokens)}",
        'translator = ctranslate2.Translator(".")',
        "",
        'line = "I like tea."',
        "tokens = [src_tokens[i] for i in source.encode(line)]",
        _search(trained),
        "print(target.decode([ids[token] for token in found[0].hypotheses[0]]))",
    ]


def _written(trained: Trained) -> str:
    return "line.lower()" if trained.config.src.lowercase else "line"


def _search(trained: Trained) -> str:
    longest = trained.config.model.max_length - 1
    return (
        f"found = translator.translate_batch([tokens], beam_size={trained.config.search.beams}, "
        f"max_input_length={longest}, max_decoding_length={longest})"
    )

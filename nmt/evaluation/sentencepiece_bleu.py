"""BLEU of sentencepiece tokens (spBLEU), where sacrebleu's tokenizer model is at hand; nothing is downloaded."""

from pathlib import Path
from typing import Any

from sacrebleu import BLEU
from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
from sacrebleu.utils import SACREBLEU_DIR

from nmt.errors import ConfigError


def new_sentencepiece_bleu(tokenizer: str, **options: Any) -> BLEU:
    """BLEU with one of sacrebleu's sentencepiece tokenizers: flores101 or flores200.

    Raises ConfigError if its model is missing, saying how to get it, or cannot be read.
    """
    model = model_path(tokenizer)
    if not model.exists():
        raise ConfigError(
            f"bleu_{tokenizer} needs {model}, which is not there; get it with: "
            f"""python -c "from sacrebleu import BLEU; BLEU(tokenize='{tokenizer}')\""""
        )
    try:
        return BLEU(tokenize=tokenizer, force=True, **options)
    except (OSError, RuntimeError):  # sentencepiece's, for a file that is no model
        raise ConfigError(
            f"{model}: is no sentencepiece model; delete it and get it again"
        ) from None


def model_path(tokenizer: str) -> Path:
    """Where sacrebleu keeps that tokenizer's model: below $SACREBLEU, or ~/.sacrebleu."""
    name = SPM_MODELS[tokenizer]["url"].rpartition("/")[2]
    return Path(SACREBLEU_DIR) / "models" / name

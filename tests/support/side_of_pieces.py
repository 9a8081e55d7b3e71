"""The source side of a run whose sentencepiece model has certain pieces."""

from nmt.config.load import load_config
from nmt.run.folder import RunDir
from nmt.run.sides import load_side
from nmt.text.pieces import SPACE, SentencePiece, with_words
from nmt.text.side import Side
from nmt.text.vocab import Vocab


def side_that_knows(small: bytes, words: list[str], run: RunDir, *overrides: str) -> Side:
    """An English side of a small model with these words as pieces too; each piece is in the vocabulary."""
    model = with_words(small, [SPACE + word for word in words])
    run.path.mkdir(exist_ok=True)
    run.pieces("src").write_bytes(model)
    pieces = SentencePiece(model).pieces()
    Vocab(pieces, [1] * len(pieces)).save(run.vocab("src"))
    return load_side(load_config(None, ["src.tokenizer=sentencepiece", *overrides]), run, "src")

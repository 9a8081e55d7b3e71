"""Embeddings that start from a text file of word2vec or GloVe vectors: a token and its numbers a line."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import torch
from torch import nn

from nmt.config.schema import ModelConfig
from nmt.corpus.lines import read_lines
from nmt.errors import DataError
from nmt.model.transformer import Transformer
from nmt.text.vocab import Vocab


def put_vectors(model: Transformer, config: ModelConfig, src: Vocab, tgt: Vocab) -> None:
    """Start the embeddings from `src_vectors` and `tgt_vectors` where given; freeze them if asked."""
    of_src, of_tgt = model.src_embedding.tokens, model.tgt_embedding.tokens
    for path, vocab, embedding in (
        (config.src_vectors, src, of_src),
        (config.tgt_vectors, tgt, of_tgt),
    ):
        if path is not None:
            read_vectors(Path(path), vocab, embedding)
            embedding.weight.requires_grad_(not config.freeze_vectors)


def read_vectors(path: Path, vocab: Vocab, embedding: nn.Embedding) -> int:
    """Copy the file's vectors of the vocabulary's tokens into the embedding; gives how many there were.

    Raises DataError naming file and line for a wrong number of columns or what is no number, and if none
    matches.
    """
    found = 0
    for place, token, columns in _rows(path, embedding.embedding_dim):
        if (index := vocab.words.get(token)) is not None:
            with torch.no_grad():
                embedding.weight[index] = _vector(columns, place)
            found += 1
    if not found:
        raise DataError(
            f"{path}: holds no vector of any token of the vocabulary; check case and tokenizer"
        )
    return found


def _rows(path: Path, width: int) -> Iterator[tuple[str, str, list[str]]]:
    """Place, token and numbers of each line; a token may hold spaces, as some of GloVe's do."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.rstrip().split(" ")
        if number == 1 and len(columns) == 2:
            continue  # word2vec's header: how many vectors, how wide
        extra = len(columns) - 1 - width
        if extra < 0 or (extra > 0 and number <= 2):
            raise DataError(f"{path}:{number}: {width + extra} numbers, but model.d_model={width}")
        yield f"{path}:{number}", " ".join(columns[: extra + 1]), columns[extra + 1 :]


def _vector(columns: list[str], place: str) -> torch.Tensor:
    with suppress(ValueError):
        vector = torch.tensor([float(column) for column in columns])
        if vector.isfinite().all():
            return vector
    raise DataError(f"{place}: holds what is no number; mend or delete the line")

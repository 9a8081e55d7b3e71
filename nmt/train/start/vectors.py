"""Embeddings that start from a text file of word2vec or GloVe: a token and its numbers a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nmt.config.schema import ModelConfig
from nmt.corpus.reading.lines import read_lines
from nmt.errors import DataError
from nmt.model.transformer import Transformer
from nmt.text.vocab import Vocab


class _Row(NamedTuple):
    """A line of the file."""

    place: str  # file:line
    token: str
    columns: list[str]  # its numbers, as text


def put_vectors(model: Transformer, config: ModelConfig, src: Vocab, tgt: Vocab) -> None:
    """Start the embeddings from `src_vectors` and `tgt_vectors`."""
    if config.src_vectors is not None:
        read_vectors(Path(config.src_vectors), src, model.src_embedding.tokens)
    if config.tgt_vectors is not None:
        read_vectors(Path(config.tgt_vectors), tgt, model.tgt_embedding.tokens)


def freeze_vectors(model: Transformer, config: ModelConfig) -> None:
    """Let the embeddings that start from vectors stay as they are, if asked."""
    if config.freeze_vectors and config.src_vectors is not None:
        model.src_embedding.tokens.weight.requires_grad_(False)
    if config.freeze_vectors and config.tgt_vectors is not None:
        model.tgt_embedding.tokens.weight.requires_grad_(False)


@torch.no_grad()
def read_vectors(path: Path, vocab: Vocab, embedding: nn.Embedding) -> int:
    """Copy the file's vectors of the vocabulary's tokens into the embedding; gives their number.

    Raises DataError, naming file and line, for a wrong number of columns or a value that is not a
    finite number, and naming the file if the vocabulary has none of its tokens.
    """
    found = 0
    for row in _rows(path, embedding.embedding_dim):
        index = vocab.words.get(row.token)
        if index is not None:
            embedding.weight[index] = _vector(row)
            found += 1
    if found == 0:
        raise DataError(
            f"{path}: holds no vector of any token of the vocabulary; check case and tokenizer"
        )
    return found


def _rows(path: Path, width: int) -> Iterator[_Row]:
    """Each line's token, which may hold spaces, as some of GloVe's do, and `width` numbers."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.rstrip().split(" ")
        if number == 1 and len(columns) == 2:
            continue  # word2vec's header: how many vectors, how wide
        extra = len(columns) - 1 - width  # spaces in the token
        if extra < 0 or (extra > 0 and number <= 2):
            raise DataError(f"{path}:{number}: {width + extra} numbers, but model.d_model={width}")
        token = " ".join(columns[: extra + 1])
        yield _Row(f"{path}:{number}", token, columns[extra + 1 :])


def _vector(row: _Row) -> Tensor:
    fault = DataError(f"{row.place}: holds a value that is not a number; fix or delete the line")
    try:
        numbers = [float(column) for column in row.columns]
    except ValueError:
        raise fault from None
    vector = torch.tensor(numbers)
    if not vector.isfinite().all():
        raise fault
    return vector

"""The random start of a new model."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from nmt.model.linear import Linear
from nmt.model.transformer import Transformer

Draw = Callable[[Tensor], Tensor]  # fills a tensor with random values, in place


def initialise(model: Transformer) -> None:
    """Give a new model the random start that `model.init` names; torch's generator decides.

    xavier: matrices as in Glorot and Bengio (2010), embeddings and learned positions from
    N(0, 1 / d_model). normal: all of them from N(0, 0.02²). Biases start at 0. Norms are built with
    their start, weights of 1 and biases of 0. lexical begins as xavier; `lexical.py` has the rest.
    """
    draw_matrix: Draw
    draw_vectors: Draw
    if model.config.init == "normal":
        draw_matrix = partial(nn.init.normal_, std=0.02)
        draw_vectors = draw_matrix
    else:
        draw_matrix = nn.init.xavier_uniform_
        draw_vectors = partial(nn.init.normal_, std=model.config.d_model**-0.5)
    for module in model.modules():
        if isinstance(module, Linear):
            _start_linear(module, draw_matrix)
    # Embeddings come last: an output that is tied to one starts as an embedding.
    for embedding in (model.src_embedding, model.tgt_embedding):
        draw_vectors(embedding.tokens.weight)
        if isinstance(embedding.positions, nn.Parameter):
            draw_vectors(embedding.positions)


@torch.no_grad()
def _start_linear(layer: Linear, draw_matrix: Draw) -> None:
    """Draw each matrix of the layer by itself: the bounds of xavier depend on the shape."""
    for matrix in layer.weight.chunk(layer.stacked):
        draw_matrix(matrix)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)

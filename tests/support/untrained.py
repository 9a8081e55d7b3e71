"""Models that were not trained: of random weights."""

import torch
from echoes import CHINESE, ENGLISH

from nmt.config.schema import ModelConfig
from nmt.model.transformer import Transformer
from nmt.train.start.initialise import initialise


def random_model(seed: int, tokens: int | None = None, **shape: int) -> Transformer:
    """A model of random weights, whose distributions are far from even; `tokens`: those of each side."""
    torch.manual_seed(seed)
    layers = {"encoder_layers": 1, "decoder_layers": 1}
    config = ModelConfig.model_validate(
        {"d_model": 32, "heads": 2, "d_ff": 32, "tie_embeddings": "none", **layers, **shape}
    )
    made = Transformer(config, tokens or len(ENGLISH.vocab), tokens or len(CHINESE.vocab))
    initialise(made)
    with torch.no_grad():
        made.output.weight.mul_(3)
    return made.eval()

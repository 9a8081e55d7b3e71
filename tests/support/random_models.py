"""Tiny models of every kind whose outputs vary, and what our own greedy search makes of them."""

from itertools import combinations, product
from itertools import pairwise as neighbours
from random import Random

import torch

from nmt.config.schema import ModelConfig, SearchConfig
from nmt.engines.decoder import Decoder
from nmt.model.transformer import Transformer
from nmt.text.reading import as_written
from nmt.text.side import Side
from nmt.text.tokenizers import Char
from nmt.text.vocab import BOS, EOS, PLACEHOLDERS, Vocab

Kind = dict[str, object]

LIMIT = 12  # tokens of a translation
TIE = 1e-4  # between logits of about 10, in float32
# Words that have the names of specials are words like any other.
SRC = Vocab([*(f"s{i}" for i in range(30)), "<pad>", *PLACEHOLDERS], [1] * (31 + len(PLACEHOLDERS)))
TGT = Vocab([*(f"t{i}" for i in range(41)), "<eos>", *PLACEHOLDERS], [1] * (42 + len(PLACEHOLDERS)))
OPTIONS: dict[str, tuple[object, ...]] = {
    "norm": (("pre", True), ("pre", False), ("post", False)),
    "activation": ("relu", "gelu", "swish", "swiglu"),
    "bias": ("all", "feed_forward", "none"),
    "tie_embeddings": ("none", "target", "all"),
    "positions": ("sinusoidal", "learned"),
    "scale": ("embedding", "output", "none"),
    "embedding_norm": (False, True),
    "output_bias": (False, True),
}


def pairwise(options: dict[str, tuple[object, ...]]) -> list[Kind]:
    """Kinds in which every value of an option meets every value of every other."""
    kinds = [dict(zip(options, each, strict=True)) for each in product(*options.values())]
    Random(1).shuffle(kinds)
    pairs = [frozenset(combinations(kind.items(), 2)) for kind in kinds]
    missing = set().union(*pairs)
    chosen = []
    while missing:
        best = max(range(len(kinds)), key=lambda n: len(missing & pairs[n]))
        missing -= pairs[best]
        chosen.append(kinds[best])
    return chosen


def name(kind: Kind) -> str:
    return ",".join(
        "+".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in kind.values()
    )


def config_of(kind: Kind) -> ModelConfig:
    norm, final_norm = kind["norm"]  # type: ignore[misc]
    return ModelConfig.model_validate(
        {
            "d_model": 32,
            "heads": 4,
            "d_ff": 48,
            "encoder_layers": 1,
            "decoder_layers": 2,
            "max_length": 40,
            **kind,
            "norm": norm,
            "final_norm": final_norm,
        }
    )


def vocabularies(config: ModelConfig) -> tuple[Vocab, Vocab]:
    return (TGT, TGT) if config.tie_embeddings == "all" else (SRC, TGT)


def model_of(kind: Kind, seed: int = 1) -> Transformer:
    """A model of this kind with random weights."""
    config = config_of(kind)
    src, tgt = vocabularies(config)
    model = Transformer(config, len(src), len(tgt)).eval()
    randomise(model, seed)
    return model


@torch.no_grad()
def randomise(model: Transformer, seed: int = 1) -> None:
    """Give a model weights so large that the next token depends on all before, and biases that are not 0."""
    chance = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape, generator=chance)
        if "norm" in name and name.endswith("weight"):
            parameter.copy_(1 + 0.3 * drawn)
        elif parameter.dim() == 1:
            parameter.copy_(0.3 * drawn)
        elif "tokens" in name or name == "output.weight":
            parameter.copy_(drawn * (0.4 if model.config.scale == "embedding" else 2))
        elif "positions" in name:
            parameter.copy_(drawn)
        else:
            parameter.copy_(drawn * _gain(name) * parameter.shape[1] ** -0.5)


def _gain(name: str) -> float:
    """Much from feed-forward, some from the source, little from the past: else all steps say the same."""
    if "feed_forward" in name:
        return 6
    if name.endswith("cross.out.weight"):
        return 1
    return 0.3 if name.endswith("out.weight") else 2


def side(vocab: Vocab, language: str, never_unknown: bool = False) -> Side:
    return Side(language, Char(), vocab, as_written, never_unknown, language)


def sources(count: int, vocab: Vocab, seed: int = 1) -> list[list[int]]:
    """Random sources of 1 to 12 ordinary tokens."""
    chance = Random(seed)
    ordinary = range(EOS + 1, len(vocab) - len(PLACEHOLDERS))
    return [chance.choices(ordinary, k=chance.randint(1, 12)) for _ in range(count)]


def sources_for(model: Transformer, count: int) -> list[list[int]]:
    """Random sources that the model can read."""
    return sources(count, vocabularies(model.config)[0])


def greedy(model: Transformer, sources: list[list[int]], never_unknown: bool) -> list[list[int]]:
    """The ids that our greedy search finds."""
    src, tgt = vocabularies(model.config)
    decoder = Decoder(model, side(src, "en"), side(tgt, "zh", never_unknown), "fp32")
    search = SearchConfig(method="greedy", max_length=LIMIT, max_ratio=100)
    return [n_best[0].ids for n_best in decoder.decode(sources, search)]


def assert_equal_but_for_ties(
    model: Transformer, sources: list[list[int]], ours: list[list[int]], theirs: list[list[int]]
) -> None:
    """Equal ids; where they differ first, our logits of both tokens must be as good as equal."""
    for source, own, other in zip(sources, ours, theirs, strict=True):
        if own != other:
            assert abs(_gap(model, source, own, other)) < TIE, (source, own, other)


def assert_our_greedy_ids(
    model: Transformer, sources: list[list[int]], theirs: list[list[int]]
) -> list[list[int]]:
    """What another program finds is what our greedy search finds, without words that are unknown; gives ours."""
    ours = greedy(model, sources, never_unknown=True)
    assert_equal_but_for_ties(model, sources, ours, theirs)
    return ours


@torch.inference_mode()
def _gap(model: Transformer, source: list[int], own: list[int], other: list[int]) -> float:
    own, other = [*own, EOS], [*other, EOS]
    place = next(i for i, (a, b) in enumerate(zip(own, other, strict=False)) if a != b)
    logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *own[:place]]]))[0, -1]
    return float(logits[own[place]] - logits[other[place]])


def variety(found: list[list[int]]) -> float:
    """The share of tokens that are not the one before."""
    steps = [a != b for ids in found for a, b in neighbours(ids)]
    return sum(steps) / max(1, len(steps))

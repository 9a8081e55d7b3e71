"""Where a model looked while it translated some sentences: cross-attention between tokens.

Shapes: S source tokens, T target tokens, both with the end of the sentence; H heads.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt.config.schema import Config
from nmt.errors import Say
from nmt.run.folder import RunDir

if TYPE_CHECKING:
    from nmt.translate.translator import Translator

_LONGEST = 60  # tokens of a side that a map shows
_END = "⏎"


@dataclass(frozen=True)
class Looked:
    """One sentence: weights [T][S], rows of which sum to 1, between its tokens."""

    run: str
    about: str  # which layer and heads
    source: list[str]
    target: list[str]
    weights: list[list[float]]


def look_at(
    config: Config, run: RunDir, name: str, sources: Iterable[str], count: int, warn: Say
) -> list[Looked]:
    """Translate the first `count` sentences that a map can show, and see where the model looks as it writes them.

    Of the last layer but one, the mean of all heads: it follows the words best (Garg et al., 2019, "Jointly learning
    to align and translate with Transformer models"). Raises ModelError if there is no whole checkpoint.
    """
    from nmt.scoring.attention import cross_attention
    from nmt.translate.opening import load_translator

    search = config.search.model_copy(update={"memory": None})  # where the model itself looks
    config = config.model_copy(update={"search": search})
    translator = load_translator(config, run, warn=warn)
    pairs = list(_pairs(translator, sources, count))
    layers = config.model.decoder_layers
    layer = max(0, layers - 2)
    about = f"layer {layer + 1} of {layers}, mean of {config.model.heads} heads"
    found = []
    model = translator.engine.model  # type: ignore[attr-defined]  # the engine on torch
    for (src, tgt), weights in zip(pairs, cross_attention(model, *_columns(pairs)), strict=True):
        mean = weights[layer].float().mean(0)  # [H,T,S] → [T,S]
        rows = [[round(weight, 4) for weight in row] for row in mean.tolist()]
        source = [*(translator.src.vocab.tokens[i] for i in src), _END]
        target = [*(translator.tgt.vocab.tokens[i] for i in tgt), _END]
        found.append(Looked(name, about, source, target, rows))
    return found


_Pair = tuple[list[int], list[int]]


def _columns(pairs: Sequence[_Pair]) -> tuple[list[list[int]], list[list[int]]]:
    return [src for src, _ in pairs], [tgt for _, tgt in pairs]


def _pairs(translator: "Translator", sources: Iterable[str], count: int) -> Iterator[_Pair]:
    """Ids of sentences and of their translations; long ones, and those with masked spans, are passed over."""
    left = count
    for source in sources:
        if left == 0:
            return
        src = translator.src.encode(source)
        longest = min(_LONGEST, translator.engine.longest)
        if not src or len(src) > longest or translator.mask(source).spans:
            continue
        (translation,) = translator.translate([source])
        tgt = translator.tgt.encode(translation.text)
        if tgt and len(tgt) <= longest:
            left -= 1
            yield src, tgt

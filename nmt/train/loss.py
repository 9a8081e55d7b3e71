"""Cross-entropy with label smoothing.

Shapes: n target tokens without padding, m ≥ n of them computed, V target vocabulary, R ≥ V rows of
the output, r rows of a block.
"""

from torch import Tensor

from nmt.machine.device import accumulation_dtype, rows_at_once
from nmt.model.batch import Batch
from nmt.model.transformer import Transformer


def logits_of(model: Transformer, batch: Batch) -> Tensor:
    """Logits [n,V] of the batch's target tokens."""
    return computed_logits(model, batch)[: batch.tokens, : model.tgt_tokens]


def computed_logits(model: Transformer, batch: Batch) -> Tensor:
    """The logits [n,V] in a matrix [m,R] whose last rows and columns mean nothing.

    Padding is not even projected; m and R suit the hardware.
    """
    logits: Tensor = model(batch.src, batch.tgt_in, batch.target_positions, batch.src_is_padded)
    return logits


def cross_entropy(
    logits: Tensor,
    targets: Tensor,
    smoothing: float,
    gradient: Tensor | None = None,
    scale: float | Tensor = 1.0,
) -> Tensor:
    """Sum over tokens of the cross-entropy with smoothed labels (Szegedy et al., 2016).

    logits [n,V], targets int64 [n]. A label gets the share 1 - smoothing, and smoothing is spread
    evenly over V. The sum is float32 or wider. The gradient of the logits, times `scale`, is
    written into `gradient` [n,V], which may be the logits' own memory: computed here, block by
    block, it takes a third of the time that torch's own takes on a CPU.
    """
    total = logits.new_zeros((), dtype=accumulation_dtype(logits.dtype))
    even_share = smoothing / logits.shape[1]
    rows = rows_at_once(logits)
    for start in range(0, len(logits), rows):
        block = slice(start, start + rows)
        log_probs = logits[block].log_softmax(1, dtype=total.dtype)  # [r,V]
        labels = targets[block, None]  # [r,1]
        of_labels = log_probs.gather(1, labels).sum()
        total -= (1 - smoothing) * of_labels + even_share * log_probs.sum()
        if gradient is not None:  # softmax minus the smoothed labels
            excess = log_probs.exp_().sub_(even_share)
            excess.scatter_add_(1, labels, excess.new_full(labels.shape, smoothing - 1))
            gradient[block] = excess.mul_(scale)
    return total

"""Word dropout: some tokens of a batch are hidden from the model, which has to guess its way without them."""

from dataclasses import replace

import torch
from torch import Tensor

from nmt.model.batch import Batch
from nmt.model.packed_batch import PackedPairs
from nmt.text.vocab import BOS, EOS, PAD, UNK


def drop_words(batch: Batch, share: float) -> Batch:
    """A batch with UNK for this share of its source tokens and target inputs; its labels stay.

    That is the blank noise of Xie et al. (2017, arXiv:1703.02573), on both sides. torch's generator says which tokens
    are hidden, so its seed decides.
    """
    if share == 0:
        return batch
    return replace(
        batch, src=_with_blanks(batch.src, share), tgt_in=_with_blanks(batch.tgt_in, share)
    )


def drop_packed_words(pairs: PackedPairs, share: float) -> PackedPairs:
    """The same for packed pairs."""
    if share == 0:
        return pairs
    src = pairs.src._replace(ids=_with_blanks(pairs.src.ids, share))
    tgt = pairs.tgt._replace(ids=_with_blanks(pairs.tgt.ids, share))
    return pairs._replace(src=src, tgt=tgt)


def _with_blanks(ids: Tensor, share: float) -> Tensor:
    is_word = (ids != PAD) & (ids != BOS) & (ids != EOS)
    is_dropped = torch.rand(ids.shape, device=ids.device) < share
    return ids.masked_fill(is_word & is_dropped, UNK)

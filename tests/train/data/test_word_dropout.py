from dataclasses import fields

import pytest
import torch

from nmt.model.batch import collate
from nmt.text.vocab import BOS, EOS, PAD, UNK
from nmt.train.data.word_dropout import drop_words

LENGTHS = [(3, 40), (60, 7), (64, 90)] * 20
BATCH = collate([[7] * src for src, _ in LENGTHS], [[8] * tgt for _, tgt in LENGTHS])


def test_words_of_both_sides_become_unknown_at_their_share() -> None:
    torch.manual_seed(1)
    dropped = drop_words(BATCH, 0.25)
    for before, after in ((BATCH.src, dropped.src), (BATCH.tgt_in, dropped.tgt_in)):
        is_word = ~torch.isin(before, torch.tensor([PAD, BOS, EOS]))
        changed = before != after
        assert not changed[~is_word].any()
        assert (after[changed] == UNK).all()
        assert changed[is_word].float().mean().item() == pytest.approx(0.25, abs=0.03)


def test_labels_and_places_stay() -> None:
    dropped = drop_words(BATCH, 0.5)
    assert torch.equal(dropped.labels, BATCH.labels)
    for field in fields(BATCH):
        if field.name not in ("src", "tgt_in"):
            assert getattr(dropped, field.name) is getattr(BATCH, field.name)


def test_the_seed_decides_which() -> None:
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(drop_words(BATCH, 0.1).src)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_a_share_of_zero_draws_nothing() -> None:
    before = torch.get_rng_state()
    assert drop_words(BATCH, 0.0) is BATCH
    assert torch.equal(torch.get_rng_state(), before)

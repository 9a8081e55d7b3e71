"""Pairs end to end: nothing is lost, nothing is shared, and a model sees what it sees of padded pairs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.config.schema import ModelConfig
from nmt.errors import UserError
from nmt.model.batch import Rows, collated
from nmt.model.packed_batch import PackedShape, cuts, packed, packed_shape, pairs_in
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, EOS, PAD
from nmt.train.start.initialise import initialise

SOURCES, TARGETS = 40, 50  # tokens of the vocabularies
lengths_of_pairs = st.lists(
    st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=60
).map(lambda pairs: np.array(pairs, np.int32))


def sentences(lengths: np.ndarray, tokens: int) -> Rows:
    ids = np.random.default_rng(len(lengths)).integers(4, tokens, int(lengths.sum()))
    return Rows(ids, lengths)


def both_sides(lengths: np.ndarray) -> tuple[Rows, Rows]:
    return sentences(lengths[:, 0], SOURCES), sentences(lengths[:, 1], TARGETS)


def split(rows: Rows) -> list[list[int]]:
    return [part.tolist() for part in np.split(rows.ids, np.cumsum(rows.lengths)[:-1])]


@given(lengths_of_pairs, st.integers(1, 2000))
def test_stretches_follow_each_other_and_fit_the_shape(
    lengths: np.ndarray, batch_tokens: int
) -> None:
    shape = packed_shape(lengths, batch_tokens)
    found = cuts(lengths, shape)
    assert [part.start for part in found] == [0, *(part.stop for part in found[:-1])]
    assert found[-1].stop == len(lengths)
    for part in found:
        rows = (lengths[part] + 1).sum(axis=0)
        assert (rows <= [shape.src_rows, shape.tgt_rows]).all()
        assert 0 < len(lengths[part]) <= shape.pairs
        packed(*both_sides(lengths[part]), shape)  # it has room for them


@given(lengths_of_pairs)
def test_a_batch_holds_each_sentence_in_rows_of_its_own_and_spare_rows_in_places_of_theirs(
    lengths: np.ndarray,
) -> None:
    sources, targets = both_sides(lengths)
    shape = PackedShape(src_rows=2560, tgt_rows=2688, places=100, longest=41)
    batch = packed(sources, targets, shape)
    assert batch.tokens == lengths[:, 1].sum() + len(lengths)
    pairs = pairs_in(batch.values, shape)
    for side, rows, count in ((pairs.src, sources, 2560), (pairs.tgt, targets, 2688)):
        starts = side.sequences.starts.tolist()
        assert starts[0] == 0
        assert starts[-1] == count  # a kernel leaves rows outside all sequences as they are
        sizes = np.diff(starts)
        assert (sizes >= 0).all()
        assert sizes.max() <= shape.longest
        assert sizes[: len(lengths)].tolist() == (rows.lengths + 1).tolist()
        for number, sentence in enumerate(split(rows)):
            place = slice(starts[number], starts[number + 1])
            expected = [*sentence, EOS] if side is pairs.src else [BOS, *sentence]
            assert side.ids[place].tolist() == expected
            assert side.positions[place].tolist() == list(range(len(sentence) + 1))
        assert set(side.ids[starts[len(lengths)] :].tolist()) <= {PAD}
    labels = [token for sentence in split(targets) for token in (*sentence, EOS)]
    assert pairs.labels[: batch.tokens].tolist() == labels
    assert set(pairs.labels[batch.tokens :].tolist()) <= {PAD}


@given(lengths_of_pairs)
def test_parts_of_a_batch_hold_all_of_it(lengths: np.ndarray) -> None:
    sources, targets = both_sides(lengths)
    shape = PackedShape(src_rows=2560, tgt_rows=2688, places=130, longest=41)
    batch = packed(sources, targets, shape)
    assert list(batch.parts(shape)) == [batch]
    small = shape.halved().halved()
    parts = list(batch.parts(small))
    assert {part.shape for part in parts} == {small}
    assert [each for part in parts for each in split(part.sources)] == split(sources)
    assert [each for part in parts for each in split(part.targets)] == split(targets)
    assert sum(part.tokens for part in parts) == batch.tokens


def test_a_batch_of_little_more_than_a_sentence_is_not_halved() -> None:
    shape = PackedShape(src_rows=256, tgt_rows=256, places=8, longest=128)
    assert shape.halved().tgt_rows == 128
    with pytest.raises(UserError, match="a batch of 128 tokens is too large for the memory"):
        shape.halved().halved()


def test_the_shape_has_little_room_to_spare() -> None:
    lengths = np.random.default_rng(1).integers(3, 40, (20_000, 2)).astype(np.int32)
    shape = packed_shape(lengths, 8192)
    assert max(shape.src_rows, shape.tgt_rows) == 8192
    rows = [(lengths[part] + 1).sum(axis=0) for part in cuts(lengths, shape)[:-1]]
    assert np.mean(rows) / 8192 > 0.97


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"norm": "post", "positions": "learned", "activation": "gelu", "bias": "none"},
        {"tie_embeddings": "none", "scale": "output", "embedding_norm": True},
    ],
    ids=["base", "post", "untied"],
)
def test_logits_are_those_of_padded_pairs(variant: dict[str, object]) -> None:
    torch.manual_seed(1)
    config = ModelConfig.model_validate(
        {"d_model": 32, "heads": 4, "d_ff": 64, "max_length": 64, "dropout": 0.0, **variant}
    )
    model = Transformer(config, SOURCES, TARGETS)
    initialise(model)
    lengths = np.random.default_rng(2).integers(1, 30, (25, 2)).astype(np.int32)
    sources, targets = both_sides(lengths)
    padded = collated(sources, targets, 64)
    batch = packed(sources, targets, packed_shape(lengths, 1024))
    found = model.packed(pairs_in(batch.values, batch.shape))[: batch.tokens]
    expected = model(padded.src, padded.tgt_in)[padded.tgt_out != PAD]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)

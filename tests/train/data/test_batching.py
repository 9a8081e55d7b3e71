from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nmt.corpus.encoding.store import Block, Int32, ParallelCorpus, write_store
from nmt.model.batch import Batch, collate, pad
from nmt.text.vocab import BOS, EOS, PAD
from nmt.train.data.batching import Position, batches_from, load_batch, plan_epoch


def pairs_of_lengths(pairs: list[tuple[int, int]]) -> Int32:
    return np.array(pairs, np.int32).reshape(-1, 2)


LENGTHS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60).map(
    pairs_of_lengths
)
TOKENS = st.integers(1, 200)
SEEDS = st.integers(0, 2**32)


def realistic(count: int) -> Int32:
    """Sentence lengths as corpora have them: log-normal, the two sides correlated."""
    chance = np.random.default_rng(0)
    tgt = np.clip(chance.lognormal(2.2, 0.5, count), 1, 200)
    src = np.clip(tgt * chance.lognormal(0.05, 0.25, count), 1, 200)
    return np.stack([src, tgt], axis=1).astype(np.int32)


def as_lists(plan: list[np.ndarray]) -> list[list[int]]:
    return [batch.tolist() for batch in plan]


@given(LENGTHS, TOKENS, SEEDS, st.integers(0, 1000))
def test_every_pair_is_in_an_epoch_once(
    lengths: Int32, batch_tokens: int, seed: int, epoch: int
) -> None:
    plan = as_lists(plan_epoch(lengths, batch_tokens, seed, epoch))
    assert sorted(index for batch in plan for index in batch) == list(range(len(lengths)))
    assert all(plan)


@given(LENGTHS, TOKENS, SEEDS)
def test_no_batch_but_a_single_pair_is_larger_than_it_may_be(
    lengths: Int32, batch_tokens: int, seed: int
) -> None:
    for batch in plan_epoch(lengths, batch_tokens, seed, 0):
        with_end = lengths[batch] + 1
        assert len(batch) * with_end.max() <= batch_tokens or len(batch) == 1


@given(LENGTHS, TOKENS, SEEDS, st.integers(0, 1000))
@settings(max_examples=30)
def test_a_plan_is_a_function_of_its_arguments(
    lengths: Int32, batch_tokens: int, seed: int, epoch: int
) -> None:
    before = lengths.copy()
    first = as_lists(plan_epoch(lengths, batch_tokens, seed, epoch))
    np.random.default_rng().random()
    torch.rand(1)
    assert as_lists(plan_epoch(lengths, batch_tokens, seed, epoch)) == first
    assert (lengths == before).all()


def test_another_seed_and_another_epoch_are_another_order_of_other_batches() -> None:
    lengths = realistic(2000)
    plans = [
        as_lists(plan_epoch(lengths, 500, seed, epoch))
        for seed, epoch in ((1, 0), (1, 1), (2, 0), (0, 1))
    ]
    for i, plan in enumerate(plans):
        for other in plans[:i]:
            assert plan != other
            assert {frozenset(batch) for batch in plan} != {frozenset(batch) for batch in other}


def test_lengths_come_in_random_order() -> None:
    lengths = realistic(5000)
    widths = np.array([lengths[batch].max() for batch in plan_epoch(lengths, 500, 1, 0)])
    assert abs(np.corrcoef(widths, np.arange(len(widths)))[0, 1]) < 5 / np.sqrt(len(widths))


@pytest.mark.parametrize(
    ("count", "batch_tokens"), [(5_000, 1_000), (30_000, 1_000), (30_000, 4_096), (100_000, 8_192)]
)
def test_little_of_an_epoch_is_padding(count: int, batch_tokens: int) -> None:
    lengths = realistic(count)
    real = int((lengths + 1).sum())
    padded = sum(
        len(batch) * int((lengths[batch] + 1).max(axis=0).sum())
        for batch in plan_epoch(lengths, batch_tokens, 1, 0)
    )
    assert 1 - real / padded <= 0.08


@given(LENGTHS.filter(len), TOKENS, SEEDS, st.integers(0, 40), st.integers(1, 40))
@settings(max_examples=50)
def test_a_position_is_all_that_going_on_needs(
    lengths: Int32, batch_tokens: int, seed: int, consumed: int, more: int
) -> None:
    through = list(
        islice(
            batches_from(partial(plan_epoch, lengths, batch_tokens, seed), Position()),
            consumed + more,
        )
    )
    position = through[consumed - 1][1] if consumed else Position()
    resumed = islice(batches_from(partial(plan_epoch, lengths, batch_tokens, seed), position), more)
    expected = [(batch.tolist(), after) for batch, after in through[consumed:]]
    assert [(batch.tolist(), after) for batch, after in resumed] == expected


@given(LENGTHS.filter(len), TOKENS, SEEDS)
@settings(max_examples=30)
def test_epochs_follow_each_other_whole(lengths: Int32, batch_tokens: int, seed: int) -> None:
    plans = [as_lists(plan_epoch(lengths, batch_tokens, seed, epoch)) for epoch in range(3)]
    batches = islice(
        batches_from(partial(plan_epoch, lengths, batch_tokens, seed), Position()),
        sum(map(len, plans)),
    )
    consumed = [(after, batch.tolist()) for batch, after in batches]
    expected = [
        (Position(epoch, number), batch)
        for epoch, plan in enumerate(plans)
        for number, batch in enumerate(plan, start=1)
    ]
    assert consumed == expected
    assert [after for after, _ in consumed] == sorted(after for after, _ in consumed)


IDS = st.lists(st.integers(EOS + 1, 99), max_size=7)
PAIRS = st.lists(st.tuples(IDS, IDS), min_size=1, max_size=6)


def rows(tensor: Tensor) -> list[list[int]]:
    return tensor.tolist()


def assert_layout(batch: Batch, pairs: list[tuple[list[int], list[int]]]) -> None:
    """Row by row, with lists."""
    for tensor, complete in (
        (batch.src, [[*src, EOS] for src, _ in pairs]),
        (batch.tgt_in, [[BOS, *tgt] for _, tgt in pairs]),
        (batch.tgt_out, [[*tgt, EOS] for _, tgt in pairs]),
    ):
        width = max(map(len, complete))
        assert rows(tensor) == [row + [PAD] * (width - len(row)) for row in complete]
        assert tensor.dtype == torch.int64
    assert batch.labels.tolist() == [token for _, tgt in pairs for token in (*tgt, EOS)]
    positions = batch.target_positions[: batch.tokens]
    assert batch.tgt_in.flatten()[positions].tolist() == [
        token for _, tgt in pairs for token in (BOS, *tgt)
    ]
    rounding = batch.target_positions[batch.tokens :]
    assert len(batch.target_positions) % 128 == 0
    assert len(rounding) < 128
    assert not rounding.any()
    assert batch.tokens == sum(len(tgt) + 1 for _, tgt in pairs)


@given(PAIRS, st.sampled_from([np.uint16, np.int32]))
def test_a_batch_is_its_pairs_with_begin_end_and_padding(
    pairs: list[tuple[list[int], list[int]]], dtype: type
) -> None:
    sources, targets = ([np.array(ids, dtype) for ids in side] for side in zip(*pairs, strict=True))
    assert_layout(collate(sources, targets), pairs)


@pytest.mark.parametrize(
    ("longest", "widest", "width"),
    [
        (15, 99, 16),
        (16, 99, 18),
        (17, 99, 18),
        (31, 99, 32),
        (32, 99, 36),
        (64, 99, 72),
        (90, 99, 96),
        (90, 93, 93),
    ],
)
def test_widths_are_rounded_up_the_more_the_longer_but_not_beyond_the_widest(
    longest: int, widest: int, width: int
) -> None:
    batch = collate(
        [np.array([9] * longest), np.array([9])], [np.array([8]), np.array([8] * longest)], widest
    )
    assert batch.src.shape == batch.tgt_in.shape == batch.tgt_out.shape == (2, width)
    assert batch.tokens == longest + 3
    assert batch.src[0].tolist() == [9] * longest + [EOS] + [PAD] * (width - longest - 1)


def test_an_epoch_has_few_shapes() -> None:
    """On a CPU each one costs kernels, which take time to make and stay in memory."""
    lengths = realistic(30_000)
    batches = [
        collate(*(list(map(np.ones, side)) for side in lengths[i].T), 250)
        for i in plan_epoch(lengths, 900, 1, 0)
    ]
    assert sum(len(batch.src) % 8 > 0 for batch in batches if len(batch.src) > 8) <= 1
    assert len({(*batch.src.shape, batch.tgt_in.shape[1]) for batch in batches}) < len(batches) / 2


def test_pad_takes_lists_too() -> None:
    assert rows(pad([[5, 6, 7], [], [8]])) == [
        [5, 6, 7, EOS],
        [EOS, PAD, PAD, PAD],
        [8, EOS, PAD, PAD],
    ]


def test_a_batch_goes_whole_to_a_device() -> None:
    batch = collate([np.array([5, 6])], [np.array([7])]).to(torch.device("meta"))
    assert {
        tensor.device.type
        for tensor in (batch.src, batch.tgt_in, batch.tgt_out, batch.target_positions)
    } == {"meta"}


def test_a_batch_is_loaded_from_a_store_by_indices(tmp_path: Path) -> None:
    pairs = [([4 + i] * (i % 3), [9 + i] * (i % 4)) for i in range(10)]
    src, tgt = (np.array([i for pair in pairs for i in pair[side]]) for side in range(2))
    lengths = np.array([(len(src), len(tgt)) for src, tgt in pairs])
    write_store(tmp_path / "train", [Block(src, tgt, lengths)], (99, 99), ("", ""))
    chosen = np.array([7, 2, 9])
    assert_layout(
        load_batch(ParallelCorpus(tmp_path / "train"), chosen, 99), [pairs[i] for i in chosen]
    )

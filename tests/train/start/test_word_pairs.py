from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import numpy as np
import pytest
from stores import Pair, stored

from nmt.train.start.word_pairs import word_pairs


def made_pairs(number: int, seed: int, most: int = 6) -> list[Pair]:
    random = Random(seed)
    return [
        (
            [random.randrange(4, 20) for _ in range(random.randint(1, most))],
            [random.randrange(4, 30) for _ in range(random.randint(1, most))],
        )
        for _ in range(number)
    ]


def ibm_model_1(
    pairs: list[Pair], rounds: int
) -> tuple[dict[tuple[int, int], float], Counter[tuple[int, int]]]:
    """As Brown et al. describe it, a pair of words at a time, without the empty word."""
    probability: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    counts: Counter[tuple[int, int]] = Counter()
    for _ in range(rounds):
        counts, totals = Counter(), Counter[int]()
        for src, tgt in pairs:
            for word in tgt:
                norm = sum(probability[s, word] for s in src)
                for s in src:
                    counts[s, word] += probability[s, word] / norm
                    totals[s] += probability[s, word] / norm
        probability = defaultdict(float, {key: n / totals[key[0]] for key, n in counts.items()})
    return probability, counts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sizes", [(100, 100), (70_000, 90_000)], ids=["uint16", "int32"])
def test_it_is_ibm_model_1(tmp_path: Path, seed: int, sizes: tuple[int, int]) -> None:
    pairs = made_pairs(60, seed)
    if sizes[0] > 2**16:  # large ids, whose codes need 64 bits
        pairs = [([i + 60_000 for i in src], [i + 80_000 for i in tgt]) for src, tgt in pairs]
    probability, counts = ibm_model_1(pairs, rounds=4)
    found = word_pairs(stored(tmp_path / "train", pairs, sizes))
    keys = list(zip(found.src.tolist(), found.tgt.tolist(), strict=True))
    assert set(keys) == set(counts)
    assert found.probability == pytest.approx(np.array([probability[key] for key in keys]))
    assert found.expected == pytest.approx(np.array([counts[key] for key in keys]))


def test_each_word_is_given_its_translation(tmp_path: Path) -> None:
    random = Random(1)
    pairs = []
    for _ in range(300):
        src = random.sample(range(4, 40), 5)
        tgt = [60 - i for i in src]
        random.shuffle(tgt)
        pairs.append((src, tgt))
    found = word_pairs(stored(tmp_path / "train", pairs))
    for s in range(4, 40):
        of_s = found.src == s
        likeliest = found.tgt[of_s][found.probability[of_s].argmax()]
        assert likeliest == 60 - s


def test_a_large_corpus_is_sampled_and_long_sentences_are_left_out(tmp_path: Path) -> None:
    pairs = made_pairs(400, 1)
    pairs[7] = ([50] * 31, [51])
    pairs[8] = ([52], [])
    corpus = stored(tmp_path / "train", pairs)
    everything = word_pairs(corpus)
    sample = word_pairs(corpus, most_cells=500)
    assert not set(everything.src.tolist()) & {50, 52}
    # Each target token is shared out among the source tokens: what is expected is their number.
    tokens = sum(len(tgt) for src, tgt in pairs if max(len(src), len(tgt)) <= 30)
    assert everything.expected.sum() == pytest.approx(tokens)
    assert 40 < sample.expected.sum() < 250
    again = word_pairs(corpus, most_cells=500)
    assert all(np.array_equal(a, b) for a, b in zip(sample, again, strict=True))


def test_a_corpus_without_a_pair_to_look_at_has_none(tmp_path: Path) -> None:
    found = word_pairs(stored(tmp_path / "train", [([5] * 40, [6])]))
    assert [len(column) for column in found] == [0, 0, 0, 0]

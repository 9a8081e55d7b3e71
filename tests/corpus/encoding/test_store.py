import json
import pickle
import tracemalloc
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import PRINTS, Pair, block, content, stored

from nmt.corpus.encoding.store import Block, ParallelCorpus, write_store
from nmt.errors import ModelError, UserError


def sentences(vocab_size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, vocab_size - 1), max_size=12)


@given(
    st.data(),
    st.sampled_from([5, 256, 2**16, 2**16 + 1, 10**6]),
    st.sampled_from([5, 2**16, 10**6]),
)
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, src_size: int, tgt_size: int
) -> None:
    pairs = data.draw(st.lists(st.tuples(sentences(src_size), sentences(tgt_size)), max_size=8))
    corpus = stored(tmp_path_factory.mktemp("store") / "train", pairs, (src_size, tgt_size))
    assert content(corpus) == pairs
    assert corpus.lengths.tolist() == [[len(src), len(tgt)] for src, tgt in pairs]
    assert corpus.lengths.dtype == np.int32
    assert corpus.lengths.shape == (len(pairs), 2)


@pytest.mark.parametrize(
    ("vocab_sizes", "width"),
    [((2**16, 2**16), 2), ((2**16 + 1, 9), 4), ((9, 2**16 + 1), 4), ((9, 9), 2)],
)
def test_an_id_takes_two_bytes_as_long_as_two_bytes_can_count_the_vocabulary(
    tmp_path: Path, vocab_sizes: tuple[int, int], width: int
) -> None:
    largest = ([vocab_sizes[0] - 1], [vocab_sizes[1] - 1, 0])
    corpus = stored(tmp_path / "train", [largest], vocab_sizes)
    assert content(corpus) == [largest]
    assert (tmp_path / "train" / "tgt.ids").stat().st_size == 2 * width


@pytest.mark.parametrize("pairs", [[], [([], [])], [([], [1]), ([], [2])]])
def test_a_store_or_a_side_of_it_may_be_empty(tmp_path: Path, pairs: list[Pair]) -> None:
    assert content(stored(tmp_path / "dev", pairs)) == pairs


def test_a_store_ends_after_its_last_pair(tmp_path: Path) -> None:
    corpus = stored(tmp_path / "train", [([1], [2]), ([3], [])])
    with pytest.raises(IndexError):
        corpus[2]


def test_a_failure_while_writing_leaves_the_store_that_was_there(tmp_path: Path) -> None:
    def interrupted() -> Iterator[Block]:
        yield block([([9], [9])])
        raise OSError(28, "No space left on device")

    pairs: list[Pair] = [([1, 2], [3]), ([4], [5, 6])]
    stored(tmp_path / "train", pairs)
    with pytest.raises(
        UserError, match=r"train: cannot be written .No space left on device.; free some space"
    ):
        write_store(tmp_path / "train", interrupted(), (100, 100), PRINTS)
    assert content(ParallelCorpus(tmp_path / "train", PRINTS)) == pairs
    assert [path.name for path in tmp_path.iterdir()] == ["train"]


def test_a_new_store_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    stored(tmp_path / "train", [([1, 2], [3]), ([4], [5, 6])])
    assert content(stored(tmp_path / "train", [([7], [8])])) == [([7], [8])]


@pytest.mark.parametrize(
    "found", [("source-print", "other"), ("other", "target-print"), PRINTS[::-1]]
)
def test_a_store_of_other_vocabularies_is_refused(tmp_path: Path, found: tuple[str, str]) -> None:
    stored(tmp_path / "train", [([1], [2])])
    with pytest.raises(
        ModelError,
        match="train: encoded with other vocabularies than the run's; run nmt build-vocab",
    ):
        ParallelCorpus(tmp_path / "train", found)


def many(pairs: int) -> Iterator[Block]:
    """Blocks of a thousand pairs; sentence number n has n % 7 and n % 3 ids."""
    for start in range(0, pairs, 1000):
        numbers = np.arange(start, min(start + 1000, pairs))
        lengths = np.stack([numbers % 7, numbers % 3], axis=1)
        src, tgt = (np.ones(lengths[:, side].sum(), int) for side in range(2))
        yield Block(src, tgt, lengths)


@pytest.mark.parametrize("pairs", [4095, 4096, 4097, 10_000])
def test_a_store_knows_where_each_of_many_sentences_starts(tmp_path: Path, pairs: int) -> None:
    lengths = np.concatenate([block.lengths for block in many(pairs)])
    offsets = np.concatenate([np.zeros((1, 2), np.int64), lengths.cumsum(axis=0)])
    write_store(tmp_path / "train", many(pairs), (9, 9), PRINTS)
    assert (tmp_path / "train" / "offsets.npy").read_bytes() == npy(offsets)
    assert np.array_equal(ParallelCorpus(tmp_path / "train").lengths, lengths)


def test_writing_a_store_takes_no_memory_for_a_pair_and_reading_its_lengths_takes_eight_bytes(
    tmp_path: Path,
) -> None:
    pairs = 200_000
    tracemalloc.start()
    write_store(tmp_path / "train", many(pairs), (9, 9), PRINTS)
    to_write = tracemalloc.get_traced_memory()[1]
    corpus = ParallelCorpus(tmp_path / "train")
    tracemalloc.reset_peak()
    lengths = corpus.lengths
    to_read = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert to_write < 3 * pairs
    assert to_read - lengths.nbytes < 3 * pairs


FILES = ["src.ids", "tgt.ids", "offsets.npy", "meta.json"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    stored(tmp_path / "train", [([1, 2], [3]), ([4], [5, 6])])
    return tmp_path / "train"


def assert_refused(store: Path) -> None:
    with pytest.raises(ModelError) as caught:
        ParallelCorpus(store, PRINTS)
    assert str(store) in str(caught.value)
    assert "again" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_store_is_these_files(store: Path) -> None:
    assert sorted(path.name for path in store.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_store_without_one_of_its_files_is_refused(store: Path, name: str) -> None:
    (store / name).unlink()
    assert_refused(store)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_a_truncated_file_is_refused(store: Path, name: str, kept: float) -> None:
    whole = (store / name).read_bytes()
    (store / name).write_bytes(whole[: int(kept * len(whole))])
    assert_refused(store)


def npz() -> bytes:
    file = BytesIO()
    np.savez(file, offsets=np.zeros((3, 2), np.int64))
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


META = {"pairs": 2, "dtype": "uint16", "src": PRINTS[0], "tgt": PRINTS[1]}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("src.ids", b"\0" * 8),
        ("tgt.ids", b"\0" * 7),
        ("offsets.npy", b"not an array of numpy"),
        ("offsets.npy", pickle.dumps([[0, 0], [2, 1], [3, 3]])),
        ("offsets.npy", npz()),
        ("offsets.npy", npy(np.array([[0, 0], [3, 3]]))),
        ("offsets.npy", npy(np.array([0, 2, 3]))),
        ("offsets.npy", npy(np.array(3))),
        ("offsets.npy", npy(np.array([[0, 0], [2, 1], [3, 3]], np.float64))),
        ("meta.json", b"\xff\xfe"),
        ("meta.json", b"[]"),
        ("meta.json", b"null"),
        ("meta.json", json.dumps(META | {"pairs": "2"}).encode()),
        ("meta.json", json.dumps(META | {"pairs": 3}).encode()),
        ("meta.json", json.dumps(META | {"dtype": "int32"}).encode()),
        ("meta.json", json.dumps(META | {"dtype": "object"}).encode()),
        ("meta.json", json.dumps(META | {"dtype": "nothing"}).encode()),
        ("meta.json", json.dumps(META | {"dtype": "float16"}).encode()),
        ("meta.json", json.dumps(META | {"dtype": None}).encode()),
    ],
)
def test_a_file_of_something_else_is_refused(store: Path, name: str, data: bytes) -> None:
    (store / name).write_bytes(data)
    assert_refused(store)


def test_pickled_code_is_refused_and_not_run(store: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "sprung",)

    np.save(store / "offsets.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    assert_refused(store)
    assert not (tmp_path / "sprung").exists()


def test_a_store_that_is_nowhere_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path / "nowhere")

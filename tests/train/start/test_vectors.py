from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from conftest import counting_pairs, ready, tiny_config, train
from torch import nn
from torch_twin import tiny

from nmt.errors import DataError
from nmt.model.transformer import Transformer
from nmt.text.vocab import Vocab
from nmt.train.distributed import World
from nmt.train.loop import Trainer
from nmt.train.start.initialise import initialise
from nmt.train.start.vectors import freeze_vectors, put_vectors, read_vectors

VOCAB = Vocab(["tea", "a b", "茶", "cat", "<B>x"], [5, 4, 3, 2, 1])  # ids from 4 on
Write = Callable[[str | bytes], Path]


@pytest.fixture
def embedding() -> nn.Embedding:
    torch.manual_seed(1)
    return nn.Embedding(len(VOCAB), 3)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str | bytes) -> Path:
        path = tmp_path / "vectors.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


@pytest.mark.parametrize(
    "text",
    [
        "the 9 9 9\ntea 1 2 3\n茶 -1e-2 0 5\n",
        "3 3\nthe 9 9 9\ntea 1 2 3\n茶 -1e-2 0 5\n",
        "3 3\nthe 9 9 9 \ntea 1 2 3 \n茶 -1e-2 0 5 ",
        "the 9 9 9\r\ntea 1 2 3\r\n茶 -1e-2 0 5\r\n",
        "the 9 9 9\n\u2028 8 8 8\n\x85 7 7 7\ntea 1 2 3\n茶 -1e-2 0 5\n",
    ],
    ids=[
        "GloVe",
        "word2vec with a header",
        "trailing spaces",
        "CRLF",
        "tokens that some take for line ends",
    ],
)
def test_known_tokens_take_their_vectors_and_the_others_keep_their_start(
    text: str, write: Write, embedding: nn.Embedding
) -> None:
    start = embedding.weight.detach().clone()
    assert read_vectors(write(text), VOCAB, embedding) == 2
    assert embedding.weight[4].tolist() == [1, 2, 3]
    assert embedding.weight[6].tolist() == pytest.approx([-0.01, 0, 5])
    others = [0, 1, 2, 3, 5, 7, 8]
    assert torch.equal(embedding.weight[others], start[others])


def test_a_token_that_holds_spaces_is_read_whole(write: Write, embedding: nn.Embedding) -> None:
    assert (
        read_vectors(
            write("the 9 9 9\nx 9 9 9\na b 1 2 3\na b c 4 5 6\n. . . 7 8 9\n"), VOCAB, embedding
        )
        == 1
    )
    assert embedding.weight[5].tolist() == [1, 2, 3]


def test_a_marked_character_takes_no_vector_of_a_word_that_looks_like_it(
    write: Write, embedding: nn.Embedding
) -> None:
    start = embedding.weight.detach().clone()
    read_vectors(write("tea 1 2 3\n<B>x 4 5 6\n"), VOCAB, embedding)
    assert torch.equal(embedding.weight[8], start[8])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tea 1 2\n", "vectors.txt:1: 2 numbers, but model.d_model=3"),
        ("2 4\nx 1 2 3 4\ntea 1 2 3 4\n", "vectors.txt:2: 4 numbers, but model.d_model=3"),
        ("x 1 2 3\ntea 1 2\n", "vectors.txt:2: 2 numbers, but model.d_model=3"),
        ("x 1 2 3\n\ntea 1 2 3\n", "vectors.txt:2: 0 numbers"),
        ("x 1 2 3\ntea 1 zwei 3\n", "vectors.txt:2: holds a value that is not a number"),
        ("x 1 2 3\ntea 1 nan 3\n", "vectors.txt:2: holds a value that is not a number"),
        ("x 1 2 3\ntea 1 inf 3\n", "vectors.txt:2: holds a value that is not a number"),
        ("Tea 1 2 3\n", "vectors.txt: holds no vector of any token of the vocabulary"),
        ("", "vectors.txt: holds no vector"),
        (b"2 3\ntea \x00\xff\xfe", "vectors.txt:2: not UTF-8 at byte 9 of the text"),
    ],
)
def test_a_mistake_is_named_with_its_place(
    text: str | bytes, message: str, write: Write, embedding: nn.Embedding
) -> None:
    with pytest.raises(DataError, match=message):
        read_vectors(write(text), VOCAB, embedding)


def test_a_missing_file_is_named(tmp_path: Path, embedding: nn.Embedding) -> None:
    with pytest.raises(DataError, match=r"gone\.txt: no such file"):
        read_vectors(tmp_path / "gone.txt", VOCAB, embedding)


@pytest.mark.parametrize("side", ["src", "tgt"])
@pytest.mark.parametrize("freeze", [True, False])
def test_only_the_side_that_has_vectors_is_changed_and_frozen(
    side: str, freeze: bool, write: Write
) -> None:
    path = write("茶 " + " ".join(map(str, range(16))) + "\n")
    config = tiny(tie_embeddings="none", freeze_vectors=freeze, **{f"{side}_vectors": str(path)})
    model = Transformer(config, len(VOCAB), len(VOCAB))
    initialise(model)
    put_vectors(model, config, VOCAB, VOCAB)
    freeze_vectors(model, config)
    for name, embedding in (("src", model.src_embedding), ("tgt", model.tgt_embedding)):
        assert (embedding.tokens.weight[6].tolist() == list(range(16))) == (name == side)
        assert embedding.tokens.weight.requires_grad == (name != side or not freeze)


def test_without_vectors_nothing_happens() -> None:
    model = Transformer(tiny(), len(VOCAB), len(VOCAB))
    initialise(model)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    put_vectors(model, tiny(), VOCAB, VOCAB)
    freeze_vectors(model, tiny())
    assert all(
        torch.equal(p, before[name]) and p.requires_grad for name, p in model.named_parameters()
    )


@pytest.mark.parametrize("freeze", [True, False])
def test_a_training_is_resumed_without_the_file(
    freeze: bool, corpus: Path, tmp_path: Path, write: Write
) -> None:
    word = counting_pairs(1, seed=1)[0][0].split()[0]
    path = write(f"{word} " + " ".join(map(str, range(64))) + "\n")
    settings = [f"model.src_vectors={path}", f"model.freeze_vectors={freeze}".lower()]
    train(tiny_config(corpus, tmp_path / "run", *settings, "train.updates=3"))
    path.unlink()
    config = tiny_config(corpus, tmp_path / "run", *settings, "train.updates=6")
    trainer = Trainer(config, ready(config), World(0, 1, torch.device("cpu")))
    assert trainer.model.src_embedding.tokens.weight.requires_grad != freeze
    assert trainer.train().update == 6

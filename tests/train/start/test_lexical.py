import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.config.schema import ModelConfig
from nmt.model.transformer import Transformer
from nmt.train.start.initialise import initialise
from nmt.train.start.lexical import put_word_pairs
from nmt.train.start.word_pairs import WordPairs

WORDS = 40
FIRST = 4  # after the special tokens
UNSEEN = [0, 1, 2, 3, FIRST + WORDS]
CONFIG = ModelConfig(
    d_model=128, heads=4, d_ff=128, encoder_layers=2, decoder_layers=2, dropout=0, init="lexical"
)
SRC = np.arange(FIRST, FIRST + WORDS)


def dictionary(tgt: np.ndarray = SRC[::-1]) -> WordPairs:
    """Each word has one translation, mostly, and a false one, the next word's."""
    false = np.roll(tgt, 1)
    probability = np.array([0.9] * WORDS + [0.02] * WORDS)
    columns = np.concatenate([SRC, SRC]), np.concatenate([tgt, false])
    return WordPairs(*columns, probability, probability * 50)


def started(config: ModelConfig, pairs: WordPairs | None = None, tokens: int = 45) -> Transformer:
    torch.manual_seed(1)
    model = Transformer(config, tokens, tokens)
    initialise(model)
    if pairs is not None:
        put_word_pairs(model, pairs, seed=1)
    return model.eval()


def tables(model: Transformer) -> tuple[Tensor, Tensor]:
    return model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight


@pytest.mark.parametrize("width", [16, 32, 64])  # fewer dimensions than words, and more
def test_a_word_is_most_like_its_translation(width: int) -> None:
    src, tgt = tables(started(CONFIG.model_copy(update={"d_model": width}), dictionary()))
    likeness = src[SRC] @ tgt[SRC].T
    assert (likeness.argmax(dim=1) == torch.arange(WORDS - 1, -1, -1)).float().mean() > 0.95


def test_every_row_is_as_long_as_a_random_one_and_unseen_tokens_keep_theirs() -> None:
    model, random = started(CONFIG, dictionary()), started(CONFIG)
    for rows, kept in zip(tables(model), tables(random), strict=True):
        assert torch.allclose(rows[SRC].norm(dim=1), torch.ones(WORDS))
        assert torch.equal(rows[UNSEEN], kept[UNSEEN])
    # No dimension has more to say than another.
    spread = tables(model)[0][SRC].pow(2).mean(dim=0)
    assert spread.max() < 8 * spread.median()


@pytest.mark.parametrize("tie", ["none", "target", "all"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_model_expects_the_translations_before_it_is_trained(tie: str, norm: str) -> None:
    tgt = np.roll(SRC, 7)
    update = {"tie_embeddings": tie, "norm": norm}
    if tie == "all":  # a token is of one language
        tgt = tgt + WORDS
    pairs = dictionary(tgt)
    generator = torch.Generator().manual_seed(3)
    order = torch.stack([torch.randperm(WORDS, generator=generator)[:5] for _ in range(64)])
    src, out = torch.tensor(SRC)[order], torch.tensor(tgt)[order]
    before = torch.full((64, 1), 2)

    def prefers(pairs: WordPairs | None) -> float:
        """How often a translation of a word of the sentence is likelier than one of another word."""
        model = started(CONFIG.model_copy(update=update), pairs, tokens=90)
        with torch.no_grad():
            logits = model(src, before)[:, 0]  # what comes first could be any of the five
        wanted = logits.gather(1, out)
        return float((wanted[:, :, None] > logits[:, None, tgt]).float().mean())

    assert prefers(pairs) > 0.7
    assert 0.4 < prefers(None) < 0.6


def test_the_start_depends_on_its_seed_alone() -> None:
    one = started(CONFIG, dictionary()).state_dict()
    torch.manual_seed(99)
    model = started(CONFIG)
    torch.manual_seed(77)
    before = torch.random.get_rng_state()
    put_word_pairs(model, dictionary(), seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    same = model.state_dict()
    assert all(torch.equal(one[name], same[name]) for name in one)


def test_a_corpus_without_pairs_changes_no_embedding() -> None:
    empty = WordPairs(*(np.empty(0, np.int64),) * 2, *(np.empty(0),) * 2)
    random, model = tables(started(CONFIG)), tables(started(CONFIG, empty))
    assert all(torch.equal(a, b) for a, b in zip(random, model, strict=True))

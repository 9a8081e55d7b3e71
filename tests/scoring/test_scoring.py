"""Given translations get the log-probability that the model gives them."""

import pytest
import torch
from echoes import CHINESE, ENGLISH, HAN, PROTECTING, WORDS, random_model, side
from torch.nn import functional as F

from nmt.config.schema import ModelConfig, SearchConfig
from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.decoder import Decoder
from nmt.engines.encoded_pairs import Unfit
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.scoring.scoring import Scored, Scorer
from nmt.text.side import Side
from nmt.text.vocab import BOS, EOS
from nmt.train.start.initialise import initialise

PAIRS = [
    SentencePair("the cat sat", "天地"),
    SentencePair("it left .", "玄黄宇宙洪荒"),
    SentencePair("a", "天天天天天天天天。"),
    SentencePair("the cat sat on a mat and then it left", "，"),
]


def scored(decoder: Decoder, pairs: list[SentencePair], batch_tokens: int = 4096) -> list[Scored]:
    found = Scorer(decoder, batch_tokens).score(pairs)
    assert all(isinstance(each, Scored) for each in found)
    return [each for each in found if isinstance(each, Scored)]


@torch.no_grad()
def cross_entropy(model: Transformer, src: list[int], tgt: list[int], never: list[int]) -> float:
    """One sentence by itself, by torch's own cross-entropy, over all tokens but those that are never written."""
    logits = model(torch.tensor([[*src, EOS]]), torch.tensor([[BOS, *tgt]]))[0]  # [T,V]
    logits[:, [token for token in never if token not in tgt]] = -torch.inf
    return float(F.cross_entropy(logits, torch.tensor([*tgt, EOS]), reduction="sum"))


def test_the_sum_is_the_cross_entropy_of_forcing_the_translation() -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")
    for pair, found in zip(PAIRS, scored(decoder, PAIRS), strict=True):
        src, tgt = ENGLISH.encode(pair.src), CHINESE.encode(pair.tgt)
        expected = cross_entropy(decoder.model, src, tgt, CHINESE.never_written)
        assert found.log_prob == pytest.approx(-expected, rel=1e-5)
        assert found.mean == pytest.approx(-expected / (len(tgt) + 1), rel=1e-5)
        assert found.tokens == (*pair.tgt, "<eos>")


@pytest.mark.parametrize("batch_tokens", [1, 12, 40, 4096])
def test_how_many_are_scored_at_once_changes_nothing(batch_tokens: int) -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")
    alone = [scored(decoder, [pair])[0] for pair in PAIRS]
    together = scored(decoder, PAIRS, batch_tokens)
    for one, other in zip(alone, together, strict=True):
        assert one.log_probs == pytest.approx(other.log_probs, rel=1e-5)


def test_what_search_finds_has_the_log_probability_that_search_gives_it() -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")
    search = SearchConfig(beam_size=4, n_best=4, length_penalty=0, max_length=12)
    compared = 0
    for source in ("the cat", "it left .", "on a mat"):
        [n_best] = decoder.decode([ENGLISH.encode(source)], search)
        for hypothesis in n_best:
            text = CHINESE.decode(hypothesis.ids)
            if CHINESE.encode(text) != hypothesis.ids or not hypothesis.ids:
                continue  # a space at an end, which no text keeps
            [found] = scored(decoder, [SentencePair(source, text)])
            assert found.log_prob == pytest.approx(hypothesis.score, rel=1e-5)
            compared += 1
    assert compared > 5


def test_a_character_that_the_vocabulary_does_not_have_is_scored_as_unknown() -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")
    [found] = scored(decoder, [SentencePair("the cat", "天龘")])
    assert found.tokens == ("天", "<unk>", "<eos>")
    assert all(-100 < log_prob < 0 for log_prob in found.log_probs)


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (SentencePair("", "天"), "empty"),
        (SentencePair("the", " \t"), "empty"),
        (SentencePair("the " * 24, "天"), "too long"),
        (SentencePair("the", "天" * 24), "too long"),
        (SentencePair("the", "天" * 10_000_000), "too long"),
    ],
)
def test_what_does_not_fit_has_a_reason_and_the_others_their_places(
    pair: SentencePair, why: str
) -> None:
    decoder = Decoder(random_model(max_length=24), ENGLISH, CHINESE, "fp32")
    first, found, last = Scorer(decoder, 100).score([PAIRS[0], pair, PAIRS[1]])
    assert found == Unfit(why)
    assert [first, last] == scored(decoder, PAIRS[:2])


def test_no_pairs_have_no_scores() -> None:
    assert Scorer(Decoder(random_model(), ENGLISH, CHINESE, "fp32"), 100).score([]) == []


def test_a_translation_as_long_as_the_model_allows_is_scored() -> None:
    decoder = Decoder(random_model(max_length=24), ENGLISH, CHINESE, "fp32")
    [found] = scored(decoder, [SentencePair("the " * 23, "天" * 23)])
    assert len(found.log_probs) == 24


# --- protected spans ---


def protecting_model(src: Side, tgt: Side) -> Transformer:
    torch.manual_seed(4)
    config = ModelConfig(d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1)
    model = Transformer(config, len(src.vocab), len(tgt.vocab))
    initialise(model)
    return model


def test_spans_travel_as_placeholders_and_are_told_as_themselves() -> None:
    decoder = Decoder(protecting_model(PROTECTING, PROTECTING), PROTECTING, PROTECTING, "fp32")
    pair = SentencePair("天地 http://a.org/b 玄{0}", "{0}宇宙http://a.org/b荒")
    [found] = scored(decoder, [pair])
    assert found.tokens == ("{0}", "宇", "宙", "http://a.org/b", "荒", "<eos>")
    first, second = PROTECTING.vocab.placeholders[:2]
    ids = [second, *PROTECTING.encode("宇宙"), first, *PROTECTING.encode("荒")]
    src = PROTECTING.encode(
        f"天地 {PROTECTING.vocab.tokens[first]} 玄{PROTECTING.vocab.tokens[second]}"
    )
    never = [*PROTECTING.never_written, *PROTECTING.vocab.placeholders]
    expected = cross_entropy(decoder.model, src, ids, never)
    assert found.log_prob == pytest.approx(-expected, rel=1e-5)


def test_figures_are_masked_in_scoring_if_they_are_in_translating() -> None:
    model = protecting_model(PROTECTING, PROTECTING)
    pair = SentencePair("天地 42 玄 7", "宇42宙7")
    for numbers, expected in (
        ("figures", ("宇", "42", "宙")),
        ("long", ("宇", "<unk>", "<unk>", "宙")),
    ):
        decoder = Decoder(model, PROTECTING, PROTECTING, "fp32", numbers=numbers)
        [found] = scored(decoder, [pair])
        assert found.tokens[: len(expected)] == expected


def test_chinese_words_of_an_english_source_travel_as_placeholders() -> None:
    english = side("en", [*WORDS, *PROTECTING.vocab.tokens[-10:]])
    decoder = Decoder(protecting_model(english, PROTECTING), english, PROTECTING, "fp32")
    [found] = scored(decoder, [SentencePair("the 天地 sat", "玄天地黄")])
    assert found.tokens == ("玄", "天地", "黄", "<eos>")


def test_a_span_that_only_one_side_has_is_text() -> None:
    letters = side("zh", [*HAN, *PROTECTING.vocab.tokens[-10:], *"{}0"])
    decoder = Decoder(protecting_model(letters, letters), letters, letters, "fp32")
    [found] = scored(decoder, [SentencePair("天地{0}", "宇宙")])
    assert found.tokens == ("宇", "宙", "<eos>")
    [found] = scored(decoder, [SentencePair("天地", "宇{0}")])
    assert found.tokens == ("宇", "{", "0", "}", "<eos>")


# --- memory ---


def test_a_batch_that_does_not_fit_in_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")

    def no_memory(*_arguments: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(decoder.model, "encode", no_memory)
    with pytest.raises(UserError, match=r"a batch of 4 pairs does not fit.*--batch-tokens"):
        Scorer(decoder, 4096).score(PAIRS)


@pytest.mark.parametrize("at_once", [1, 40, 1000])
def test_logits_are_computed_in_blocks(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")
    whole = [each.log_prob for each in scored(decoder, PAIRS)]
    monkeypatch.setattr("nmt.scoring.scoring._LOGITS_AT_ONCE", at_once)
    assert [each.log_prob for each in scored(decoder, PAIRS)] == pytest.approx(whole, rel=1e-5)

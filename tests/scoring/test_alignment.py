"""Alignments: which words of a translation stand for which of its source."""

from pathlib import Path

import pytest
import torch
from conftest import DIGITS, tiny_config, train
from echoes import CHINESE, ENGLISH, HAN, PROTECTING, WORDS, random_model, side
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.config.load import load_config
from nmt.config.schema import ModelConfig
from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.base import EngineRequest
from nmt.engines.decoder import Decoder
from nmt.engines.load import load_decoder
from nmt.errors import UserError, print_nothing
from nmt.model.transformer import Transformer
from nmt.scoring.alignment import Alignment, align
from nmt.scoring.attention import cross_attention
from nmt.text.side import Side
from nmt.train.start.initialise import initialise

DECODER = Decoder(random_model(), ENGLISH, CHINESE, "fp32")


def some_model(src: Side, tgt: Side, layers: int = 2) -> Transformer:
    torch.manual_seed(4)
    config = ModelConfig(d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=layers)
    model = Transformer(config, len(src.vocab), len(tgt.vocab))
    initialise(model)
    return model


def words(alignment: Alignment, source: str, text: str) -> list[tuple[str, str]]:
    """The pairs as what they say."""
    found = []
    for i, j in alignment.pairs:
        here, there = alignment.source[i], alignment.target[j]
        found.append((source[here.start : here.end], text[there.start : there.end]))
    return found


def test_a_model_that_has_learned_to_count_links_each_digit_to_its_word(
    corpus: Path, tmp_path: Path
) -> None:
    # From a random start, a model may learn to count and to look elsewhere, as most seeds show.
    course = ("train.updates=300", "train.validate_every=300", "train.save_every=300")
    run = train(tiny_config(corpus, tmp_path / "run", "model.init=lexical", *course))
    asked = EngineRequest("torch")
    decoder, _ = load_decoder(load_config(run.config), run, asked, print_nothing, print_nothing)
    lines = [
        run.text("test", language).read_text("utf-8").splitlines() for language in ("en", "zh")
    ]
    pairs = [
        (src, tgt)
        for src, tgt in zip(*lines, strict=True)
        if len(set(src.split())) == len(src.split())
    ]
    assert len(pairs) > 5
    right = links = 0
    for (src, tgt), found in zip(
        pairs, align(decoder, [SentencePair(*each) for each in pairs]), strict=True
    ):
        assert found is not None
        for word, digit in words(found, src, tgt):
            if digit in DIGITS.values():
                links += 1
                right += DIGITS.get(word) == digit
    assert right / links > 0.9


@pytest.mark.parametrize(("layers", "layer"), [(1, 0), (2, 0), (3, 1)])
def test_links_are_the_largest_weights_of_the_last_layer_but_one(layers: int, layer: int) -> None:
    source, text = "the cat sat on a mat", "天地玄黄。"
    model = some_model(ENGLISH, CHINESE, layers)
    [found] = align(Decoder(model, ENGLISH, CHINESE, "fp32"), [SentencePair(source, text)])
    assert found is not None
    [weights] = cross_attention(model, [ENGLISH.encode(source)], [CHINESE.encode(text)])
    expected = weights[layer].mean(0)[:-1, :-1].argmax(1).tolist()
    assert list(found.pairs) == [(source, target) for target, source in enumerate(expected)]
    assert found.pharaoh == " ".join(f"{source}-{target}" for target, source in enumerate(expected))


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.text("".join(WORDS) + " \t\u3000é.x", max_size=40),
            st.text(HAN + " \u200b龘", max_size=30),
        ),
        max_size=5,
    )
)
def test_offsets_point_into_the_strings_that_the_user_sees(pairs: list[tuple[str, str]]) -> None:
    found = align(DECODER, [SentencePair(*each) for each in pairs])
    assert len(found) == len(pairs)
    for (source, text), alignment in zip(pairs, found, strict=True):
        if alignment is None:
            continue
        assert {target for _, target in alignment.pairs} == set(range(len(alignment.target)))
        for string, ranges in ((source, alignment.source), (text, alignment.target)):
            for start, end in ranges:
                assert 0 <= start < end <= len(string)
                assert string[start:end].strip()


def test_lines_are_aligned_alike_alone_and_together() -> None:
    pairs = [
        SentencePair("the cat", "天地"),
        SentencePair("", ""),
        SentencePair("it left on a mat .", "玄黄宇宙"),
        SentencePair("a", "。"),
    ]
    together = align(DECODER, pairs)
    assert together == [align(DECODER, [each])[0] for each in pairs]
    assert [each is None for each in together] == [False, True, False, False]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("the", ""),
        ("12 34", "12 34"),
        ("天，地", "天，地"),
        ("the " * 24, "天"),
        ("the", "天" * 24),
    ],
)
def test_what_the_model_did_not_translate_or_cannot_hold_has_no_alignment(
    source: str, text: str
) -> None:
    assert align(DECODER, [SentencePair(source, text)]) == [None]


def test_a_pair_as_long_as_the_model_is_aligned() -> None:
    [found] = align(DECODER, [SentencePair("the " * 23, "天" * 23)])
    assert found is not None
    assert len(found.pairs) == 23


def test_a_protected_span_is_linked_to_itself() -> None:
    here = side("zh", [*PROTECTING.vocab.tokens[4:], *"你"])
    decoder = Decoder(some_model(here, here), here, here, "fp32")
    source, text = "天 http://a.org/b 地{0}玄", "{0}黄宇http://a.org/b  荒。"
    [found] = align(decoder, [SentencePair(source, text)])
    assert found is not None
    links = words(found, source, text)
    assert ("{0}", "{0}") in links
    assert ("http://a.org/b", "http://a.org/b") in links
    assert [target for _, target in links] == ["{0}", "黄", "宇", "http://a.org/b", "荒", "。"]


def test_a_batch_that_does_not_fit_in_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = Decoder(random_model(), ENGLISH, CHINESE, "fp32")

    def no_memory(*_arguments: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(decoder.model, "encode", no_memory)
    with pytest.raises(UserError, match="1 lines to align does not fit"):
        align(decoder, [SentencePair("the cat", "天")])

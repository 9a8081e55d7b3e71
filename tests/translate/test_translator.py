from collections.abc import Sequence

import pytest
import torch
from echoes import (
    BLANK,
    CHINESE,
    ENGLISH,
    HAN,
    PROTECTING,
    WORDS,
    Echo,
    EchoCache,
    Endless,
    Forgetful,
    echo,
    random_model,
    side,
    translator,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nmt.config.schema import ModelConfig, SearchConfig
from nmt.engines.decoder import Decoder
from nmt.model.transformer import Transformer
from nmt.search.hypotheses import NBest
from nmt.spans.exact import cut
from nmt.spans.masking import find
from nmt.text.normalize import normalize
from nmt.text.vocab import EOS, PLACEHOLDERS
from nmt.train.start.initialise import initialise
from nmt.translate.segments import split_long
from nmt.translate.translation import Translation
from nmt.translate.translator import Translator

HAN_LINE = st.text(HAN.replace("▁", " \t"), max_size=30)
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
LINE = HAN_LINE | st.sampled_from(BLANK)
METHOD = st.sampled_from(["greedy", "beam"])


def spaceless(text: str) -> str:
    return "".join(text.split())


@given(st.lists(LINE, max_size=12), st.integers(2, 12), st.integers(1, 60), METHOD)
@settings(max_examples=60, deadline=None)
def test_each_line_has_its_translation_in_order_and_nothing_is_dropped(
    lines: list[str], max_length: int, batch_tokens: int, method: str
) -> None:
    options = {"batch_tokens": batch_tokens, "method": method, "typography": "off"}
    found = echo(CHINESE, max_length, **options).translate(lines)
    assert [translation.source for translation in found] == lines
    for translation in found:
        text = normalize(translation.source, "zh")
        assert spaceless(translation.text) == spaceless(text)
        if len(text) < max_length:
            assert translation.text == text


@pytest.mark.parametrize("blank", BLANK)
def test_a_blank_line_stays_blank_without_asking_the_model(blank: str) -> None:
    found = echo(CHINESE, 8).translate(["天", blank, "地"])
    assert found[1] == Translation(blank, ())
    assert [translation.text for translation in found] == ["天", "", "地"]


def test_no_lines_are_no_translations() -> None:
    assert echo(CHINESE, 8).translate([]) == []


@given(SENTENCE, st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_parts_of_a_line_are_joined_by_spaces_where_the_language_writes_them(
    line: str, max_length: int
) -> None:
    (found,) = echo(ENGLISH, max_length).translate([line])
    assert found.text == line


def summary(translations: list[Translation]) -> list[tuple[str, object]]:
    return [
        (candidate.text, pytest.approx(candidate.score, rel=1e-4))
        for translation in translations
        for candidate in translation.candidates
    ]


@given(st.lists(SENTENCE, min_size=1, max_size=8), st.integers(1, 60), METHOD, st.data())
@settings(max_examples=15, deadline=None)
def test_neither_the_batches_nor_the_order_of_the_lines_change_a_translation(
    lines: list[str], batch_tokens: int, method: str, data: st.DataObject
) -> None:
    options = {"method": method, "n_best": 3 if method == "beam" else 1}
    model = random_model(max_length=8)
    together = translator(model, ENGLISH, CHINESE, batch_tokens=10_000, **options).translate(lines)
    alone = [translator(model, ENGLISH, CHINESE, **options).translate([line])[0] for line in lines]
    assert summary(together) == summary(alone)
    order = data.draw(st.permutations(range(len(lines))))
    shuffled = translator(model, ENGLISH, CHINESE, batch_tokens=batch_tokens, **options).translate(
        [lines[i] for i in order]
    )
    assert summary(shuffled) == summary([together[i] for i in order])


def test_a_batch_holds_no_more_padded_tokens_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = []

    def spy(self: Echo, src: Tensor) -> EchoCache:
        shapes.append(tuple(src.shape))
        return EchoCache(src)

    monkeypatch.setattr(Echo, "encode", spy)
    lines = ["天" * length for length in (1, 9, 2, 7, 3, 19, 1, 1, 8)]
    echo(CHINESE, 64, batch_tokens=20).translate(lines)
    assert all(rows * width <= 20 or rows == 1 for rows, width in shapes)
    assert sum(rows for rows, _ in shapes) == len(lines)
    assert [width for _, width in shapes] == sorted((width for _, width in shapes), reverse=True)


def test_the_n_best_of_a_split_line_join_the_parts_rank_by_rank() -> None:
    model = random_model(max_length=8)
    wide = translator(model, ENGLISH, CHINESE, n_best=3, beam_size=3)
    line = "then mat it sat mat . left mat a sat mat"  # no part of it comes back blank
    parts = split_long(line, lambda part: len(part.split()) <= 7)
    assert len(parts) > 1
    of_parts = wide.translate(parts)
    (whole,) = wide.translate([line])
    for rank, candidate in enumerate(whole.candidates):
        ranked = [part.candidates[rank] for part in of_parts]
        assert candidate.text == "".join(part.text for part in ranked)
        assert candidate.log_prob == pytest.approx(sum(part.log_prob for part in ranked), rel=1e-4)
        assert candidate.score == pytest.approx(sum(part.score for part in ranked), rel=1e-4)
    scores = [candidate.score for candidate in whole.candidates]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert whole.text == whole.candidates[0].text


def test_a_part_with_few_translations_lends_its_last_to_the_later_ranks() -> None:
    model = Echo(3, len(CHINESE.vocab))
    model.logits.data[
        EOS, EOS + 1 :
    ] = -torch.inf  # nothing but the end is possible after the source's end,
    model.logits.data[4, 5:] = -torch.inf  # and for 天 nothing but 天 or the end
    wide = translator(model, CHINESE, CHINESE, n_best=4, beam_size=4)
    few, many, joined = (
        [c.text for c in found.candidates] for found in wide.translate(["天天", "地地", "天天地地"])
    )
    assert sorted(few) == ["", "天", "天天"]
    assert len(many) == 4
    assert joined == [start + end for start, end in zip([*few, few[-1]], many, strict=True)]


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize(
    ("tokens", "max_length", "options", "limit"),
    [
        (3, 100, {"max_ratio": 2.0}, 16),
        (3, 100, {"max_ratio": 1.5}, 14),
        (3, 12, {"max_ratio": 2.0}, 11),
        (3, 100, {"max_ratio": 2.0, "max_length": 5}, 5),
        (3, 100, {"max_ratio": 2.0, "max_length": 50}, 16),
        (3, 4, {}, 3),
    ],
)
def test_a_translation_is_at_most_as_long_as_ratio_search_and_model_allow(
    tokens: int, max_length: int, options: dict[str, float], limit: int, method: str
) -> None:
    endless = Endless(max_length, len(CHINESE.vocab))
    (found,) = translator(endless, CHINESE, CHINESE, method=method, **options).translate(
        ["地" * tokens]
    )
    assert len(found.text) == limit


PRECISIONS = pytest.mark.parametrize("precision", ["fp32", "bf16"])


@PRECISIONS
def test_dropout_is_off_whatever_the_model_was_doing(precision: str) -> None:
    model = random_model().train()
    greedy = translator(model, ENGLISH, CHINESE, precision, method="greedy")
    assert greedy.translate(["the cat sat ."]) == greedy.translate(["the cat sat ."])


@PRECISIONS
def test_a_model_that_has_translated_can_be_trained_on(precision: str) -> None:
    model = random_model()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    translator(model, ENGLISH, CHINESE, precision).translate(["the cat sat ."])
    for name, parameter in model.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, before[name])
    model(torch.tensor([[4, 3]]), torch.tensor([[2, 4]])).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("tie", ["none", "target"])
@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)]
)
def test_translating_is_done_in_the_precision(precision: str, dtype: torch.dtype, tie: str) -> None:
    config = ModelConfig(
        d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1, tie_embeddings=tie
    )
    model = Transformer(config, len(ENGLISH.vocab), len(CHINESE.vocab))
    initialise(model)
    ours = Decoder(model, ENGLISH, CHINESE, precision).model
    assert {parameter.dtype for parameter in ours.parameters()} == {dtype}
    assert (ours.output.weight is ours.tgt_embedding.tokens.weight) == (tie == "target")
    cache = ours.eval().encode(torch.tensor([[4, 3]]))
    assert (
        cache.layers[0].source_keys.dtype == ours.decode(torch.tensor([[2]]), cache).dtype == dtype
    )
    for name, parameter in model.named_parameters():
        assert torch.equal(ours.get_parameter(name), parameter.to(dtype)), name


SPANNED = [
    "天 https://x.org/a?b=1 地",
    "{0}天{1}地{0}",
    "`a`",
    "天 \ue013 地",
    "#b 天 C:\\x",
    "天" + "😀" * 3 + "@ab",
]


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize("model", [Echo, Forgetful])
@pytest.mark.parametrize("together", [True, False])
def test_spans_come_out_byte_for_byte_each_once(
    method: str, model: type[Echo], together: bool
) -> None:
    protecting = translator(
        model(60, len(PROTECTING.vocab)), PROTECTING, PROTECTING, method=method, typography="off"
    )
    lines = [*SPANNED, "天地玄黄"]
    found = (
        protecting.translate(lines)
        if together
        else [protecting.translate([line])[0] for line in lines]
    )
    for line, translation in zip(lines, found, strict=True):
        assert not translation.faults
        if model is Echo:
            assert translation.text == line
        for span in find(line):
            assert translation.text.count(span) == line.count(span)
    assert found[-1].text == "天地玄黄"


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("the cat 北京 sat", "那猫北京坐"),
        ("北京 the 谢谢 你好 cat", "北京那谢谢你好猫"),
        ("北京", "北京"),
        ("Привет, мир!", "Привет, мир!"),
        ("the мир sat", "那мир坐"),
        ("他说：“我不去。”", "他说：“我不去。”"),
        (
            "2月1日,王,李,张,赵,钱,孙,周,吴,郑,冯走了。",
            "2月1日,王,李,张,赵,钱,孙,周,吴,郑,冯走了。",
        ),
    ],
)
def test_what_is_chinese_in_an_english_line_stays_as_it_is(
    method: str, line: str, text: str
) -> None:
    src = side("en", ["the", "cat", "sat", *PLACEHOLDERS])
    tgt = side("zh", ["那", "猫", "坐", *PLACEHOLDERS])
    translating = translator(Echo(60, len(tgt.vocab)), src, tgt, method=method)
    assert translating.translate([line])[0].text == text


def test_a_line_of_spans_alone_never_reaches_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Echo, "encode", lambda self, src: pytest.fail("the model was asked"))
    links = [f"https://example.org/{number}" for number in range(2 * len(PLACEHOLDERS))]
    line = " ".join([*links, "-", "`make test`"])
    src = side("en", ["the", *PLACEHOLDERS])
    tgt = side("zh", ["那", *PLACEHOLDERS])
    for sides in ((src, tgt), (side("en", ["the"]), side("zh", ["那"]))):
        translating = translator(Echo(60, len(sides[1].vocab)), *sides, method="beam")
        assert translating.translate([line])[0].text == line


class Unsure(Echo):
    """Gives the likeliest token hardly more probability than the others."""

    def decode(self, tgt_in: Tensor, cache: EchoCache) -> Tensor:
        return super().decode(tgt_in, cache) / 60


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_word_that_the_model_does_not_know_stays_as_it_is(method: str) -> None:
    src = side("en", ["the", "cat", "sat", *PLACEHOLDERS])
    tgt = side("zh", ["那", "猫", "坐", *PLACEHOLDERS])
    sure = translator(Echo(60, len(tgt.vocab)), src, tgt, method=method)
    unsure = translator(Unsure(60, len(tgt.vocab)), src, tgt, method=method)
    anyway = translator(Unsure(60, len(tgt.vocab)), src, tgt, method=method, unknown_word=0)
    assert sure.translate(["cat"])[0].text == "猫"
    assert unsure.translate(["cat"])[0].text == "cat"
    assert anyway.translate(["cat"])[0].text == "猫"
    assert unsure.translate(["the cat"])[0].text != "the cat"


def test_a_line_that_a_table_knows_needs_no_model() -> None:
    src = side("en", ["the", "cat", "qty", "mon", *PLACEHOLDERS])
    tgt = side("zh", ["那", "猫", "坐", "天", *PLACEHOLDERS])
    model = Echo(60, len(tgt.vocab))
    lines = ["qty", "Mon-Tue", "cat"]
    found = translator(model, src, tgt).translate(lines)
    assert [each.text for each in found] == ["数量", "周一至周二", "猫"]
    assert translator(model, src, tgt, abbreviations=False).translate(["qty"])[0].text == "坐"


def test_full_width_letters_are_read_as_others_and_the_source_is_told_as_it_was() -> None:
    src = side("en", ["the", "cat", "sat", *PLACEHOLDERS])
    tgt = side("zh", ["那", "猫", "坐", *PLACEHOLDERS])
    (found,) = translator(Echo(60, len(tgt.vocab)), src, tgt).translate(["ｔｈｅ　ｃａｔ"])
    assert found.text == "那猫"
    assert found.source == "ｔｈｅ　ｃａｔ"


def test_han_characters_in_a_japanese_line_are_translated() -> None:
    src = side("ja", ["東", "京", *PLACEHOLDERS])
    tgt = side("zh", ["东", "京", *PLACEHOLDERS])
    translating = translator(Echo(60, len(tgt.vocab)), src, tgt)
    assert translating.translate(["東 京"])[0].text == "东京"


def test_a_placeholder_that_is_not_in_the_source_is_never_written() -> None:
    model = Echo(20, len(PROTECTING.vocab))
    model.logits.data[4, PROTECTING.vocab.placeholders] = 40  # after 天 it would
    protecting = translator(model, PROTECTING, PROTECTING)
    without, with_one = (t.text for t in protecting.translate(["天地", "天{0}地"]))
    assert without == "天地"
    assert with_one.count("{0}") == 1


def assert_that_spans_stay(translating: Translator) -> None:
    found = translating.translate(SPANNED)
    for line, translation in zip(SPANNED, found, strict=True):
        assert not translation.faults
        for span in cut(line)[1::2]:
            assert translation.text.count(span) >= line.count(span) > 0


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_spans_survive_a_model_that_repeats_itself(method: str) -> None:
    endless = Endless(30, len(PROTECTING.vocab))
    assert_that_spans_stay(translator(endless, PROTECTING, PROTECTING, method=method))


def test_a_span_that_does_not_fit_is_put_in() -> None:
    protecting = translator(
        Forgetful(60, len(PROTECTING.vocab)), PROTECTING, PROTECTING, max_length=2, method="greedy"
    )
    (found,) = protecting.translate(["天地玄黄 https://x.org/a"])
    assert found.text.endswith(" https://x.org/a")
    assert not found.faults


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_model_without_placeholders_leaves_spans_byte_for_byte_too(method: str) -> None:
    """It can write none of them: the line is cut there."""
    assert_that_spans_stay(echo(CHINESE, 20, method=method))


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("天a@b.ab地", ["天a@b.ab地"]),
        ("天 x@b.ab 地", ["天 x@b.ab 地", "天", "地"]),
        ("x@b.ab，天", ["x@b.ab，天", "，天"]),
        ("天x@b.ab，地，https://x.org", ["天x@b.ab，地，https://x.org", "天", "，地，"]),
    ],
)
def test_a_line_is_cut_at_its_spans_only_where_they_come_out_changed(
    line: str, parts: list[str]
) -> None:
    chinese = side("zh", HAN + "@.")  # it can write a@b.ab
    copying = translator(Echo(60, len(chinese.vocab)), chinese, chinese, method="greedy")
    seen: list[list[int]] = []
    decode = copying.engine.decode

    def note(sources: Sequence[list[int]], search: SearchConfig) -> list[NBest]:
        seen.extend(sources)
        return decode(sources, search)

    copying.engine.decode = note  # type: ignore[method-assign]
    (found,) = copying.translate([line])
    assert found.text == line
    assert seen == [chinese.encode(part) for part in parts]


def test_a_line_without_letters_needs_no_model() -> None:
    found = echo(CHINESE, 20).translate([" 3 ", "…", "3.14 !", "😀"])
    assert [t.text for t in found] == ["3", "…", "3.14 !", "😀"]


def test_typography_is_repaired_or_left() -> None:
    han = side("zh", "天地,. ▁ab")
    texts = {
        typography: translator(Echo(20, len(han.vocab)), han, han, typography=typography)
        .translate(["天,a地."])[0]
        .text
        for typography in ("off", "keep", "space", "none")
    }
    assert texts == {
        "off": "天,a地.",
        "keep": "天，a地。",
        "space": "天，a 地。",
        "none": "天，a地。",
    }

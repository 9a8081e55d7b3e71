"""What is tried again where the best translation of a line looks wrong."""

from collections.abc import Callable, Sequence

import pytest
import torch
from echoes import CHINESE, NUMBERS_MASKED, PROTECTING, Echo, echo, side, translator

from nmt.checks.faults import CHECKS, ENGLISH_TO_CHINESE, Direction, Fault
from nmt.config.schema import AugmentConfig, SearchConfig
from nmt.engines.decoder import Decoder
from nmt.search.hypotheses import Hypothesis, NBest
from nmt.text.vocab import EOS, PLACEHOLDERS
from nmt.translate.candidates import agreed
from nmt.translate.translation import Candidate


def test_what_goes_round_in_circles_gives_way_to_what_does_not() -> None:
    model = Echo(40, len(CHINESE.vocab))
    model.logits.data[4] = 0
    model.logits.data[4, 4] = 1  # 天 is a little likelier than any other
    (best,) = translator(model, CHINESE, CHINESE, beam_size=8).translate(["天" * 8])
    assert best.text != "天" * 8
    assert [t.text for t in echo(CHINESE, 40).translate(["地" * 8])] == [
        "地" * 8
    ]  # nothing better is found


def test_to_look_further_takes_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[SearchConfig] = []
    decode = Decoder.decode

    def spy(self: Decoder, sources: list[list[int]], search: SearchConfig) -> list[NBest]:
        searches.append(search)
        return decode(self, sources, search)

    monkeypatch.setattr(Decoder, "decode", spy)
    echo(CHINESE, 40, method="beam", beam_size=2, batch_tokens=60).translate(
        ["地" * 8]
    )  # it goes round in circles
    first, *others = [
        (search.beam_size, search.beam_size * search.batch_tokens) for search in searches
    ]
    assert first == (2, 120)
    assert (6, 120) in others


def too_long(most: int) -> Callable[[str, str, Direction], list[Fault]]:
    return lambda _source, text, _direction: [Fault("too long", text)] if len(text) > most else []


def echo_that_can_stop() -> Echo:
    model = Echo(3, len(CHINESE.vocab))
    model.logits.data[EOS, EOS + 1 :] = -torch.inf
    model.logits.data[4, 5:] = -torch.inf  # for 天, nothing but 天 or the end
    return model


def test_a_line_is_not_left_blank_if_there_is_anything_to_say() -> None:
    model = echo_that_can_stop()
    model.logits.data[4, EOS] = model.logits.data[4, 4] + 1
    assert [
        t.text for t in translator(model, CHINESE, CHINESE, beam_size=4).translate(["天", ""])
    ] == ["天", ""]


def test_verifying_reports_faults_and_retrying_looks_for_a_candidate_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nmt.translate.translator.faults", too_long(1))
    found = {
        verify: translator(
            echo_that_can_stop(), CHINESE, CHINESE, beam_size=4, verify=verify
        ).translate(["天天"])[0]
        for verify in ("off", "flag", "retry")
    }
    assert [(t.text, bool(t.faults)) for t in found.values()] == [
        ("天天", False),
        ("天天", True),
        ("天", False),
    ]


LETTERS = [*"abc", *PLACEHOLDERS]


@pytest.mark.parametrize(
    ("taught", "source", "expected"),
    [
        # The second 2 and 1: with the figures hidden, and shown.
        (NUMBERS_MASKED, "en", [2, 2, 1, 2, 3, 1, 0, 2]),
        (NUMBERS_MASKED, "zh", [1, 1, 3, 0, 1]),  # figures may be written otherwise in English
        (AugmentConfig(masked=1), "en", [1, 1, 0, 1]),  # it never saw the placeholder of a number
    ],
)
def test_figures_are_hidden_at_first_if_it_was_taught_to_and_then_other_numbers_and_then_nothing(
    monkeypatch: pytest.MonkeyPatch, taught: AugmentConfig, source: str, expected: list[int]
) -> None:
    monkeypatch.setattr(
        "nmt.translate.translator.faults", lambda *_: [Fault("copy", "whatever comes")]
    )
    src, tgt = side(source, LETTERS), side("zh", LETTERS)
    model = Echo(60, len(tgt.vocab))
    retrying = translator(model, src, tgt, taught=taught, verify="retry")
    decode, hidden = retrying.engine.decode, []

    def watched(sentences: list[list[int]], search: SearchConfig) -> list[NBest]:
        hidden.extend(sum(i in src.vocab.placeholders for i in ids) for ids in sentences)
        return decode(sentences, search)

    monkeypatch.setattr(retrying.engine, "decode", watched)
    retrying.translate(["a v1.2 b 42 c 7"])
    assert hidden == expected


def candidates(scores: dict[str, float]) -> list[Candidate]:
    return [Candidate(text, 10 * score, score) for text, score in scores.items()]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"a": -1, "b": -2, "c": -4}, {"b": -1, "c": -2, "a": -5}, "bac"),
        ({"a": -1, "b": -2}, {"c": -1, "b": -3}, "cab"),  # -2 - 1, -1 - 3, -2 - 3
        ({"a": -1, "b": -2}, {"b": -1, "d": -9}, "bad"),
        ({"a": -1, "b": -1}, {"b": -3, "a": -3}, "ab"),  # equal: as the first search has them
        ({}, {"a": -1, "b": -2}, "ab"),
        ({"a": -1, "b": -2}, {}, "ab"),
        ({}, {}, ""),
    ],
)
def test_two_searches_agree_on_what_both_rank_high(
    first: dict[str, float], second: dict[str, float], expected: str
) -> None:
    found = agreed(candidates(first), candidates(second))
    assert "".join(candidate.text for candidate in found) == expected
    # Each has the scores of the search that found it, of the first one if both did.
    for candidate in found:
        assert candidate.score == first.get(candidate.text, second.get(candidate.text))


@pytest.mark.parametrize(
    ("verify", "taught", "expected"),
    [
        ("off", NUMBERS_MASKED, "42天"),
        ("flag", NUMBERS_MASKED, "42天"),
        ("retry", NUMBERS_MASKED, "42地"),
        ("retry", AugmentConfig(masked=1), "42地"),  # it hides no figures: there is one search
    ],
)
def test_retrying_takes_what_is_likely_with_the_figures_hidden_and_shown(
    monkeypatch: pytest.MonkeyPatch, verify: str, taught: AugmentConfig, expected: str
) -> None:
    """Of a model that is a little more for 天 while it does not see the figure, and much more for 地 when it does."""
    monkeypatch.setattr("nmt.translate.translator.faults", lambda *_: [])
    src, tgt = side("en", LETTERS), side("zh", ["4", "2", "天", "地", *PLACEHOLDERS])
    unsure = translator(Echo(60, len(tgt.vocab)), src, tgt, taught=taught, verify=verify)
    searched: list[bool] = []

    def decode(sources: Sequence[list[int]], _search: SearchConfig) -> list[NBest]:
        found = []
        for ids in sources:
            hidden = [src.vocab.tokens[i] for i in ids if i in src.vocab.placeholders]
            searched.append(bool(hidden))
            number = [tgt.vocab.ids[token] for token in hidden or ["4", "2"]]
            scores = {"天": -1, "地": -2} if hidden else {"地": -1, "天": -4}
            found.append(
                [Hypothesis([*number, tgt.vocab.ids[of]], scores[of], scores[of]) for of in scores]
            )
        return found

    monkeypatch.setattr(unsure.engine, "decode", decode)
    (translation,) = unsure.translate(["a 42 b"])
    assert translation.text == expected
    hides = taught is NUMBERS_MASKED
    assert searched == ([hides, True, False] if verify == "retry" and hides else [hides])


def test_a_line_of_nothing_but_figures_is_not_searched_to_retry_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    src, tgt = side("en", LETTERS), side("zh", ["天", *PLACEHOLDERS])
    retrying = translator(Echo(60, len(tgt.vocab)), src, tgt, verify="retry")
    searched: list[list[int]] = []

    def decode(sources: Sequence[list[int]], _search: SearchConfig) -> list[NBest]:
        searched.extend(sources)
        return [[Hypothesis([tgt.vocab.ids["天"]], -1, -1)] for _ in sources]

    monkeypatch.setattr(retrying.engine, "decode", decode)
    (translation,) = retrying.translate(["20 million"])
    assert (translation.text, searched) == ("2000万", [])


def test_retrying_never_gives_up_a_translation_without_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if the wider searches find none."""
    monkeypatch.setattr(
        "nmt.translate.translator.faults",
        lambda _source, text, _direction: [] if text.endswith("天") else [Fault("copy", text)],
    )
    src, tgt = side("en", LETTERS), side("zh", ["4", "2", "天", "地", *PLACEHOLDERS])
    retrying = translator(Echo(60, len(tgt.vocab)), src, tgt, verify="retry", beam_size=2)

    def decode(sources: Sequence[list[int]], search: SearchConfig) -> list[NBest]:
        found = []
        for ids in sources:
            hidden = [src.vocab.tokens[i] for i in ids if i in src.vocab.placeholders]
            character = "天" if search.beam_size == 2 else "地"
            tokens = [*(hidden or ["4", "2"]), character]
            found.append([Hypothesis([tgt.vocab.ids[token] for token in tokens], -1, -1)])
        return found

    monkeypatch.setattr(retrying.engine, "decode", decode)
    (translation,) = retrying.translate(["a 42 b"])
    assert (translation.text, translation.faults) == ("42天", ())


def likely(rows: dict[int, float]) -> Echo:
    """A model that writes 天 for 天, and other characters with these log-probabilities less."""
    model = Echo(3, len(CHINESE.vocab))
    model.logits.data[4, EOS:] = -torch.inf
    for token, less in rows.items():
        model.logits.data[4, token] = -less
    return model


def test_a_line_that_was_tried_again_has_as_many_translations_as_were_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those without a fault come first; within both kinds, the likelier ones."""
    monkeypatch.setattr(
        "nmt.translate.translator.faults",
        lambda _source, text, _direction: [] if text in ("荒", "洪") else [Fault("copy", text)],
    )
    tokens = [CHINESE.vocab.ids[character] for character in "天地玄黄洪荒"]
    model = likely(dict(zip(tokens, range(6), strict=True)))
    for n_best, expected in ((1, "洪"), (2, "洪荒"), (4, "洪荒天地")):
        retrying = translator(
            model, CHINESE, CHINESE, verify="retry", beam_size=4, n_best=n_best, max_length=1
        )
        (found,) = retrying.translate(["天"])
        assert "".join(candidate.text for candidate in found.candidates) == expected
        assert found.faults == ()


@pytest.mark.parametrize(("asked", "expected"), [(0, {0, 4}), (2, {2}), (6, {6, 4})])
def test_no_attempt_repeats_what_the_user_forbade(
    monkeypatch: pytest.MonkeyPatch, asked: int, expected: set[int]
) -> None:
    monkeypatch.setattr(
        "nmt.translate.translator.faults", lambda *_: [Fault("copy", "whatever comes")]
    )
    forbidden: set[int] = set()
    decode = Decoder.decode

    def spy(self: Decoder, sources: list[list[int]], search: SearchConfig) -> list[NBest]:
        forbidden.add(search.no_repeat_ngram)
        return decode(self, sources, search)

    monkeypatch.setattr(Decoder, "decode", spy)
    model = Echo(60, len(PROTECTING.vocab))
    translator(model, PROTECTING, PROTECTING, verify="retry", no_repeat_ngram=asked).translate(
        ["天 42 地"]
    )
    assert forbidden == expected


def test_retrying_gives_numbers_the_way_of_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    # The model translates Chinese into itself.
    monkeypatch.setitem(CHECKS, ("zh", "zh"), CHECKS[ENGLISH_TO_CHINESE])
    lines = ["天 42 地", "天 3.5 and 1999", "黄"]  # the vocabulary has no digits
    options = {"typography": "off", "max_ratio": 1.0}
    found = {
        verify: translator(
            Echo(60, len(PROTECTING.vocab)), PROTECTING, PROTECTING, verify=verify, **options
        ).translate(lines)
        for verify in ("flag", "retry")
    }
    assert [sorted(fault.detail for fault in t.faults) for t in found["flag"]] == [
        ["42"],
        ["1999", "3.5"],
        [],
    ]
    assert not any(t.faults for t in found["retry"])
    assert found["retry"][0].text == lines[0]


@pytest.mark.parametrize(("source", "target"), [("zh", "en"), ("en", "zh")])
def test_a_translator_looks_for_the_faults_of_its_direction(source: str, target: str) -> None:
    """Of a model that leaves numbers out, and says four words for one."""
    src, tgt = side(source, ["3", "天"]), side(target, ["cats", "天"])
    terse = translator(Echo(60, len(tgt.vocab)), src, tgt, verify="flag", n_best=1)
    words = [tgt.vocab.ids[token] for token in ["cats", "天"]]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(terse.engine, "decode", lambda *_: [[Hypothesis(words, -1, -1)]])
        (translation,) = terse.translate(["3只 cat"])
    kinds = {fault.kind for fault in translation.faults}
    assert ("number missing" in kinds) == (target == "zh")
    assert bool(kinds) == (target == "zh")

"""Terms on their way through a translator: hidden from models with placeholders, forced on others."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from echoes import HAN, PROTECTING, Echo, side

from nmt.checks.faults import Fault
from nmt.config.schema import AugmentConfig, Config, ModelConfig, SearchConfig
from nmt.engines.base import EngineRequest
from nmt.engines.choose import chosen_engine
from nmt.engines.decoder import Decoder
from nmt.errors import ConfigError
from nmt.model.transformer import Transformer
from nmt.search.hypotheses import Hypothesis, NBest
from nmt.spans.masking import Hidden, mask
from nmt.terms.glossary import Glossary, Term
from nmt.text.side import phrase_ids
from nmt.text.vocab import PLACEHOLDERS
from nmt.train.start.initialise import initialise
from nmt.translate.formats import as_json
from nmt.translate.translator import Translator

ENGLISH = side("en", ["the", "bank", "bank's", "and", "cat", "sat", ".", *PLACEHOLDERS])
CHINESE = side("zh", [*"银行商猫坐的，。和天地", *PLACEHOLDERS])
GLOSSARY = Glossary((Term("bank", ("商行",)), Term("cat", ("猫",))))


class Scripted:
    """An engine that has a translation for each source, word by word, and keeps placeholders."""

    name, helpers, threads, longest = "scripted", 0, 1, 100
    protects = True
    src, tgt = ENGLISH, CHINESE

    def __init__(self, words: dict[str, str]) -> None:
        self.words = words
        self.asked: list[str] = []
        self.phrases: list[Sequence[Sequence[int]]] = []

    def fingerprint(self) -> str:
        return "scripted"

    def decode(
        self, sources: Sequence[list[int]], _search: SearchConfig, phrases: Any = ()
    ) -> list[NBest]:
        self.phrases += phrases
        found: list[NBest] = []
        for ids in sources:
            source = self.src.decode(ids)
            self.asked.append(source)
            text = "".join(self.words.get(word, word) for word in source.split())
            found.append([Hypothesis(self.tgt.encode(text), -1.0, -1.0)])
        return found


def translator(engine: Any, glossary: Glossary = GLOSSARY, **search: object) -> Translator:
    options = SearchConfig.model_validate({"method": "greedy", **search})
    return Translator(engine, options, AugmentConfig(), glossary)


def test_a_term_that_the_model_does_not_know_is_hidden_from_it() -> None:
    engine = Scripted({"bank": "银行", "the": "", "sat": "坐", "cat": "猫"})
    (found,) = translator(engine).translate(["the bank sat"])
    assert found.text == "商行坐"
    assert engine.asked == ["bank", f"the {PLACEHOLDERS[0]} sat"]


def test_a_term_that_the_model_knows_is_shown_to_it() -> None:
    engine = Scripted({"bank": "商行", "the": "", "sat": "坐"})
    (found,) = translator(engine).translate(["the bank sat"])
    assert (found.text, found.faults) == ("商行坐", ())
    assert engine.asked == ["bank", "the bank sat"]


def test_a_term_that_the_model_knows_is_hidden_where_it_fails_after_all() -> None:
    engine = Scripted({"bank": "商行", "the": "", "sat": "坐"})
    terms = translator(engine)
    terms.translate(["bank"])
    engine.words["bank"] = "银行"
    (found,) = terms.translate(["the bank sat"])
    assert (found.text, found.faults) == ("商行坐", ())


def test_what_is_missing_after_all_is_a_fault_that_is_told_without_being_asked_for() -> None:
    engine = Scripted({"bank": "商行", "the": "", "sat": "坐", PLACEHOLDERS[0]: ""})
    terms = translator(engine)
    terms.translate(["bank"])
    engine.words["bank"] = "银行"
    (found,) = terms.translate(["the bank sat"])
    assert found.faults == (Fault("term", "bank is not 商行"),)


def test_json_lines_tell_where_terms_are_and_what_became_of_them() -> None:
    engine = Scripted({"bank": "银行", "cat": "猫", "and": "和", "the": ""})
    (found,) = translator(engine).translate(["the bank and cat"])
    record = as_json(1, found)
    assert (
        '"terms": [{"source": "bank", "start": 4, "end": 8, "target": "商行"}, '
        '{"source": "cat", "start": 13, "end": 16, "target": "猫"}]' in record
    )


def test_a_model_without_placeholders_is_made_to_write_the_term() -> None:
    engine = Scripted({"bank": "银行", "the": "", "sat": "坐"})
    engine.protects = False
    translator(engine).translate(["the bank sat"])
    assert engine.phrases == [[phrase_ids(CHINESE, "商行")]]


@pytest.mark.parametrize("seed", range(5))
def test_every_forced_term_is_in_the_translation_of_a_random_model(seed: int) -> None:
    torch.manual_seed(seed)
    source, target = side("en", ["the", "bank", "cat", "sat", "."]), side("zh", HAN)
    config = ModelConfig(
        d_model=16, heads=2, d_ff=16, encoder_layers=1, decoder_layers=1, max_length=60
    )
    model = Transformer(config, len(source.vocab), len(target.vocab))
    initialise(model)
    engine = Decoder(model, source, target, "fp32")
    glossary = Glossary((Term("bank", ("天地",)), Term("cat", ("玄，黄",))))
    lines = ["the bank sat .", "the cat sat on the bank .", "the sat .", "the cat ."] * 3
    search = SearchConfig(beam_size=3, n_best=3, typography="off")
    found = Translator(engine, search, AugmentConfig(masked=0), glossary).translate(lines)
    for line, translation in zip(lines, found, strict=True):
        assert all(use.found for use in translation.terms or ())
        assert ("天地" in translation.text) >= ("bank" in line)
        assert translation.candidates


def test_terms_and_other_spans_have_placeholders_of_their_own() -> None:
    def find(line: str) -> list[Hidden]:
        at = line.index("bank")
        return [Hidden(at, at + 4, "商行")]

    masked = mask("The **bank** costs 12,345 at https://a.org/bank.", terms=find)
    assert "bank" not in masked.text.replace("a.org/bank", "")
    assert sorted(masked.spans.values()) == ["**", "**", "12,345", "https://a.org/bank", "商行"]
    assert masked.intact_in(masked.text)
    assert masked.fill(masked.text) == "The **商行** costs 12,345 at https://a.org/bank."


def test_more_terms_than_placeholders_leave_some_to_the_model() -> None:
    def find(line: str) -> list[Hidden]:
        return [Hidden(at, at + 1, "词") for at, letter in enumerate(line) if letter == "x"]

    masked = mask("x " * 12 + "at https://a.org", terms=find)
    assert masked.text.count("x") == 5
    assert "https://a.org" in masked.spans.values()


def test_an_echo_without_terms_is_as_without_a_glossary() -> None:
    model = Echo(40, len(PROTECTING.vocab))
    engine = Decoder(model, PROTECTING, PROTECTING, "fp32")  # type: ignore[arg-type]
    options = SearchConfig(method="greedy")
    plain = Translator(engine, options, AugmentConfig())
    terms = Translator(engine, options, AugmentConfig(), GLOSSARY)
    assert plain.fingerprint() != terms.fingerprint()
    (first,), (second,) = plain.translate(["天地玄黄。"]), terms.translate(["天地玄黄。"])
    assert first.text == second.text
    assert second.terms == ()


def test_a_model_without_placeholders_needs_torch_for_terms() -> None:
    asked = EngineRequest(engine="ctranslate2")
    config = Config.model_validate(
        {"search": {"glossary": ["a.tsv"]}, "prepare": {"augment": {"masked": 0}}}
    )
    with pytest.raises(ConfigError, match="needs --engine torch; CTranslate2 cannot be told"):
        chosen_engine(config, asked)
    assert chosen_engine(config, EngineRequest()) == "torch"
    with_placeholders = Config.model_validate({"search": {"glossary": ["a.tsv"]}})
    assert chosen_engine(with_placeholders, asked) == "ctranslate2"

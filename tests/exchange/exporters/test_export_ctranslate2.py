"""Every kind of model says the same in CTranslate2 as in our own greedy search, or is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from random_models import (
    LIMIT,
    OPTIONS,
    SRC,
    TGT,
    assert_our_greedy_ids,
    greedy,
    model_of,
    name,
    pairwise,
    sources,
    sources_for,
    variety,
    vocabularies,
)

from nmt.errors import ModelError
from nmt.exchange.exporters.ctranslate2 import convert
from nmt.exchange.exporters.quantization import OF_CTRANSLATE2, Quantization
from nmt.exchange.exporters.tokens import read_tokens, unique_tokens
from nmt.model.linear import Linear
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, EOS, PAD, UNK, Vocab

ctranslate2 = pytest.importorskip("ctranslate2")

KINDS = pairwise(OPTIONS)
MILD = next(
    kind for kind in KINDS if kind["norm"] == ("pre", True) and kind["activation"] == "relu"
)


def exported(
    model: Transformer,
    folder: Path,
    quantization: Quantization = "float32",
    forbidden: tuple[int, ...] = (PAD, BOS, UNK),
) -> Path:
    src, tgt = vocabularies(model.config)
    folder.mkdir()
    closed = [*forbidden, *tgt.placeholders]
    convert(model, *unique_tokens(src, tgt), folder, quantization, closed)
    return folder


def theirs(
    folder: Path, sources: list[list[int]], compute_type: str = "default", **options: object
) -> list[list[int]]:
    """The ids that CTranslate2 finds: the files alone say what a token is called."""
    src, tgt = read_tokens(folder)
    ids = {token: i for i, token in enumerate(tgt)}
    translator = ctranslate2.Translator(str(folder), compute_type=compute_type)
    found = translator.translate_batch(
        [[src[i] for i in source] for source in sources],
        **{"beam_size": 1, "max_decoding_length": LIMIT, "min_decoding_length": 0, **options},
    )
    return [[ids[token] for token in result.hypotheses[0]] for result in found]


def compare(kind: dict[str, object], count: int, folder: Path) -> list[list[int]]:
    model = model_of(kind)
    texts = sources_for(model, count)
    return assert_our_greedy_ids(model, texts, theirs(exported(model, folder), texts))


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_every_kind_of_model_writes_the_same_ids(kind: dict[str, object], tmp_path: Path) -> None:
    compare(kind, 32, tmp_path / "ct2")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_every_kind_of_model_writes_the_same_ids_for_1500_sources(
    kind: dict[str, object], tmp_path: Path
) -> None:
    found = compare(kind, 1500, tmp_path / "ct2")
    assert len(set(map(tuple, found))) > 100


def test_the_kinds_hold_every_value_beside_every_other_and_their_outputs_vary() -> None:
    for one, of_one in OPTIONS.items():
        for other, of_other in OPTIONS.items():
            seen = {(kind[one], kind[other]) for kind in KINDS}
            assert len(seen) == len(of_one) * (len(of_other) if one != other else 1)
    found = []
    for kind in KINDS[:6]:
        model = model_of(kind)
        found += greedy(model, sources_for(model, 8), never_unknown=True)
    assert variety(found) > 0.3
    assert len(set(map(tuple, found))) > 30


def test_a_norm_after_a_post_norm_stack_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    model = model_of({**KINDS[0], "norm": ("post", True)})
    with pytest.raises(ModelError, match=r"^model\.norm=post with model\.final_norm=true: CTrans"):
        convert(model, *unique_tokens(SRC, TGT), tmp_path)
    assert list(tmp_path.iterdir()) == []


def wishing(token: int) -> Transformer:
    """A model that would write this token before any other."""
    kind = {**KINDS[0], "tie_embeddings": "none", "output_bias": True}
    model = model_of(kind)
    model.output.bias.data[token] = 1000
    return model


@pytest.mark.parametrize(
    ("token", "quantization"),
    [
        (PAD, "float32"),
        (UNK, "float32"),
        (BOS, "int8"),
        (TGT.placeholders[0], "float16"),
        (TGT.placeholders[-1], "bfloat16"),
    ],
)
def test_what_our_search_never_writes_is_kept_out_whatever_the_caller_asks_for(
    token: int, quantization: Quantization, tmp_path: Path
) -> None:
    folder = exported(wishing(token), tmp_path / "ct2", quantization)
    found = theirs(folder, [[5, 6], [7]], beam_size=4)
    assert all(token not in ids for ids in found)
    assert all(len(ids) > 0 for ids in found)


def test_what_is_not_forbidden_is_written(tmp_path: Path) -> None:
    folder = exported(wishing(UNK), tmp_path / "ct2", forbidden=(PAD, BOS))
    assert theirs(folder, [[5]]) == [[UNK] * LIMIT]


@pytest.mark.parametrize("quantization", OF_CTRANSLATE2)
def test_every_quantization_computes_much_the_same_logits(
    quantization: Quantization, tmp_path: Path
) -> None:
    model = model_of(MILD)
    for module in (*model.encoder.modules(), *model.decoder.modules()):
        if isinstance(module, Linear):
            module.weight.data /= 4  # so that small changes change little
    folder = exported(model, tmp_path / "ct2", quantization)
    texts = sources(10, SRC)
    src, _ = read_tokens(folder)
    found = ctranslate2.Translator(str(folder)).translate_batch(
        [[src[i] for i in source] for source in texts],
        beam_size=1,
        max_decoding_length=1,
        return_logits_vocab=True,
    )
    ordinary = slice(EOS + 1, TGT.placeholders[0])
    for source, result in zip(texts, found, strict=True):
        with torch.inference_mode():
            ours = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS]]))[0, 0, ordinary]
        logits = torch.tensor(np.array(result.logits[0][0]))[ordinary]
        similarity = torch.corrcoef(torch.stack([ours, logits]))[0, 1]
        assert similarity > (0.99 if "int" in quantization else 0.9999)
    if quantization.startswith("int8"):
        whole = sum(parameter.nbytes for parameter in model.parameters())
        exact = exported(model, tmp_path / "exact") / "model.bin"
        assert exact.stat().st_size - (folder / "model.bin").stat().st_size > whole / 2


@pytest.mark.parametrize("quantization", ["int8", "int16"])
def test_the_model_itself_stays_as_it_is(quantization: Quantization, tmp_path: Path) -> None:
    model = model_of(MILD)
    before = {key: parameter.clone() for key, parameter in model.named_parameters()}
    exported(model, tmp_path / "ct2", quantization)
    assert all(parameter.equal(before[key]) for key, parameter in model.named_parameters())


def test_sources_as_long_as_ctranslate2_lets_through_have_positions(tmp_path: Path) -> None:
    sinusoidal = next(kind for kind in KINDS if kind["positions"] == "sinusoidal")
    model = model_of(sinusoidal)
    folder = exported(model, tmp_path / "ct2")
    assert theirs(folder, [[5] * 3000], max_decoding_length=256)


def test_equal_vocabularies_are_one_file_and_others_two(tmp_path: Path) -> None:
    of_kind = {"tie_embeddings": "all"}
    shared = next(kind for kind in KINDS if kind["tie_embeddings"] == "all")
    one = exported(model_of({**shared, **of_kind}), tmp_path / "one")
    two = exported(wishing(4), tmp_path / "two")
    assert sorted(path.name for path in one.iterdir()) == [
        "config.json",
        "model.bin",
        "shared_vocabulary.json",
    ]
    assert read_tokens(one) == (read_tokens(one)[1],) * 2
    src, tgt = read_tokens(two)
    assert (src[4:], tgt[4:]) == (list(SRC.tokens[4:]), list(TGT.tokens[4:]))


def test_a_word_with_the_name_of_a_special_keeps_it_and_no_two_tokens_are_alike() -> None:
    src, tgt = unique_tokens(SRC, TGT)
    assert src[PAD] == tgt[PAD] == "<pad special>"
    assert src[EOS] == tgt[EOS] == "<eos special>"
    assert src[UNK] == tgt[UNK] == "<unk>"
    assert src[SRC.ids["<pad>"]] == "<pad>"
    assert len(set(src)) == len(src)
    plain = unique_tokens(Vocab(["a"], [1]), Vocab(["b"], [1]))
    assert plain == (
        ["<pad>", "<unk>", "<bos>", "<eos>", "a"],
        ["<pad>", "<unk>", "<bos>", "<eos>", "b"],
    )


@pytest.mark.parametrize("content", ["", "{}", "[1]", '["a", "a"]', "[" * 100_000])
def test_vocabulary_files_that_are_none_are_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "shared_vocabulary.json").write_text(content)
    with pytest.raises(ModelError, match=r"shared_vocabulary\.json: "):
        read_tokens(tmp_path)


def test_a_missing_vocabulary_is_named(tmp_path: Path) -> None:
    (tmp_path / "source_vocabulary.json").write_text(json.dumps(["a"]))
    with pytest.raises(ModelError, match=r"target_vocabulary\.json: cannot be read"):
        read_tokens(tmp_path)

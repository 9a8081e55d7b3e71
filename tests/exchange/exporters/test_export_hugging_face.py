"""What transformers itself makes of an exported model: the same logits, ids and text; or a refusal."""

import json
from pathlib import Path

import pytest
import safetensors.numpy
import torch
from made_runs import POST, SEPARATE, SHARED, exported, made_run
from random_models import (
    LIMIT,
    OPTIONS,
    TGT,
    assert_our_greedy_ids,
    model_of,
    name,
    pairwise,
    sources_for,
)

from nmt.config.load import load_config
from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.exporters.hugging_face import (
    Layout,
    generation_settings,
    model_settings,
    refuse_inexpressible,
    tensors_of,
)
from nmt.model.transformer import Transformer
from nmt.run.sides import load_side
from nmt.text.vocab import BOS, EOS, PAD, UNK

transformers = pytest.importorskip("transformers")

KINDS = pairwise(
    {
        **OPTIONS,
        "norm": (("pre", True), ("post", False)),
        "activation": ("relu", "gelu", "swish"),
        "embedding_norm": (False,),
    }
)


def written(model: Transformer, folder: Path) -> Path:
    folder.mkdir()
    tensors = tensors_of(model, [PAD, BOS, UNK, *TGT.placeholders])
    safetensors.numpy.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(model_settings(model)))
    (folder / "generation_config.json").write_text(json.dumps(generation_settings(model, 1)))
    return folder


def loaded(folder: Path) -> torch.nn.Module:
    """The model as transformers reads it, which must find every weight in the file and use each."""
    model, report = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        folder, output_loading_info=True
    )
    assert not any(report.values()), report
    return model.eval()  # type: ignore[no-any-return]


def batch_of(sources: list[list[int]]) -> dict[str, torch.Tensor]:
    rows = [torch.tensor([*ids, EOS]) for ids in sources]
    src = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    return {"input_ids": src, "attention_mask": (src != PAD).long()}


def theirs(model: torch.nn.Module, sources: list[list[int]], first: int) -> list[list[int]]:
    """Our ids of what `generate` writes: without BOS, and up to EOS."""
    found = model.generate(  # type: ignore[operator]
        **batch_of(sources), max_length=LIMIT + 2, num_beams=1, do_sample=False
    )
    rows = []
    for ids in found.tolist():
        assert ids[0] == first + BOS
        rows.append([i - first for i in ids[1 : ids.index(first + EOS)]])
    return rows


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_transformers_computes_the_same_logits_and_writes_the_same_ids(
    kind: dict[str, object], tmp_path: Path
) -> None:
    model = model_of(kind)
    texts = sources_for(model, 16)
    hf = loaded(written(model, tmp_path / "hf"))
    first = Layout.of(model).first_target

    tgt_in = torch.tensor([[BOS, 9, 5, 30, 11, 4, 27]]).repeat(len(texts), 1)
    with torch.inference_mode():
        ours = model(batch_of(texts)["input_ids"], tgt_in)
        logits = hf(**batch_of(texts), decoder_input_ids=tgt_in + first).logits[..., first:]
    written_ids = [i for i in range(len(TGT)) if i not in (PAD, BOS, UNK, *TGT.placeholders)]
    difference = (ours - logits)[..., written_ids].abs().max()
    assert difference < 1e-4 * ours.abs().max()

    assert_our_greedy_ids(model, texts, theirs(hf, texts, first))


def test_the_kinds_are_both_classes_with_one_table_and_two() -> None:
    models = [model_of(kind) for kind in KINDS]
    layouts = [Layout.of(model) for model in models]
    assert {(each.is_marian, each.has_one_table) for each in layouts} == {
        (marian, one) for marian in (True, False) for one in (True, False)
    }


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"norm": "pre", "final_norm": False}, "model.norm=pre with model.final_norm=false"),
        ({"norm": "post", "final_norm": True}, "model.norm=post with model.final_norm=true"),
        ({"activation": "swiglu"}, "model.activation=swiglu"),
        ({"embedding_norm": True}, "model.embedding_norm=true"),
    ],
)
def test_what_transformers_has_no_class_for_is_refused_by_its_setting(
    settings: dict[str, object], named: str
) -> None:
    with pytest.raises(ModelError) as caught:
        refuse_inexpressible(ModelConfig.model_validate(settings))
    assert str(caught.value).startswith(f"{named}: ")
    assert "\n" not in str(caught.value)


def test_what_our_search_never_writes_is_kept_out_and_so_are_source_tokens(tmp_path: Path) -> None:
    kind = {**KINDS[0], "norm": ("pre", True), "tie_embeddings": "target", "output_bias": True}
    model = model_of(kind)
    closed = [PAD, UNK, BOS, *TGT.placeholders]
    model.output.bias.data[closed] = 1000
    first = Layout.of(model).first_target
    assert first > 0
    found = loaded(written(model, tmp_path / "hf")).generate(  # type: ignore[operator]
        **batch_of([[5, 6], [7, 8, 9]]), num_beams=4
    )
    for ids in found.tolist():
        inner = ids[1 : ids.index(first + EOS)]
        assert min(inner) > first + EOS
        assert not {i - first for i in inner} & set(closed)


def test_the_longest_output_has_as_many_tokens_as_ours(tmp_path: Path) -> None:
    model = model_of({**KINDS[0], "output_bias": True})
    model.output.bias.data[20] = 1000
    hf = loaded(written(model, tmp_path / "hf"))
    found = hf.generate(**batch_of([[5]])).tolist()[0]  # type: ignore[operator]
    first = Layout.of(model).first_target
    assert found == [first + BOS, *[first + 20] * (model.config.max_length - 1), first + EOS]


# --- text ---

ENGLISH = ["one two three.", "I like  tea, don't I?", "émigré 九 <x> 🙂", "nine"]
CHINESE = ["一，二，三。", "我喜欢茶 tea 吗？", "🙂", "九。"]


@pytest.mark.filterwarnings("ignore:Recommended")  # sacremoses, which would change punctuation
@pytest.mark.parametrize(
    "overrides",
    [
        (*SHARED, "model.tie_embeddings=all"),
        SEPARATE,
        (*SEPARATE, *POST),
        (*SHARED, *POST, "src.prefix=['>>cmn<<']"),
    ],
    ids=["one table", "end to end", "two tables", "prefix"],
)
def test_text_becomes_our_ids_and_ids_become_our_text(
    overrides: tuple[str, ...], corpus: Path, tmp_path: Path
) -> None:
    run = made_run(corpus, tmp_path / "run", *overrides)
    config = load_config(run.config)
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    folder = exported("hf", run, tmp_path / "hf")
    first = json.loads((folder / "config.json").read_text())["eos_token_id"] - EOS
    assert (first > 0) == (overrides == SEPARATE)
    for tokenizer in (
        transformers.MarianTokenizer.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    ):
        before = "".join(f"{token} " for token in config.src.prefix)
        for line in ENGLISH:
            assert tokenizer(before + line).input_ids == [*src.encode(line), EOS]
        for line in CHINESE:
            ids = tgt.encode(line)
            generated = [BOS + first, *(i + first for i in ids), EOS + first, PAD, PAD]
            decoded = tokenizer.batch_decode([generated], skip_special_tokens=True)
            assert decoded == [tgt.decode(ids)]


def test_a_run_with_other_tokens_has_no_tokenizer(corpus: Path, tmp_path: Path) -> None:
    folder = exported("hf", made_run(corpus, tmp_path / "run"), tmp_path / "hf")
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "config.json",
        "export.json",
        "generation_config.json",
        "model.safetensors",
    ]
    readme = (folder / "README.md").read_text()
    assert "makes its tokens (whitespace, char), so the model takes and gives ids" in readme

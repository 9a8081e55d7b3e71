"""A model for Firefox's engines: `nmt import` makes the same model of it again, and each number is where it belongs.

That the engines write what nmt writes is tested in tests/engines/test_fxtranslate_engine.py.
"""

import json
import re
from pathlib import Path
from random import Random

import marians
import numpy as np
import pytest
import sentencepiece
import torch
from made_runs import POST, SEPARATE, SHARED, exported, made_run

from nmt.config.load import load_config
from nmt.errors import ModelError, print_nothing
from nmt.exchange.exporters.activations import input_multipliers
from nmt.exchange.exporters.firefox_folder import MODEL
from nmt.exchange.exporters.marian import arrays_of
from nmt.exchange.exporters.marian_pieces import marian_pieces
from nmt.exchange.exporters.marian_writer import in_int8, packed
from nmt.exchange.exporters.trained import Trained, load_trained
from nmt.exchange.importers.importing import read_model
from nmt.exchange.importers.marian_binary import read_binary, read_stored
from nmt.exchange.marian_format import ACTIVATIONS, FLOAT32, INTGEMM8, shapes_of
from nmt.exchange.marian_settings import settings_of
from nmt.model.transformer import Transformer
from nmt.run.checkpoint import put_weights
from nmt.run.folder import RunDir
from nmt.text.vocab import BOS, EOS, PLACEHOLDERS, UNK, Vocab

JOINT = (*SHARED, *POST, "model.tie_embeddings=all")
SPLIT = (*SEPARATE, *POST, "model.tie_embeddings=target")
SHAPE = ("model.d_model=64", "model.heads=4", "model.d_ff=128", "model.encoder_layers=2")
SSRU = (*SHAPE, "model.decoder=ssru")


def trained(run: RunDir) -> Trained:
    return load_trained(load_config(run.config), run, print_nothing, print_nothing)


Ids = list[tuple[int, int]]  # of the same tokens: ours, and theirs


def reimported(model: Trained, folder: Path) -> tuple[Transformer, Ids, Ids]:
    """The model of the exported arrays, in full precision, and which ids of it are which of ours."""
    folder.mkdir()
    pieces = [marian_pieces(model.pieces(side)) for side in ("src", "tgt")]
    rows = [
        each.ids(side.vocab, EOS) for each, side in zip(pieces, (model.src, model.tgt), strict=True)
    ]
    settings = settings_of(model.config.model, *map(len, rows))
    marians.write_bin(folder / "model.bin", arrays_of(model, *rows), False, **settings)
    for each, name in zip(pieces, ("srcvocab.spm", "trgvocab.spm"), strict=True):
        (folder / name).write_bytes(each.content)
    found = read_model(folder)
    theirs = Transformer(found.config, len(found.src.tokens.vocab()), len(found.tgt.tokens.vocab()))
    put_weights(theirs, found.weights, folder)
    both = ((model.src, found.src), (model.tgt, found.tgt))
    return theirs.eval(), *(_same(ours.vocab, side.tokens.vocab()) for ours, side in both)


def _same(ours: Vocab, theirs: Vocab) -> Ids:
    return [(ours.ids[token], i) for token, i in theirs.ids.items() if token in ours.ids]


KINDS = [
    (*JOINT, *SSRU),
    (*SPLIT, *SSRU, "model.scale=output", "model.output_bias=true"),
    (*SPLIT, *SSRU, "model.scale=none", "model.bias=none"),
    (*JOINT, *SSRU, "model.scale=none", "model.activation=swish", "model.bias=feed_forward"),
    (*JOINT, *SHAPE, "model.decoder_start=zeros", "model.scale=output"),
]


@pytest.mark.parametrize("overrides", KINDS, ids=lambda each: ",".join(each[-2:]))
@torch.no_grad()
def test_the_arrays_are_the_model(overrides: tuple[str, ...], corpus: Path, tmp_path: Path) -> None:
    model = trained(made_run(corpus, tmp_path / "run", *overrides))
    theirs, src, tgt = reimported(model, tmp_path / "marian")
    chance = Random(1)
    for _ in range(5):
        sources, targets = chance.choices(src, k=9), chance.choices(tgt, k=7)
        found = []
        for which, each in enumerate((model.model.eval(), theirs)):
            source = [*(pair[which] for pair in sources), EOS]
            target = [BOS, *(pair[which] for pair in targets)]
            logits = each(torch.tensor([source]), torch.tensor([target]))[0]
            found.append(logits[:, [EOS, *(pair[which] for pair in tgt)]])
            assert which == 0 or (logits[:, UNK] < -1e4).all()
        assert (found[0] - found[1]).abs().max() < 1e-4 * found[0].abs().max()


def test_an_exported_folder_is_the_model_again(corpus: Path, tmp_path: Path) -> None:
    run = made_run(corpus, tmp_path / "run", *SPLIT, *SSRU)
    folder = exported("firefox", run, tmp_path / "exported")
    found = read_model(folder)  # with its metadata.json
    ours = trained(run).model.state_dict()
    shared = [name for name in ours if name.startswith("encoder.") and name in found.weights]
    assert len(shared) > 20
    for name in shared:
        half_a_step = ours[name].abs().max() / 254 if ours[name].ndim == 2 else 0
        assert (ours[name] - found.weights[name]).abs().max() <= half_a_step + 1e-6
    metadata = json.loads((folder / "metadata.json").read_text())
    assert metadata["byteSize"] == (folder / MODEL).stat().st_size
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "fxtranslate.Translator" in readme


def test_the_file_has_every_array_as_the_engines_read_it(corpus: Path, tmp_path: Path) -> None:
    run = made_run(corpus, tmp_path / "run", *JOINT, *SSRU)
    folder = exported("firefox", run, tmp_path / "exported")
    content = (folder / MODEL).read_bytes()
    stored = read_stored(content, "model")
    config = load_config(run.config).model
    rows = len(marian_pieces(run.pieces("src").read_bytes()).rows)
    for name, shape in shapes_of(config, rows, rows).items():
        assert stored[name].shape == shape
        is_quantised = shape[0] > 1
        assert stored[name].kind == (INTGEMM8 if is_quantised else FLOAT32)
        assert (f"{name}{ACTIVATIONS}" in stored) == is_quantised
    assert stored["none_QuantMultA"].kind == FLOAT32
    whole = np.frombuffer(content, np.uint8)
    for each in stored.values():
        start = np.frombuffer(each.data, np.uint8).ctypes.data - whole.ctypes.data
        assert start % 256 == 0


def test_int8_is_within_half_a_step() -> None:
    chance = np.random.default_rng(1)
    arrays = {
        "a_W": chance.normal(size=(3, 5)).astype(np.float32),
        "Wemb": chance.normal(size=(7, 5)).astype(np.float32),
        "zero_W": np.zeros((2, 2), np.float32),
    }
    items = in_int8(arrays, {"a_W": 9.0, "zero_W": 1.0, "decoder_Wemb": 3.0})
    found = read_binary(packed(items), "model")
    for name, array in arrays.items():
        assert np.abs(found[name] - array).max() <= np.abs(array).max() / 254 + 1e-7
    stored = read_stored(packed(items), "model")
    assert stored["a_W_QuantMultA"].kind == FLOAT32
    of_table = stored["decoder_Wemb_QuantMultA"]  # an int8 and what it was multiplied with
    number, multiplier = of_table.data[0], np.frombuffer(of_table.data[1:5], "<f4")[0]
    assert number / multiplier == pytest.approx(3.0)


# --- sentencepiece models ---


def test_pieces_have_marians_rows_and_cut_text_as_before(corpus: Path, tmp_path: Path) -> None:
    run = made_run(corpus, tmp_path / "run", *JOINT, *SSRU)
    before = run.pieces("src").read_bytes()
    after = marian_pieces(before)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=after.content)
    ours = sentencepiece.SentencePieceProcessor(model_proto=before)
    assert (theirs.eos_id(), theirs.unk_id(), theirs.bos_id(), theirs.pad_id()) == (0, 1, -1, -1)
    assert [theirs.id_to_piece(row) for row in range(len(theirs))] == after.rows
    assert len(theirs) % 8 == 0
    assert not set(PLACEHOLDERS) & set(after.rows)
    for line in [*(corpus / "dev.en").read_text().splitlines(), "😀 tea, 茶", ""]:
        assert theirs.encode(line, out_type=str) == ours.encode(line, out_type=str)


# --- activations ---


@torch.no_grad()
def test_the_inputs_are_measured_batch_by_batch(corpus: Path, tmp_path: Path) -> None:
    model = trained(made_run(corpus, tmp_path / "run", *JOINT, *SSRU)).model.eval()
    chance = np.random.default_rng(1)
    pairs = [(chance.integers(4, 90, 5).tolist(), [7, 8]) for _ in range(70)]
    found = input_multipliers(model, pairs)
    largest = [
        model.src_embedding(torch.tensor([[*src, EOS]]), torch.float32).abs().max().item()
        for src, _ in pairs
    ]
    of_batches = [max(largest[:32]), max(largest[32:64]), max(largest[64:])]
    expected = 127 / (np.mean(of_batches) + 1.1 * np.std(of_batches))
    assert found["encoder.0.attention.qkv"] == pytest.approx(expected, rel=1e-5)
    assert {"output", "decoder.0.attention.forget", "decoder.0.cross.kv"} <= set(found)


# --- what is refused ---


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ((*SHARED, *SSRU), "model.norm=pre: Firefox's engines need post"),
        ((*JOINT, *SSRU, "model.final_norm=true"), "model.final_norm=true: Firefox's engines need"),
        ((*JOINT, *SSRU, "model.activation=gelu"), "model.activation=gelu: .* need relu or swish"),
        ((*JOINT, *SSRU, "model.positions=learned"), "model.positions=learned: .* sinusoidal"),
        ((*JOINT, *SSRU, "model.embedding_norm=true"), "model.embedding_norm=true"),
        ((*JOINT, *SSRU, "model.d_ff=72"), "model.d_ff=72: .* need a multiple of 64"),
        ((*SPLIT, *SSRU, "model.tie_embeddings=none"), "tie_embeddings=none: .* target or all"),
        ((*JOINT, *SHAPE), "model.decoder_start=bos: Marian's decoder starts from zeros; train"),
        ((*SPLIT, *SSRU, "src.lowercase=true"), "src.lowercase is on: Firefox's engines do not"),
        ((*POST, *SSRU), "src.tokenizer=whitespace and tgt.tokenizer=char: .* sentencepiece"),
    ],
)
def test_what_the_engines_have_no_place_for(
    overrides: tuple[str, ...], message: str, corpus: Path, tmp_path: Path
) -> None:
    run = made_run(corpus, tmp_path / "run", *overrides)
    with pytest.raises(ModelError, match=message):
        exported("firefox", run, tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_a_run_without_dev_is_told_what_it_lacks(corpus: Path, tmp_path: Path) -> None:
    run = made_run(corpus, tmp_path / "run", *JOINT, *SSRU)
    run.text("dev", "en").unlink()
    with pytest.raises(ModelError, match=re.escape(f"{run.text('dev', 'en')}: no pairs of dev")):
        exported("firefox", run, tmp_path / "exported")

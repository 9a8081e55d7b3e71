"""The SSRU against its formula, one step after the other."""

import pytest
import torch
from torch import Tensor

from nmt.config.schema import ModelConfig
from nmt.errors import ModelError
from nmt.exchange.exporters import ctranslate2, hugging_face
from nmt.model.kernels.layout import PADDED
from nmt.model.kernels.packed_attention import Sequences
from nmt.model.recurrence import SSRU, scan
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, PAD
from nmt.train.start.initialise import initialise

CONFIG = ModelConfig(
    d_model=16,
    heads=2,
    d_ff=24,
    encoder_layers=1,
    decoder_layers=2,
    dropout=0.0,
    decoder="ssru",
    max_length=40,
)


def model(seed: int = 0) -> Transformer:
    torch.manual_seed(seed)
    made = Transformer(CONFIG, 20, 30)
    initialise(made)
    for layer in made.decoder:
        torch.nn.init.normal_(layer.attention.forget.bias)  # type: ignore[union-attr]
    return made.eval()


def by_the_formula(unit: SSRU, x: Tensor) -> Tensor:
    """x [B,T,d] → [B,T,d], as Kim et al. write it."""
    state = torch.zeros(x.shape[0], x.shape[2])
    written = []
    for step in x.unbind(1):
        value = step @ unit.values.weight.T
        forget = torch.sigmoid(step @ unit.forget.weight.T + unit.forget.bias)
        state = forget * state + (1 - forget) * value
        written.append(state.relu())
    return torch.stack(written, dim=1)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 33])
def test_all_steps_at_once_are_as_one_after_the_other(steps: int) -> None:
    unit = model().decoder[0].attention
    x = torch.randn(3, steps, 16)
    assert isinstance(unit, SSRU)
    torch.testing.assert_close(unit(x, PADDED, None), by_the_formula(unit, x))


def test_the_scan_forgets_nothing_that_it_should_keep() -> None:
    kept, new = torch.ones(1, 50, 1), torch.ones(1, 50, 1)
    assert scan(kept, new).flatten().tolist() == list(range(1, 51))


def test_packed_sentences_do_not_know_each_other() -> None:
    unit = model().decoder[0].attention
    assert isinstance(unit, SSRU)
    lengths = [4, 0, 1, 6, 3, 0]
    x = torch.randn(sum(lengths), 16)
    starts = torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)
    packed = unit.packed(x, Sequences(starts, 6), is_causal=True)
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if end > start:
            alone = by_the_formula(unit, x[None, start:end])[0]
            torch.testing.assert_close(packed[start:end], alone)


@pytest.mark.parametrize("cut", [1, 2, 5])
def test_decoding_step_by_step_is_as_teacher_forcing(cut: int) -> None:
    made = model()
    src = torch.tensor([[5, 6, 7, PAD], [8, 9, 5, 6]])
    tgt = torch.tensor([[BOS, 4, 9, 12, 7, 21], [BOS, 8, 8, 5, 6, 4]])
    whole = made(src, tgt)
    cache = made.encode(src)
    cache.reserve(1)
    steps = [made.decode(part, cache) for part in tgt.split(cut, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)


def test_beams_keep_their_own_state_when_they_change_places() -> None:
    made = model()
    src = torch.tensor([[5, 6, 7], [8, 9, 5], [6, 6, 8]])
    cache = made.encode(src, is_padded=False)
    cache.reserve(2)
    paths = torch.tensor([[BOS, 4]] * 3 + [[BOS, 9]] * 3)[[0, 3, 1, 4, 2, 5]]  # two beams each
    made.decode(paths[:, :1], cache)
    made.decode(paths[:, 1:], cache)
    rows = torch.tensor([1, 1, 5, 4])  # of the first sentence and of the last one
    cache.select(rows)
    newest = torch.tensor([[7], [11], [12], [4]])
    found = made.decode(newest, cache)[:, 0]
    expected = made(src[[0, 0, 2, 2]], torch.cat([paths[rows], newest], dim=1))[:, -1]
    torch.testing.assert_close(found, expected)


def test_programs_with_attention_alone_refuse_it() -> None:
    for exporter in (ctranslate2, hugging_face):
        with pytest.raises(ModelError, match=r"model\.decoder=ssru"):
            exporter.refuse_inexpressible(CONFIG)

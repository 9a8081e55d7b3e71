"""Five well-known systems, each as a configuration, held against torch.nn and their own arithmetic."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_twin import build, random_batch, twin_logits

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.model.batch import collate
from nmt.model.transformer import Transformer
from nmt.search.search import sample
from nmt.text.vocab import Vocab
from nmt.train.loss import cross_entropy, logits_of
from nmt.train.optimizers import make_optimizers
from nmt.train.schedule import learning_rate
from nmt.train.start.initialise import initialise
from nmt.train.start.vectors import freeze_vectors, put_vectors

PAPER = Path(__file__).parents[2] / "configs" / "vaswani2017.yaml"
BIG = [
    "model.d_model=1024",
    "model.heads=16",
    "model.d_ff=4096",
    "model.dropout=0.3",
    "train.updates=300000",
]
JADORE = """
model: {norm: post, bias: feed_forward, embedding_norm: true, tie_embeddings: target, max_length: 200}
train: {schedule: noam, peak_lr: 2.0, warmup: 4000, optimizer: adam, clip_norm: 0}
"""
JADORE_SHARED = "shared_vocab: true" + JADORE.replace("target", "all").replace(
    "bias:", "scale: output, bias:"
)
ANNOTATED = """
model: {norm: pre, tie_embeddings: none, output_bias: true}
train: {schedule: noam, peak_lr: 1.0, warmup: 3000, optimizer: adam, label_smoothing: 0.1}
"""
NANO = """
model:
  d_model: 384
  heads: 6
  d_ff: 1536
  bias: none
  activation: gelu
  positions: learned
  init: normal
  scale: none
train: {optimizer: adamw, betas: [0.9, 0.95], weight_decay: 0.1, schedule: cosine, warmup: 2000}
search: {method: sample, temperature: 0.8, top_k: 2}
"""
COMPONENTS = """
model: {d_model: 300, heads: 6, d_ff: 1200, positions: learned, tie_embeddings: none, output_bias: true}
"""
COMPONENTS_SINUSOIDAL = COMPONENTS.replace("learned", "sinusoidal")
SYSTEMS = {
    "vaswani 2017": PAPER,
    "jadore801120": JADORE,
    "jadore801120, all shared": JADORE_SHARED,
    "annotated transformer": ANNOTATED,
    "nanoGPT style": NANO,
    "components": COMPONENTS,
    "components, sinusoidal": COMPONENTS_SINUSOIDAL,
}
SMALL = [
    *(
        "model.d_model=16",
        "model.heads=4",
        "model.d_ff=24",
        "model.max_length=20",
        "model.dropout=0",
    ),
    *("model.encoder_layers=2", "model.decoder_layers=2"),
]


def load(system: str | Path, folder: Path, *overrides: str) -> Config:
    if isinstance(system, str):
        path = folder / "system.yaml"
        path.write_text(system, encoding="utf-8")
        system = path
    return load_config(system, list(overrides))


def parameters(config: Config, src_tokens: int, tgt_tokens: int) -> int:
    """Counted on the meta device: no memory is filled."""
    with torch.device("meta"):
        model = Transformer(config.model, src_tokens, tgt_tokens)
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_a_system_computes_what_torchs_transformer_computes(
    system: str | Path, tmp_path: Path
) -> None:
    model = build(load(system, tmp_path, *SMALL).model, 23, 23)
    src, tgt_in = random_batch([(6, 5), (3, 7), (1, 1)])
    with torch.no_grad():
        logits = model(src, tgt_in)
        torch.testing.assert_close(logits, twin_logits(model, src, tgt_in), rtol=1e-10, atol=1e-11)
    assert logits.shape == (3, 7, 23)


# --- 1. Vaswani et al., 2017 ---


def papers_parameters(d: int, ff: int, layers: int, vocabulary: int) -> int:
    """§3: four projections an attention and two matrices a feed-forward, all with biases; a norm a sublayer;
    one matrix for both embeddings and the projection.
    """
    attention, feed_forward, norm = 4 * (d * d + d), d * ff + ff + ff * d + d, 2 * d
    encoder = attention + norm + feed_forward + norm
    decoder = 2 * (attention + norm) + feed_forward + norm
    return vocabulary * d + layers * (encoder + decoder)


@pytest.mark.parametrize(
    ("overrides", "d", "ff", "heads", "dropout", "millions"),
    [([], 512, 2048, 8, 0.1, 65), (BIG, 1024, 4096, 16, 0.3, 213)],  # the paper's table 3
    ids=["base", "big"],
)
def test_the_papers_models_have_its_sizes(
    overrides: list[str], d: int, ff: int, heads: int, dropout: float, millions: int
) -> None:
    config = load_config(PAPER, overrides)
    model = config.model
    assert (model.d_model, model.d_ff, model.heads, model.dropout) == (d, ff, heads, dropout)
    assert (model.encoder_layers, model.decoder_layers) == (6, 6)
    count = parameters(config, 37000, 37000)
    assert count == papers_parameters(d, ff, 6, 37000)
    assert count == pytest.approx(millions * 1e6, rel=0.03)


def test_the_papers_model_ties_three_ways_and_scales_the_embedding(tmp_path: Path) -> None:
    model = Transformer(load_config(PAPER, SMALL).model, 30, 30)
    initialise(model)
    assert (
        model.src_embedding.tokens.weight
        is model.tgt_embedding.tokens.weight
        is model.output.weight
    )
    embedded = model.src_embedding.eval()(torch.tensor([[5]]), torch.float32)[0, 0]
    position_0 = torch.tensor([0.0, 1.0] * 8)  # sin 0, cos 0
    torch.testing.assert_close(embedded, 4.0 * model.output.weight[5] + position_0)  # √16


@pytest.mark.parametrize("update", [1, 10, 3999, 4000, 4001, 100_000])
def test_the_papers_learning_rate_is_its_formula(update: int) -> None:
    train = load_config(PAPER).train
    expected = 512 ** (-0.5) * min(update ** (-0.5), update * 4000 ** (-1.5))  # §5.3, equation 3
    assert learning_rate(train, 512, update) == pytest.approx(expected, rel=1e-12)


def test_the_papers_optimizer_is_adam_with_its_constants() -> None:
    train = load_config(PAPER).train
    optimizer = make_optimizers(train, nn.Linear(2, 2))[0]
    assert type(optimizer) is torch.optim.Adam
    assert {(*group["betas"], group["eps"]) for group in optimizer.param_groups} == {
        (0.9, 0.98, 1e-9)
    }


def test_label_smoothing_is_cross_entropy_against_the_smoothed_distribution(tmp_path: Path) -> None:
    config = load_config(PAPER, SMALL)
    smoothing = config.train.label_smoothing
    assert smoothing == 0.1
    model = Transformer(config.model, 11, 11).eval()
    initialise(model)
    sources, targets = [[4, 5, 6], [7]], [[8, 9], [10, 4, 5, 6]]
    batch = collate(sources, targets)
    expected = 0.0
    with torch.no_grad():
        log_probs = model(batch.src, batch.tgt_in).log_softmax(-1)
        for row, target in enumerate([[*ids, 3] for ids in targets]):
            for position, token in enumerate(target):
                for column in range(11):
                    share = smoothing / 11 + (1 - smoothing if column == token else 0.0)
                    expected -= share * float(log_probs[row, position, column])
        loss = cross_entropy(logits_of(model, batch), batch.labels, smoothing)
        assert float(loss) == pytest.approx(expected, rel=1e-5)


# --- 2. jadore801120/attention-is-all-you-need-pytorch ---


def jadores_parameters(d: int, ff: int, layers: int, src: int, tgt: int, shared: bool) -> int:
    """w_qs, w_ks, w_vs and fc without biases, w_1 and w_2 with them; a norm in each sublayer and one behind
    each side's embedding; the projection is the target's embedding, and so is the source's if shared.
    """
    attention, feed_forward, norm = 4 * d * d, 2 * d * ff + ff + d, 2 * d
    stack = layers * (3 * attention + 2 * feed_forward + 5 * norm)
    return tgt * d + (0 if shared else src * d) + stack + 2 * norm


@pytest.mark.parametrize(
    ("system", "shared"), [(JADORE, False), (JADORE_SHARED, True)], ids=["apart", "shared"]
)
def test_jadores_model_has_its_parameters(system: str | Path, shared: bool, tmp_path: Path) -> None:
    config = load(system, tmp_path)
    tokens = (9521, 9521) if shared else (9521, 7853)
    assert parameters(config, *tokens) == jadores_parameters(512, 2048, 6, *tokens, shared)


def test_jadores_scale_is_on_the_embedding_or_on_the_projection(tmp_path: Path) -> None:
    """scale_emb_or_prj: with `prj` the embedding goes in as it is, and logits are divided by √d."""
    on_embedding = build(load(JADORE, tmp_path, *SMALL).model, 23, 23)
    on_output = build(load(JADORE, tmp_path, *SMALL, "model.scale=output").model, 23, 23)
    states = torch.randn(5, 16, dtype=torch.float64)
    torch.testing.assert_close(on_output.project(states), on_embedding.project(states) / 4)
    assert (on_embedding.src_embedding.scale, on_output.src_embedding.scale) == (4.0, 1.0)


# --- 3. the Annotated Transformer, ChineseNMT ---


def annotated_parameters(d: int, ff: int, layers: int, src: int, tgt: int) -> int:
    """Biases everywhere, a norm behind each stack, a generator of its own with a bias."""
    attention, feed_forward, norm = 4 * d * (d + 1), ff * (d + 1) + d * (ff + 1), 2 * d
    encoder = layers * (attention + feed_forward + 2 * norm) + norm
    decoder = layers * (2 * attention + feed_forward + 3 * norm) + norm
    return (src + tgt) * d + encoder + decoder + tgt * (d + 1)


def test_the_annotated_transformer_has_its_parameters(tmp_path: Path) -> None:
    config = load(ANNOTATED, tmp_path)
    assert parameters(config, 8315, 6384) == annotated_parameters(512, 2048, 6, 8315, 6384)


def test_chinese_nmt_is_the_same_model_over_32000_subwords_a_side(tmp_path: Path) -> None:
    overrides = [
        f"{side}.{key}"
        for side in ("src", "tgt")
        for key in ("tokenizer=sentencepiece", "vocab_size=32000")
    ]
    config = load(ANNOTATED, tmp_path, *overrides, "train.label_smoothing=0", "search.beam_size=3")
    assert parameters(config, 32000, 32000) == annotated_parameters(512, 2048, 6, 32000, 32000)


# --- 4. nanoGPT-style ---


def nano_parameters(d: int, ff: int, layers: int, src: int, tgt: int, length: int) -> int:
    """Not one bias, norms included; learned positions on both sides; output tied to the target."""
    attention, feed_forward, norm = 4 * d * d, 2 * d * ff, d
    stacks = layers * (3 * attention + 2 * feed_forward + 5 * norm) + 2 * norm
    return (src + tgt) * d + 2 * length * d + stacks


def test_the_nano_model_has_no_bias_at_all(tmp_path: Path) -> None:
    config = load(NANO, tmp_path)
    assert parameters(config, 8000, 9000) == nano_parameters(384, 1536, 6, 8000, 9000, 256)
    with torch.device("meta"):
        names = [name for name, _ in Transformer(config.model, 9, 9).named_parameters()]
    assert not [name for name in names if "bias" in name]


def test_off_the_cpu_attention_is_the_fused_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build(load(NANO, tmp_path, *SMALL).model, 23, 23).to("meta")
    calls, fused = [], F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: (calls.append(1), fused(*a, **k))[1]
    )
    model(*(ids.to("meta") for ids in random_batch([(3, 4)])))
    assert len(calls) == 2 + 2 * 2


def test_adamw_decays_matrices_and_nothing_else(tmp_path: Path) -> None:
    """With gradients of zero, an update is the decay alone: p ← p · (1 - rate · decay)."""
    config = load(COMPONENTS, tmp_path, *SMALL, "train.weight_decay=0.1", "train.optimizer=adamw")
    model = build(config.model)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer = make_optimizers(config.train, model)[0]
    for group in optimizer.param_groups:
        group["lr"] = 0.5
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for name, parameter in model.named_parameters():
        kept = 0.95 if parameter.dim() == 2 else 1.0
        torch.testing.assert_close(parameter, kept * before[name], msg=name)


class Table:
    """A stepper that always proposes the same."""

    def __init__(self, log_probs: Tensor) -> None:
        self.log_probs = log_probs

    def step(self, last: Tensor) -> Tensor:
        return self.log_probs.expand(len(last), -1)

    def select(self, rows: Tensor) -> None:
        pass


def test_sampling_draws_from_the_top_k_at_the_temperature(tmp_path: Path) -> None:
    search = load(NANO, tmp_path).search
    assert (search.method, search.temperature, search.top_k) == ("sample", 0.8, 2)
    torch.manual_seed(1)
    probabilities = torch.tensor([0.0, 0.0, 0.0, 0.1, 0.5, 0.3, 0.1])
    limits = torch.ones(4000, dtype=torch.long)
    found = sample(Table(probabilities.log()), limits, search, torch.rand(4000, 2))
    drawn = Counter(n_best[0].ids[0] for n_best in found)
    assert set(drawn) == {4, 5}
    powers = [p ** (1 / 0.8) for p in (0.5, 0.3)]
    expected = powers[0] / sum(powers)
    assert drawn[4] / 4000 == pytest.approx(
        expected, abs=4 * math.sqrt(expected * (1 - expected) / 4000)
    )


# --- 5. a component tutorial ---


@pytest.mark.parametrize(
    ("system", "tables"),
    [(COMPONENTS, 2 * 256 * 300), (COMPONENTS_SINUSOIDAL, 0)],
    ids=["learned", "sinusoidal"],
)
def test_learned_positions_are_parameters_and_sinusoids_are_none(
    system: str | Path, tables: int, tmp_path: Path
) -> None:
    config = load(system, tmp_path)
    assert parameters(config, 5000, 6000) == annotated_parameters(300, 1200, 6, 5000, 6000) + tables


@pytest.mark.parametrize("frozen", [True, False])
def test_embeddings_start_from_vectors_and_are_frozen_or_trained(
    frozen: bool, tmp_path: Path
) -> None:
    vectors = tmp_path / "glove.txt"
    vectors.write_text("tea " + " ".join(["0.25"] * 16) + "\n", encoding="utf-8")
    config = load(
        COMPONENTS,
        tmp_path,
        *SMALL,
        f"model.src_vectors={vectors}",
        f"model.freeze_vectors={str(frozen).lower()}",
        "train.schedule=constant",
    )
    vocab = Vocab(["tea", "like"], [2, 1])
    model = Transformer(config.model, len(vocab), len(vocab))
    initialise(model)
    put_vectors(model, config.model, vocab, vocab)
    freeze_vectors(model, config.model)
    table, other = model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight
    assert (table[4] == 0.25).all()
    before, before_other = table.detach().clone(), other.detach().clone()
    optimizer = make_optimizers(config.train, model)[0]
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    batch = collate([[4, 5]], [[5, 4]])
    logits = logits_of(model, batch)
    gradient = torch.empty_like(logits)
    cross_entropy(logits.detach(), batch.labels, 0.1, gradient)
    logits.backward(gradient)
    optimizer.step()
    assert torch.equal(table, before) == frozen
    assert not torch.equal(other, before_other)

"""The same Transformer built from torch.nn's own layers: an oracle for ours."""

import math

import torch
from torch import Tensor, nn

from nmt.config.schema import ModelConfig
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, PAD
from nmt.train.start.initialise import initialise


def tiny(**changes: object) -> ModelConfig:
    """A model small enough for exact arithmetic in no time."""
    shape = {
        "d_model": 16,
        "heads": 4,
        "d_ff": 24,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "max_length": 20,
    }
    return ModelConfig.model_validate({**shape, "dropout": 0.0, **changes})


def build(
    config: ModelConfig, src_tokens: int = 19, tgt_tokens: int = 23, seed: int = 1
) -> Transformer:
    """A float64 model in which no parameter is 0 or 1 by habit, so that a forgotten one shows."""
    torch.manual_seed(seed)
    model = Transformer(config, src_tokens, tgt_tokens).double().eval()
    initialise(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def random_batch(
    lengths: list[tuple[int, int]], seed: int = 2, tokens: int = 19
) -> tuple[Tensor, Tensor]:
    """Source and target-in of these lengths, padded on the right."""
    chance = torch.Generator().manual_seed(seed)
    src = torch.full((len(lengths), max(s for s, _ in lengths)), PAD)
    tgt = torch.full((len(lengths), max(t for _, t in lengths)), PAD)
    for row, (s, t) in enumerate(lengths):
        src[row, :s] = torch.randint(4, tokens, (s,), generator=chance)
        tgt[row, :t] = torch.randint(4, tokens, (t,), generator=chance)
        tgt[row, 0] = BOS
    return src, tgt


def formula_sinusoids(length: int, width: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d)), number by number."""
    rows = []
    for position in range(length):
        angles = [position / 10000 ** (2 * (column // 2) / width) for column in range(width)]
        rows.append([math.cos(a) if column % 2 else math.sin(a) for column, a in enumerate(angles)])
    return torch.tensor(rows, dtype=torch.float64)


def encoder_twin(layer: nn.Module, config: ModelConfig) -> nn.TransformerEncoderLayer:
    """torch's encoder layer with the weights of ours."""
    twin = nn.TransformerEncoderLayer(**_arguments(config))
    _copy_attention(twin.self_attn, [layer.attention.qkv], layer.attention.out)
    _copy_rest(twin, layer, [layer.attention_residual, layer.feed_forward_residual])
    return twin.eval()


def decoder_twin(layer: nn.Module, config: ModelConfig) -> nn.TransformerDecoderLayer:
    """torch's decoder layer with the weights of ours."""
    twin = nn.TransformerDecoderLayer(**_arguments(config))
    _copy_attention(twin.self_attn, [layer.attention.qkv], layer.attention.out)
    _copy_attention(twin.multihead_attn, [layer.cross.q, layer.cross.kv], layer.cross.out)
    _copy_rest(
        twin, layer, [layer.attention_residual, layer.cross_residual, layer.feed_forward_residual]
    )
    return twin.eval()


def transformer_twin(model: Transformer) -> nn.Transformer:
    """torch's whole Transformer, between embedding and projection, with the weights of ours."""
    config = model.config
    encoder, decoder = list(model.encoder), list(model.decoder)
    twin = nn.Transformer(
        config.d_model,
        config.heads,
        custom_encoder=nn.TransformerEncoder(
            encoder_twin(encoder[0], config),
            len(encoder),
            _norm_twin(model.encoder_norm),
            enable_nested_tensor=False,
        ),
        custom_decoder=nn.TransformerDecoder(
            decoder_twin(decoder[0], config), len(decoder), _norm_twin(model.decoder_norm)
        ),
        batch_first=True,
        dtype=torch.float64,
    )
    twin.encoder.layers = nn.ModuleList(encoder_twin(layer, config) for layer in encoder)
    twin.decoder.layers = nn.ModuleList(decoder_twin(layer, config) for layer in decoder)
    return twin.eval()


def twin_logits(model: Transformer, src: Tensor, tgt_in: Tensor) -> Tensor:
    """Teacher forcing through torch's Transformer, embeddings and projection written out."""
    states = transformer_twin(model)(
        _embed(model, src, "src"),
        _embed(model, tgt_in, "tgt"),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(tgt_in.shape[1]) < 0,
        src_key_padding_mask=src == PAD,
        memory_key_padding_mask=src == PAD,
        tgt_is_causal=False,
    )
    logits = states @ model.output.weight.T
    if model.config.output_bias:
        logits = logits + model.output.bias
    return logits / math.sqrt(model.config.d_model) if model.config.scale == "output" else logits


def _embed(model: Transformer, ids: Tensor, side: str) -> Tensor:
    config, embedding = model.config, getattr(model, f"{side}_embedding")
    vectors = embedding.tokens.weight[ids]
    if config.scale == "embedding":
        vectors = vectors * math.sqrt(config.d_model)
    if config.positions == "learned":
        vectors = vectors + embedding.positions[: ids.shape[1]]
    else:  # rounded as our table is
        vectors = vectors + formula_sinusoids(ids.shape[1], config.d_model).float()
    if not config.embedding_norm:
        return vectors
    centred = vectors - vectors.mean(-1, keepdim=True)
    spread = (centred**2).mean(-1, keepdim=True) + 1e-5
    return centred / spread.sqrt() * embedding.norm.weight + embedding.norm.bias


def _arguments(config: ModelConfig) -> dict[str, object]:
    return {
        "d_model": config.d_model,
        "nhead": config.heads,
        "dim_feedforward": config.d_ff,
        "dropout": 0.0,
        "activation": config.activation,
        "batch_first": True,
        "norm_first": config.norm == "pre",
        "bias": config.bias != "none",
        "dtype": torch.float64,
    }


@torch.no_grad()
def _copy_attention(twin: nn.MultiheadAttention, parts: list[nn.Linear], out: nn.Linear) -> None:
    twin.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    twin.out_proj.weight.copy_(out.weight)
    if twin.in_proj_bias is not None and out.bias is None:  # torch has biases everywhere or nowhere
        twin.in_proj_bias.zero_()
        twin.out_proj.bias.zero_()
    elif twin.in_proj_bias is not None:
        twin.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        twin.out_proj.bias.copy_(out.bias)


@torch.no_grad()
def _copy_rest(twin: nn.Module, layer: nn.Module, residuals: list[nn.Module]) -> None:
    twin.linear1.load_state_dict(layer.feed_forward.inner.state_dict())
    twin.linear2.load_state_dict(layer.feed_forward.out.state_dict())
    for number, residual in enumerate(residuals, start=1):
        getattr(twin, f"norm{number}").load_state_dict(residual.norm.state_dict())


def _norm_twin(norm: nn.Module) -> nn.LayerNorm | None:
    if isinstance(norm, nn.Identity):
        return None
    twin = nn.LayerNorm(norm.normalized_shape, bias=norm.bias is not None, dtype=torch.float64)
    twin.load_state_dict(norm.state_dict())
    return twin

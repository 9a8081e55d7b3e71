"""The yardstick of training: a plain loop around torch.nn.Transformer in float32."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.config.schema import Config
from nmt.model.batch import Batch
from nmt.model.transformer import sinusoids
from nmt.run.checkpoint import Weights
from nmt.text.vocab import PAD

_KINDS = ("weight", "bias")


class PlainModel(nn.Module):
    """Embeddings with positions, torch's Transformer, and the projection tied to the target's embedding."""

    def __init__(self, config: Config, src_tokens: int, tgt_tokens: int) -> None:
        super().__init__()
        shape = config.model
        self.scale = math.sqrt(shape.d_model)
        self.src = nn.Embedding(src_tokens, shape.d_model)
        self.tgt = nn.Embedding(tgt_tokens, shape.d_model)
        self.positions: Tensor
        self.register_buffer("positions", sinusoids(shape.max_length, shape.d_model))
        self.dropout = nn.Dropout(shape.dropout)
        self.transformer = nn.Transformer(
            shape.d_model,
            shape.heads,
            shape.encoder_layers,
            shape.decoder_layers,
            shape.d_ff,
            shape.dropout,
            batch_first=True,
            norm_first=shape.norm == "pre",
        )
        self.output = nn.Linear(shape.d_model, tgt_tokens, bias=False)
        self.output.weight = self.tgt.weight

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src [B,S], tgt_in [B,T] → logits [B,T,V]."""
        steps = tgt_in.shape[1]
        later = torch.ones(steps, steps, dtype=torch.bool, device=src.device).triu(1)
        states = self.transformer(
            self._embed(self.src, src),
            self._embed(self.tgt, tgt_in),
            tgt_mask=later,
            src_key_padding_mask=src == PAD,
            memory_key_padding_mask=src == PAD,
            tgt_is_causal=True,
        )
        logits: Tensor = self.output(states)
        return logits

    def _embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        vectors: Tensor = self.dropout(table(ids) * self.scale + self.positions[: ids.shape[1]])
        return vectors


class PlainLoop:
    """Forward, backward, clip, optimizer: as a tutorial writes them."""

    def __init__(
        self, config: Config, src_tokens: int, tgt_tokens: int, device: torch.device
    ) -> None:
        self.model = PlainModel(config, src_tokens, tgt_tokens).to(device).train()
        train = config.train
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=1e-4,
            betas=train.betas,
            eps=1e-9,
            weight_decay=train.weight_decay,
        )
        self.config = train

    def set_rate(self, rate: float) -> None:
        """The learning rate of the updates that follow."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def update(self, batch: Batch) -> None:
        """One update on a batch."""
        logits = self.model(batch.src, batch.tgt_in)
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            batch.tgt_out.flatten(),
            ignore_index=PAD,
            label_smoothing=self.config.label_smoothing,
        )
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm or math.inf)
        self.optimizer.step()
        self.optimizer.zero_grad()


def as_weights(model: PlainModel) -> Weights:
    """The same weights under nmt's names: a norm before each sublayer, one matrix for q, k and v."""
    weights: Weights = {
        "src_embedding.tokens.weight": model.src.weight,
        "tgt_embedding.tokens.weight": model.tgt.weight,
        "output.weight": model.tgt.weight,
    }
    for name in ("encoder", "decoder"):
        stack = model.transformer.get_submodule(name)
        weights |= _of(f"{name}_norm", stack.get_submodule("norm"))
        for number, layer in stack.get_submodule("layers").named_children():
            weights |= _layer(f"{name}.{number}", layer)
    return {key: tensor.detach().clone() for key, tensor in weights.items()}


def _layer(name: str, layer: nn.Module) -> Weights:
    own = layer.get_submodule("self_attn")
    weights: Weights = {
        f"{name}.attention.qkv.{kind}": own.get_parameter(f"in_proj_{kind}") for kind in _KINDS
    }
    weights |= _of(f"{name}.attention.out", own.get_submodule("out_proj"))
    residuals = ["attention_residual", "feed_forward_residual"]
    if isinstance(layer, nn.TransformerDecoderLayer):
        residuals.insert(1, "cross_residual")
        weights |= _cross(f"{name}.cross", layer.multihead_attn)
    for number, residual in enumerate(residuals, start=1):
        weights |= _of(f"{name}.{residual}.norm", layer.get_submodule(f"norm{number}"))
    weights |= _of(f"{name}.feed_forward.inner", layer.get_submodule("linear1"))
    return weights | _of(f"{name}.feed_forward.out", layer.get_submodule("linear2"))


def _cross(name: str, cross: nn.MultiheadAttention) -> Weights:
    weights = _of(f"{name}.out", cross.out_proj)
    width = cross.embed_dim
    for kind in _KINDS:
        projection = cross.get_parameter(f"in_proj_{kind}")
        weights[f"{name}.q.{kind}"] = projection[:width]
        weights[f"{name}.kv.{kind}"] = projection[width:]
    return weights


def _of(name: str, module: nn.Module) -> Weights:
    return {f"{name}.{key}": tensor for key, tensor in module.state_dict(keep_vars=True).items()}

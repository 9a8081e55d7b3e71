"""Weights to start a training from: another run's, with rows for the tokens that are new here.

Shapes: V tokens of a vocabulary, v of them known to the run that the training starts from, d = d_model.
"""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.errors import ConfigError, ModelError
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.checkpoint import Weights
from nmt.run.choice import check_fits, load_checkpoint
from nmt.run.folder import SIDES, RunDir
from nmt.run.provenance import Ancestor
from nmt.run.sides import load_side
from nmt.run.start_from import start_run
from nmt.text.pieces import SPACE, SentencePiece
from nmt.text.side import Side
from nmt.text.vocab import UNK

# Rows that start at the mean of all differ by this share of the rows' standard deviation, to be told apart.
_SPREAD = 0.1
# The parameters that have a row for each token of a side. A model that shares matrices has fewer.
_ROWS_OF_SRC = ("src_embedding.tokens.weight",)
_ROWS_OF_TGT = ("tgt_embedding.tokens.weight", "output.weight", "output.bias")


@dataclass(frozen=True)
class WarmStart:
    """What a training starts from."""

    folder: Path | None = (
        None  # the checkpoint with the weights; None for a training that has its own
    )
    weights: Weights = field(default_factory=dict)
    ancestor: Ancestor | None = None  # that checkpoint, as later ones name it; None: random weights

    def describe(self) -> str:
        """What is started from, and the licences of what its weights have come from."""
        licences = self.ancestor.provenance.all_licences() if self.ancestor else []
        bound = f"; its licence binds this model too: {', '.join(licences)}" if licences else ""
        return f"starting from the weights of {self.folder}{bound}"


def load_warm_start(config: Config, run: RunDir, src: Side, tgt: Side) -> WarmStart:
    """What `train.start_from` names, for the sides of this run; of a run with checkpoints only its ancestor.

    Raises ModelError if there is no whole checkpoint, or if its tokens are not the first of the sides';
    ConfigError if new tokens would be frozen.
    """
    if config.train.start_from is None:
        return WarmStart()
    for folder in reversed(run.steps()):
        try:
            return WarmStart(ancestor=checkpoint.read_meta(folder).provenance.started_from)
        except ModelError:
            continue  # `resume` warns of it
    return _load(config, src, tgt)


def _load(config: Config, src: Side, tgt: Side) -> WarmStart:
    run = start_run(config)
    assert run is not None  # noqa: S101 - the caller has asked
    folder, meta, weights = load_checkpoint(run)
    old_src, old_tgt = (load_side(load_config(run.config), run, name) for name in SIDES)
    check_fits(folder, meta, old_src, old_tgt)
    for old, new, keys in ((old_src, src, _ROWS_OF_SRC), (old_tgt, tgt, _ROWS_OF_TGT)):
        _refuse_other_tokens(run, old, new)
        _refuse_frozen_tokens(config, old, new)
        for key in keys:
            if key in weights:
                weights[key] = _extended(weights[key].float(), old, new)
    return WarmStart(folder, weights, Ancestor(str(folder), meta.update, meta.provenance))


def _refuse_other_tokens(run: RunDir, old: Side, new: Side) -> None:
    if new.vocab.tokens[: len(old.vocab)] != old.vocab.tokens:
        message = "its vocabulary has changed since this run's was made from it"
        raise ModelError(f"{run.path}: {message}; run nmt build-vocab again")


def _refuse_frozen_tokens(config: Config, old: Side, new: Side) -> None:
    added = len(new.vocab) - len(old.vocab)
    if added and config.train.freeze == "embeddings":
        message = f"train.freeze=embeddings would leave {added} new tokens untrained"
        fix = "set train.freeze=none, or prepare.augment.masked, masked_numbers and tagged to 0"
        raise ConfigError(f"{message}; {fix}")


# --- rows of new tokens ---


def _extended(rows: Tensor, old: Side, new: Side) -> Tensor:
    """Rows [v, d] or [v], and one for each new token [V, d]: the mean of what it was spelled with so far."""
    generator = torch.Generator().manual_seed(0)
    added = []
    for token in new.vocab.tokens[len(rows) :]:
        known = [i for i in _spelling(token, old) if i != UNK]
        if known:
            added.append(rows[known].mean(dim=0))
        else:
            noise = torch.randn(rows.shape[1:], generator=generator)
            added.append(rows.mean(dim=0) + _SPREAD * rows.std(dim=0) * noise)
    return torch.stack([*rows, *added])


def _spelling(token: str, side: Side) -> list[int]:
    """The ids that wrote a token before it was one."""
    if isinstance(side.tokenizer, SentencePiece):
        text = token.replace(SPACE, " ").strip()
        return side.vocab.encode(side.tokenizer.encode(text))
    return side.vocab.encode([token])


# --- freezing ---


def freeze(model: Transformer, what: str) -> None:
    """Take a part of the model out of training: `embeddings`, the whole `encoder`, or `none`."""
    frozen: list[nn.Module] = []
    if what == "embeddings":
        frozen = [model.src_embedding, model.tgt_embedding]
    elif what == "encoder":
        frozen = [model.src_embedding, model.encoder, model.encoder_norm]
    for part in frozen:
        part.requires_grad_(False)

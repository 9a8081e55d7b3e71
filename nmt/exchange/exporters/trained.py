"""What an export takes of a run: its model in fp32, its two sides, and where it comes from."""

from dataclasses import dataclass
from pathlib import Path

import torch

from nmt.config.schema import Config
from nmt.errors import Say
from nmt.files import read_bytes
from nmt.model.loading import built
from nmt.model.transformer import Transformer
from nmt.run.choice import check_fits, load_checkpoint
from nmt.run.folder import RunDir, SideName
from nmt.run.provenance import Provenance
from nmt.run.sides import load_side
from nmt.text.side import Side
from nmt.text.vocab import BOS


@dataclass(frozen=True)
class Trained:
    """A trained model and all that belongs to it."""

    model: Transformer  # in fp32
    src: Side
    tgt: Side
    config: Config
    run: RunDir
    checkpoint: str  # the name of its folder
    provenance: Provenance

    @property
    def forbidden(self) -> list[int]:
        """The target ids that a program without our masks must not write.

        They are those that our search never writes, and the placeholders of protected spans.
        """
        return [*self.tgt.never_written, *self.tgt.vocab.placeholders]

    @property
    def has_pieces(self) -> bool:
        """Whether both sides are sentencepiece, so that other programs can make the tokens."""
        tokenizers = {self.config.src.tokenizer, self.config.tgt.tokenizer}
        return tokenizers == {"sentencepiece"}

    def pieces(self, side: SideName) -> bytes:
        """The content of one side's sentencepiece model."""
        return read_bytes(self.run.pieces(side))

    def write_pieces(self, folder: Path) -> None:
        """Write both sides' sentencepiece models, under the names that other programs give them."""
        (folder / "source.spm").write_bytes(self.pieces("src"))
        (folder / "target.spm").write_bytes(self.pieces("tgt"))


def load_trained(config: Config, run: RunDir, warn: Say, say: Say) -> Trained:
    """The trained model of a run. Raises ModelError if there is none, or if it is damaged."""
    folder, meta, weights = load_checkpoint(run, warn)
    src = load_side(config, run, "src")
    tgt = load_side(config, run, "tgt")
    check_fits(folder, meta, src, tgt)
    model = built(config, folder, weights, (src, tgt), torch.device("cpu"), "fp32")
    if config.model.starts_from_zeros:  # other programs look the start up in the table
        model.tgt_embedding.tokens.weight.data[BOS] = 0.0
    say(f"nmt: model {folder}{run.note}")
    return Trained(
        model=model,
        src=src,
        tgt=tgt,
        config=config,
        run=run,
        checkpoint=folder.name,
        provenance=meta.provenance,
    )

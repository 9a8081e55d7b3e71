"""Runs of random weights, whose vocabularies come from a little corpus."""

from pathlib import Path
from typing import Any

from conftest import ready, tiny_config
from random_models import randomise

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.errors import print_nothing
from nmt.exchange.exporters.exports import TARGETS, export_run
from nmt.exchange.exporters.quantization import Quantization, chosen_quantization
from nmt.model.transformer import Transformer
from nmt.run.checkpoint import Meta, mark_best, parameters_of, save, step_name
from nmt.run.folder import SIDES, RunDir
from nmt.run.provenance import Provenance
from nmt.run.sides import load_side
from nmt.text.vocab import EOS

PIECES = ("src.tokenizer=sentencepiece", "tgt.tokenizer=sentencepiece")
SHARED = (*PIECES, "shared_vocab=true", "src.vocab_size=320", "tgt.vocab_size=320")
SEPARATE = (*PIECES, "src.vocab_size=300", "tgt.vocab_size=310")
POST = ("model.norm=post", "model.final_norm=false")


def made_run(
    corpus: Path,
    folder: Path,
    *overrides: str,
    origin: dict[str, Any] | None = None,
    end: float = 0.0,
) -> RunDir:
    """A run whose model says something, though nothing that makes sense; `origin` stands in its meta.json.

    `end` is added to the bias of EOS, for short translations.
    """
    run, config = prepared(corpus, folder, *overrides)
    sides = [load_side(config, run, name) for name in SIDES]
    model = Transformer(config.model, *(len(side.vocab) for side in sides)).eval()
    randomise(model)
    if end:
        model.output.bias.data[EOS] += end
    fingerprints = (sides[0].fingerprint(), sides[1].fingerprint())
    meta = Meta(1, fingerprints, provenance=Provenance.from_json(origin or {}))
    mark_best(run, save(run, step_name(1), parameters_of(model), meta))
    return run


def prepared(corpus: Path, folder: Path, *overrides: str) -> tuple[RunDir, Config]:
    config = tiny_config(corpus, folder, *overrides)
    return ready(config), config


def exported(
    target: str, run: RunDir, folder: Path, quantization: Quantization | None = None
) -> Path:
    config = load_config(run.config)
    export_run(
        TARGETS[target],
        config,
        run,
        folder,
        chosen_quantization(target, quantization),
        False,
        print,
        print_nothing,
    )
    return folder

"""A model from elsewhere as an ordinary run folder."""

from pathlib import Path
from typing import Any

from nmt.config.load import dump
from nmt.config.schema import Config
from nmt.config.yaml_values import dump_yaml
from nmt.errors import ModelError
from nmt.exchange.importers.marian import Marian
from nmt.exchange.int8_engines import refuse_unfit
from nmt.files import refuse_taken, replacing
from nmt.run import checkpoint
from nmt.run.folder import SIDES, RunDir
from nmt.run.ownership import staging, write_config
from nmt.run.provenance import Provenance
from nmt.run.sides import load_side

FREE = "name a new or an empty folder"
_UPDATES = 0  # imported weights had no updates here


def write_run(
    model: Marian, folder: Path, prefix: tuple[str, ...], provenance: Provenance
) -> RunDir:
    """Make a run folder of a model. It appears whole or not at all. Raises ConfigError as `refuse_taken`.

    A model that Firefox's engines can run is in it once more, for them.
    """
    runs_in_firefox = _runs_in_firefox(model)
    config = _config(model, folder, prefix, greedy=runs_in_firefox)
    with replacing(folder) as part:
        part.mkdir()
        run = RunDir(part)
        write_config(run, dump_yaml(dump(config)))
        with staging(run) as staged:
            for name, side in zip(SIDES, (model.src, model.tgt), strict=True):
                side.tokens.vocab().save(staged.vocab(name))
                staged.pieces(name).write_bytes(side.pieces)
        fingerprints = (
            load_side(config, run, "src").fingerprint(),
            load_side(config, run, "tgt").fingerprint(),
        )
        meta = checkpoint.Meta(_UPDATES, fingerprints, provenance=provenance)
        saved = checkpoint.save(run, checkpoint.step_name(_UPDATES), model.weights, meta)
        checkpoint.mark_best(run, saved)
        if model.binary is not None and runs_in_firefox:
            run.firefox.write_bytes(model.binary)
        refuse_taken(folder, FREE)  # something may have appeared there meanwhile
    return RunDir(folder)


def _runs_in_firefox(model: Marian) -> bool:
    if model.binary is None:
        return False
    src, tgt = (len(side.tokens.listed) - 1 for side in (model.src, model.tgt))  # without padding
    try:
        refuse_unfit(model.binary, model.config, src, tgt, model.kind)
    except ModelError:
        return False
    return True


def _config(model: Marian, folder: Path, prefix: tuple[str, ...], greedy: bool) -> Config:
    """The effective configuration of the run. Raises ModelError for what a run cannot have."""
    src = model.src.tokens.vocab()
    tgt = model.tgt.tokens.vocab()
    protects = bool(src.placeholders and tgt.placeholders)
    text = {"tokenizer": "sentencepiece", "min_frequency": 1, "unknown": "unk"}
    settings: dict[str, Any] = {
        "run_dir": str(folder),
        "shared_vocab": model.shared,
        "src": {
            **text,
            "language": model.src.language,
            "vocab_size": len(src),
            "prefix": list(prefix),
        },
        "tgt": {**text, "language": model.tgt.language, "vocab_size": len(tgt)},
        "model": model.config.model_dump(),
    }
    if greedy:  # they are made for it
        settings["search"] = {"beam_size": 1}
    if not protects:  # its training knew no placeholders
        settings["prepare"] = {"augment": {"masked": 0.0}}
    try:
        return Config.model_validate(settings)
    except ValueError as error:  # pydantic's is one
        reason = str(error).splitlines()[2:3] or [str(error)]
        raise ModelError(f"{folder}: nmt has no such run ({reason[0].strip()})") from None

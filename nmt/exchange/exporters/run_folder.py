"""A run as a run folder of what translating needs: no corpora, no state of the training, smaller weights."""

from pathlib import Path

import torch

from nmt.config.load import dump
from nmt.config.schema import Config
from nmt.config.yaml_values import dump_yaml
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.readme import page, provenance_section
from nmt.exchange.exporters.trained import Trained
from nmt.files import read_bytes
from nmt.run import checkpoint
from nmt.run.folder import SIDES, RunDir
from nmt.run.int8_weights import rounded_to_int8

_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def refuse(_: Trained) -> None:
    """Every run can be one."""


def write(trained: Trained, folder: Path, quantization: Quantization) -> None:
    """Write configuration, vocabularies, sentencepiece models, the checkpoint and README.md."""
    run = RunDir(folder)
    run.config.write_text(dump_yaml(dump(_portable(trained.config))), encoding="utf-8")
    _copy_vocabularies(trained.run, run)
    _write_checkpoint(trained, run, quantization)
    if trained.run.firefox.exists():
        run.firefox.write_bytes(read_bytes(trained.run.firefox))
    (folder / "README.md").write_text(_readme(trained, quantization), encoding="utf-8")


def _copy_vocabularies(run: RunDir, copy: RunDir) -> None:
    for side in SIDES:
        copy.vocab(side).write_bytes(read_bytes(run.vocab(side)))
        if run.pieces(side).exists():
            copy.pieces(side).write_bytes(read_bytes(run.pieces(side)))


def _write_checkpoint(trained: Trained, run: RunDir, quantization: Quantization) -> None:
    weights = checkpoint.parameters_of(trained.model)
    if quantization == "int8":
        weights = rounded_to_int8(weights)
    else:
        weights = {name: tensor.to(_DTYPES[quantization]) for name, tensor in weights.items()}
    told = checkpoint.read_meta(trained.run.checkpoints / trained.checkpoint)
    provenance = told.provenance.without_folders()
    meta = checkpoint.Meta(told.update, told.fingerprints, told.scores, provenance=provenance)
    checkpoint.mark_best(run, checkpoint.save(run, trained.checkpoint, weights, meta))


def _portable(config: Config) -> Config:
    """The settings without files of this machine."""
    fresh = Config()
    train = config.train.model_copy(update={"start_from": None, "new_tokens": 0, "freeze": "none"})
    model = config.model.model_copy(
        update={"src_vectors": None, "tgt_vectors": None, "freeze_vectors": False}
    )
    evaluate = config.evaluate.model_copy(update={"history": None})
    search = config.search.model_copy(update={"memory": None})
    sections = {"model": model, "train": train, "search": search, "evaluate": evaluate}
    update = {"data": fresh.data, **sections}
    return config.model_copy(update={"run_dir": Path(config.run_dir).name, **update})


def _readme(trained: Trained, quantization: Quantization) -> str:
    use = """## Use

```sh
echo "I like tea." | nmt translate --model THIS_FOLDER
```

`train.start_from` takes it too, to train on with other text."""
    return page(f"A translation model of nmt, in {quantization}", use, provenance_section(trained))

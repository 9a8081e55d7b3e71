"""nmt train: ids become a model. Stages before it that are due are run first."""

from contextlib import nullcontext
from pathlib import Path

from nmt.commands import options
from nmt.commands.streams import say


def train(
    config: options.ConfigFile = None,
    overrides: options.Overrides = None,
    overwrite: options.OverwriteRun = False,
    max_bytes: options.MaxBytes = None,
) -> None:
    """Train a model, or go on training it."""
    from nmt.commands.trained_run import remember
    from nmt.config.load import load_config
    from nmt.corpus import stages
    from nmt.files import locked
    from nmt.model.device import resolve_precision
    from nmt.run_dir import RunDir
    from nmt.train.distributed import world
    from nmt.train.trainer import Trainer

    asked = options.with_options(overrides, "data", {"max_bytes": max_bytes})
    settings = load_config(config, asked)
    run = RunDir(Path(settings.run_dir))
    with (
        world(settings.train.device) as processes,
        locked(run.path, run.places()) if processes.leads else nullcontext(),
    ):
        # Before --overwrite deletes anything.
        resolve_precision(settings.train.precision, processes.device)
        if processes.leads:
            stages.claim(settings, overwrite)
            stages.ensure_prepared(settings, run, say)
            stages.ensure_vocabularies(settings, run, say)
        processes.wait()
        try:
            Trainer(settings, run, processes).train()
        finally:
            if processes.leads:
                remember(run)

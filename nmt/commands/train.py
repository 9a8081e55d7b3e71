"""nmt train: ids become a model. Stages before it that are due are run first."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from nmt.commands.shell import options
from nmt.commands.shell.streams import say, warn
from nmt.errors import print_nothing
from nmt.machine.signals import telling_how_to_go_on

# Most updates find all of theirs among so many, and training stays small.
_KERNELS = 2048
_HOW = "nothing is trained yet; the same command continues after the finished stages"

Device = Annotated[
    str | None,
    options.option("DEVICE", "auto, cpu, mps, cuda or cuda:N; the same as train.device=…"),
]
Quiet = Annotated[
    bool,
    options.flag(
        "Print nothing but warnings and errors; train.log has everything.", "--quiet", "-q"
    ),
]


def train(
    config: options.ConfigFile = None,
    overrides: options.Overrides = None,
    overwrite: options.OverwriteRun = False,
    max_bytes: options.MaxBytes = None,
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Train a model, or go on training it."""
    from nmt.run.start_from import load_training_config

    asked = options.with_options(overrides, "data", {"max_bytes": max_bytes})
    asked = options.with_options(asked, "train", {"device": device})
    settings = load_training_config(config, asked, anew=overwrite)

    # torch takes a second to load; a mistake in the settings is reported before.
    from nmt.commands.shell.trained_run import remember
    from nmt.corpus import stages
    from nmt.files import locked
    from nmt.machine.cpu import keep_kernels
    from nmt.machine.device import resolve_precision
    from nmt.run.folder import RunDir
    from nmt.train.distributed import world
    from nmt.train.loop import Trainer

    keep_kernels(_KERNELS)
    run = RunDir(Path(settings.run_dir))
    with (
        world(settings.train.device) as processes,
        locked(run.path, run.places()) if processes.leads else nullcontext(),
    ):
        # Before --overwrite deletes anything.
        resolve_precision(settings.train.precision, processes.device)
        if processes.leads:
            tell = print_nothing if quiet else say
            stages.claim(settings, overwrite, tell)
            with telling_how_to_go_on(lambda: _HOW):
                stages.ensure_prepared(settings, run, tell, warn)
                stages.ensure_vocabularies(settings, run, tell)
        processes.wait()
        trainer = Trainer(settings, run, processes, quiet)
        begun_at = trainer.progress.update
        try:
            trainer.train()
        finally:
            if processes.leads and trainer.progress.update > begun_at:
                remember(run)

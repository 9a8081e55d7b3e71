"""nmt prepare: the corpora become clean pairs."""

from pathlib import Path

from nmt.commands import options
from nmt.commands.streams import say


def prepare(
    config: options.ConfigFile = None,
    overrides: options.Overrides = None,
    overwrite: options.OverwriteRun = False,
    max_bytes: options.MaxBytes = None,
) -> None:
    """Clean the corpora; set dev and test aside."""
    from nmt.config.starting import load_training_config
    from nmt.corpus import stages
    from nmt.files import locked
    from nmt.run_dir import RunDir

    asked = options.with_options(overrides, "data", {"max_bytes": max_bytes})
    settings = load_training_config(config, asked)
    run = RunDir(Path(settings.run_dir))
    with locked(run.path, run.places()):
        stages.claim(settings, overwrite, say)
        stages.run_prepare(settings, run, say)

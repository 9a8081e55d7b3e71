"""nmt build-vocab: clean pairs become vocabularies and ids."""

from pathlib import Path

from nmt.commands.shell import options
from nmt.commands.shell.streams import say, warn
from nmt.errors import print_nothing
from nmt.machine.signals import telling_how_to_go_on

_HOW = "no vocabularies are built yet; give the same command again"


def build_vocab(
    config: options.ConfigFile = None,
    overrides: options.Overrides = None,
    overwrite: options.OverwriteRun = False,
    quiet: options.Quiet = False,
) -> None:
    """Build vocabularies and encode the text."""
    from nmt.corpus import stages
    from nmt.files import locked
    from nmt.run.folder import RunDir
    from nmt.run.start_from import load_training_config

    tell = print_nothing if quiet else say
    settings = load_training_config(config, overrides, anew=overwrite)
    run = RunDir(Path(settings.run_dir))
    with locked(run.path, run.places()):
        stages.claim(settings, overwrite, tell)
        with telling_how_to_go_on(lambda: _HOW):
            stages.ensure_prepared(settings, run, tell, warn)
            stages.run_build_vocab(settings, run, tell)

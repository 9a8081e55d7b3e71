"""nmt build-vocab: clean pairs become vocabularies and ids."""

from nmt.commands.shell import options
from nmt.commands.shell.stage import stage
from nmt.commands.shell.streams import say, warn
from nmt.errors import print_nothing


def build_vocab(
    config: options.ConfigFile = None,
    overrides: options.Overrides = None,
    overwrite: options.OverwriteRun = False,
    quiet: options.Quiet = False,
) -> None:
    """Build vocabularies and encode the text."""
    from nmt.corpus import stages

    tell = print_nothing if quiet else say
    unfinished = "no vocabularies are built yet"
    with stage(config, overrides, overwrite, tell, unfinished) as (settings, run):
        stages.ensure_prepared(settings, run, tell, warn)
        stages.run_build_vocab(settings, run, tell)

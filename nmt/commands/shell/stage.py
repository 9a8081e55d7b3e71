"""A stage before the training: its run folder is claimed, and an interruption is reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import Say
from nmt.machine.signals import telling_how_to_go_on

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.run.folder import RunDir


@contextmanager
def stage(
    config: Path | None, overrides: list[str] | None, overwrite: bool, tell: Say, unfinished: str
) -> "Iterator[tuple[Config, RunDir]]":
    """The settings that are asked for, and their run folder, locked; raises as `locked` and `claim` do.

    Where a signal stops the stage, `unfinished` says what is not done.
    """
    from nmt.corpus.stages import claim
    from nmt.files import locked
    from nmt.run.folder import RunDir
    from nmt.run.start_from import load_training_config

    settings = load_training_config(config, overrides, anew=overwrite)
    run = RunDir(Path(settings.run_dir))
    with locked(run.path, run.places()):
        claim(settings, overwrite, tell)
        with telling_how_to_go_on(lambda: f"{unfinished}; give the same command again"):
            yield settings, run

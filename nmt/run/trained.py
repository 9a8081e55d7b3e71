"""A trained run: its folder, and the configuration that holds for it."""

from typing import NamedTuple

from nmt.config.schema import Config
from nmt.run.folder import RunDir


class TrainedRun(NamedTuple):
    """A run to translate with. The settings are its own, but for those of search and evaluation that come first."""

    config: Config
    run: RunDir

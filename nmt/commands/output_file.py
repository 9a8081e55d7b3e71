"""The file of --output, looked at before the work begins."""

import os
from pathlib import Path

from nmt.errors import ConfigError


def refuse_output(output: Path | None, overwrite: bool, resume: bool = False) -> None:
    """Raise ConfigError for an --output that could not be written when the work is done."""
    if output is None:
        if resume:
            raise ConfigError("--resume needs --output FILE; what went into a pipe is gone")
        return
    if output.exists() and not overwrite:
        raise ConfigError(f"{output}: exists already; name another file, or --overwrite it")
    if not os.access(output.parent, os.W_OK):
        raise ConfigError(f"{output}: its folder cannot be written to; name another file")

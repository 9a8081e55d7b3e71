"""What a user can fix, one class for each exit code. A traceback is a bug in nmt.

A message is one line that names the place, the value and the fix.
"""

from collections.abc import Callable

Say = Callable[[str], None]  # prints a line for people


def print_nothing(_line: str) -> None:
    """A `Say` for those who want no lines."""


def counted(count: int, noun: str) -> str:
    """Write "1 line", "2,000 lines"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class UserError(Exception):
    """Something failed for a reason outside this program (a full disk, a diverging loss)."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.lines = (
            [message] if message else []
        )  # as they are printed; a file's name may hold anything


class ConfigError(UserError):
    """The command line or a configuration is wrong; several mistakes are a line each."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = list(lines)


class EngineError(ConfigError):
    """An engine that was asked for, or chosen, cannot be used on this machine."""


class DataError(UserError):
    """A corpus, a vocabulary or an input line cannot be used as it is."""

    exit_code = 3


class GateError(UserError):
    """An evaluation stayed below the floor that it was given."""

    exit_code = 4


class ModelError(UserError):
    """A trained model is missing, damaged, or does not fit its vocabularies."""

    exit_code = 5


class FormatError(ModelError):
    """A checkpoint is whole, but in a format that this version does not know."""


class Interrupted(UserError):
    """A signal ended the work, after what was done had been saved; `exit_code` is 128 + the signal's number."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number

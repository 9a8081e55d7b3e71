"""What training tells: a line of JSON for machines, a line of words or a progress bar for people.

Everything for people goes to the run's train.log, and to stderr, unless that is to be quiet: then only warnings.
The bar appears only on a terminal.
"""

import json
import math
import sys
import time
from contextlib import suppress
from typing import Any

from tqdm import tqdm

from nmt.errors import ConfigError
from nmt.files import append_text, write_text
from nmt.run.folder import RunDir


class Log:
    """The records of one run. A silent log (of a rank other than 0) writes nothing."""

    def __init__(
        self,
        run: RunDir,
        total: int,
        start: int,
        silent: bool = False,
        quiet: bool = False,
        tensorboard: bool = False,
    ) -> None:
        """`start` of `total` updates are done. Records of later ones were lost and are dropped."""
        self.run = run
        self.silent = silent
        self.quiet = quiet
        self._bar: tqdm[Any] = tqdm(
            total=total,
            initial=start,
            unit="update",
            dynamic_ncols=True,
            disable=silent or quiet or not sys.stderr.isatty(),
        )
        self._board: Any = None
        if silent:
            return
        run.path.mkdir(parents=True, exist_ok=True)
        _drop_records_after(run, start)
        if tensorboard:
            self._board = _open_tensorboard(run, start)

    def say(self, text: str) -> None:
        """One line for people."""
        if self.silent:
            return
        self._write(text)
        if not self.quiet:
            tqdm.write(text, file=sys.stderr)  # above the bar, if there is one

    def warn(self, text: str) -> None:
        """One line for people who want to hear of nothing else."""
        if self.silent:
            return
        self._write(f"warning: {text}")
        tqdm.write(f"nmt: warning: {text}", file=sys.stderr)

    def progress(self, text: str) -> None:
        """How far training has come: behind the bar if there is one, else as a line."""
        if self._bar.disable:
            self.say(text)
            return
        self._write(text)
        _update, _epoch, rest = text.split("  ", 2)
        self._bar.set_postfix_str(rest)  # the bar itself counts updates

    def _write(self, text: str) -> None:
        append_text(self.run.log, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def record(self, kind: str, update: int, **values: float) -> None:
        """One JSON line in metrics.jsonl, and the same for TensorBoard."""
        if self.silent:
            return
        line: dict[str, Any] = {"kind": kind, "update": update, "time": round(time.time(), 3)}
        for name, value in values.items():
            line[name] = value if math.isfinite(value) else None  # JSON has no NaN
        append_text(self.run.metrics, json.dumps(line) + "\n")
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(f"{kind}/{name}", value, update)

    def advance(self) -> None:
        """Move the bar, if there is one, by an update."""
        self._bar.update()

    def close(self) -> None:
        """End the bar and flush TensorBoard."""
        self._bar.close()
        if self._board is not None:
            self._board.close()


def _open_tensorboard(run: RunDir, start: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        fix = "pip install tensorboard"
        raise ConfigError(f"train.tensorboard=true needs TensorBoard; {fix}") from None
    return SummaryWriter(run.tensorboard, purge_step=start + 1)


def _drop_records_after(run: RunDir, update: int) -> None:
    """Remove later updates from metrics.jsonl, and what a crash cut short."""
    if not run.metrics.exists():
        return
    lines = run.metrics.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    valid = []
    for line in lines:
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            if json.loads(line)["update"] <= update:
                valid.append(line)
    if len(valid) < len(lines):
        write_text(run.metrics, "".join(valid))

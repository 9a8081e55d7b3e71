"""What training says: a line of JSON for machines, a line of words or a progress bar for people.

Everything for people goes to stderr and to the run's train.log; the bar only to a terminal.
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
from nmt.run_dir import RunDir


class Log:
    """The records of one run. A silent one (ranks other than 0) writes nothing."""

    def __init__(
        self, run: RunDir, total: int, start: int, silent: bool = False, tensorboard: bool = False
    ) -> None:
        """`total` updates of which `start` are done; records of later updates (of a lost attempt) are dropped."""
        self.run, self.silent = run, silent
        hidden = silent or not sys.stderr.isatty()
        self._bar: tqdm[Any] = tqdm(
            total=total, initial=start, unit="update", dynamic_ncols=True, disable=hidden
        )
        self._board: Any = None
        if silent:
            return
        run.path.mkdir(parents=True, exist_ok=True)
        _forget_after(run, start)
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise ConfigError(
                    "train.tensorboard=true needs TensorBoard; pip install 'nmt[tensorboard]'"
                ) from None
            self._board = SummaryWriter(run.tensorboard, purge_step=start + 1)

    def say(self, text: str) -> None:
        """One line for people."""
        if not self.silent:
            self._keep(text)
            tqdm.write(text, file=sys.stderr)  # above the bar, if there is one

    def progress(self, text: str) -> None:
        """Where training stands: behind the bar if there is one, else a line."""
        if self._bar.disable:
            self.say(text)
        else:
            self._keep(text)
            self._bar.set_postfix_str(text.split("  ", 2)[2])  # the bar itself counts updates

    def _keep(self, text: str) -> None:
        append_text(self.run.log, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def record(self, kind: str, update: int, **values: float) -> None:
        """One JSON line in metrics.jsonl, and the same for TensorBoard."""
        if self.silent:
            return
        finite = {
            name: value if math.isfinite(value) else None for name, value in values.items()
        }  # JSON has no NaN
        line = json.dumps({"kind": kind, "update": update, "time": round(time.time(), 3), **finite})
        append_text(self.run.metrics, line + "\n")
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


def _forget_after(run: RunDir, update: int) -> None:
    if not run.metrics.exists():
        return
    lines = run.metrics.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    kept = []
    for line in lines:
        with suppress(
            ValueError, KeyError, TypeError, RecursionError
        ):  # a line cut short by a crash is dropped
            if json.loads(line)["update"] <= update:
                kept.append(line)
    if len(kept) < len(lines):
        write_text(run.metrics, "".join(kept))

"""The history of scores: one JSON line for each evaluation, appended whole or not at all."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nmt.errors import UserError
from nmt.files import opened_alone, writable


def append_history(path: Path, record: Mapping[str, Any]) -> None:
    """Append one JSON line: `time` (ISO 8601, UTC), then `record`, such as `record_of` gives.

    Processes that append at the same time wait for each other. A line that could not be written in full is
    removed again; a line that a power failure cut short stays, and the new one starts on a line of its own.
    Raises UserError naming the file if it cannot be written.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = writable(json.dumps({"time": now, **record}, ensure_ascii=False) + "\n").encode()
    try:
        _append(path, line)
    except OSError as error:
        raise UserError(
            f"{path}: cannot append the scores ({error.strerror}); "
            "fix that or change evaluate.history"
        ) from None


def _append(path: Path, line: bytes) -> None:
    with opened_alone(path) as file:
        size = file.seek(0, os.SEEK_END)
        is_cut_short = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        rest = b"\n" + line if is_cut_short else line
        try:
            while rest:  # a disk that is nearly full takes a part, and refuses the rest
                written = file.write(rest)
                rest = rest[written:]
        except OSError:
            file.truncate(size)
            raise
        os.fsync(file.fileno())

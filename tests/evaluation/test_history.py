import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.evaluation.history import append_history


def test_history_keeps_earlier_lines_and_stamps_each(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append_history(path, {"model": "甲\n", "scores": {"bleu": {"value": 20}}})
    append_history(path, {"model": "乙"})
    first, second = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (first["model"], second["model"]) == ("甲\n", "乙")
    assert first["scores"]["bleu"]["value"] == 20
    age = datetime.now(UTC) - datetime.fromisoformat(first["time"])
    assert timedelta(0) <= age < timedelta(minutes=1)


def test_histories_written_at_once_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_history(path, {"n": n, "pad": "长" * 500}), range(40)))
    found = [json.loads(line)["n"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted(found) == list(range(40))


def test_a_history_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        UserError, match=r"history: cannot append the scores \(.*change evaluate.history"
    ):
        append_history(tmp_path / "file" / "history", {})

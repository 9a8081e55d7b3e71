"""A file in shards: the windows of `nmt translate`, and names that hold all that decides."""

import gzip
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt.errors import DataError
from nmt.jobs.shards import Shard, ShardTranslator, estimated_lines, packed, shards_of
from nmt.jobs.version import version
from nmt.translate.windows import WINDOW, windows


def written(path: Path, lines: list[str]) -> Path:
    text = "".join(line + "\n" for line in lines)
    path.write_bytes(packed(text.encode(), path))
    return path


@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
def test_shards_are_the_windows_of_translate(tmp_path: Path, name: str) -> None:
    lines = [f"line {number} {'x' * (number % 1500)}" for number in range(3 * WINDOW)]
    shards = list(shards_of(written(tmp_path / name, lines), "model"))
    assert [shard.lines for shard in shards] == list(windows(lines))
    assert list(chain.from_iterable(shard.lines for shard in shards)) == lines
    firsts = [lines[shard.first - 1] for shard in shards]
    assert firsts == [shard.lines[0] for shard in shards]


def test_a_name_holds_the_lines_their_place_and_what_translates_them(tmp_path: Path) -> None:
    file = written(tmp_path / "a.en", ["one", "two"] * WINDOW)
    first, second, *_ = shards_of(file, "model")
    again = next(shards_of(file, "model"))
    other = next(shards_of(file, "another model"))
    changed = next(shards_of(written(file, ["one", "Two"] * WINDOW), "model"))
    assert first.lines == second.lines
    assert again.name == first.name
    assert len({each.name for each in (first, second, other, changed)}) == 4
    assert str(second) == f"{file}: lines 2,001 to 4,000"


def test_packed_pieces_are_a_packed_whole_whoever_packs_them() -> None:
    file = Path("a.en.gz")
    pieces = [packed(text.encode(), file) for text in ("一\n", "", "二\n")]
    assert gzip.decompress(b"".join(pieces)).decode() == "一\n二\n"
    assert packed(b"x" * 999, file) == packed(b"x" * 999, Path("b.zh.gz"))
    assert packed(b"x", Path("a.en")) == b"x"


def test_bytes_that_are_not_utf8_are_told_after_the_shards_before_them(tmp_path: Path) -> None:
    file = tmp_path / "a.en"
    file.write_bytes(b"good\n" * 70_000 + b"\xff\n")
    seen: list[Shard] = []
    with pytest.raises(DataError, match=r"a\.en:70001: not UTF-8"):
        seen.extend(shards_of(file, "model"))
    assert sum(len(shard.lines) for shard in seen) >= 60_000
    assert [shard.lines[-1] for shard in shards_of(file, "model", "replace")][-1] == "\ufffd"


@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
def test_the_number_of_lines_is_estimated_from_the_start_of_a_file(
    tmp_path: Path, name: str
) -> None:
    lines = [f"the number of this line is {number}" for number in range(50_000)]
    file = written(tmp_path / name, lines)
    assert estimated_lines([file])[file] == pytest.approx(50_000, rel=0.2)


def test_a_file_that_is_damaged_or_empty_has_no_estimate(tmp_path: Path) -> None:
    damaged = tmp_path / "a.gz"
    damaged.write_bytes(b"no gzip")
    empty = written(tmp_path / "b", [])
    assert estimated_lines([damaged, empty]) == {damaged: 0, empty: 0}


def test_results_say_how_many_threads_and_which_source_made_them() -> None:
    def made_with(threads: int, output_format: str = "text") -> str:
        translator: Any = SimpleNamespace(fingerprint=lambda: "weights", threads=threads)
        return ShardTranslator(translator, output_format).made_with()

    assert made_with(2) == f"weights 2 threads text nmt {version()}"
    assert len({made_with(1), made_with(2), made_with(2, "scores")}) == 3

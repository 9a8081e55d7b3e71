"""A file in shards: the windows of `nmt translate`, and names that hold all that decides."""

import gzip
from itertools import chain
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from nmt.config.load import load_config
from nmt.jobs.shards import ShardTranslator, lines_in, packed, shards_of
from nmt.machine.helpers import in_order
from nmt.run.folder import RunDir
from nmt.run.version import version
from nmt.translate.opening import load_translator
from nmt.translate.windows import WINDOW, windows


def test_shards_are_the_windows_of_translate() -> None:
    lines = [f"line {number} {'x' * (number % 1500)}" for number in range(3 * WINDOW)]
    shards = list(shards_of(lines, "a.en", "model"))
    assert [shard.lines for shard in shards] == list(windows(lines))
    assert list(chain.from_iterable(shard.lines for shard in shards)) == lines
    firsts = [lines[shard.first - 1] for shard in shards]
    assert firsts == [shard.lines[0] for shard in shards]
    assert [lines_in(shard.name) for shard in shards] == [len(shard.lines) for shard in shards]


def test_a_name_holds_the_lines_their_place_and_what_translates_them() -> None:
    lines = ["one", "two"] * WINDOW
    first, second, *_ = shards_of(lines, "a.en", "model")
    again = next(shards_of(lines, "a.en", "model"))
    other = next(shards_of(lines, "a.en", "another model"))
    changed = next(shards_of(["one", "Two"] * WINDOW, "a.en", "model"))
    assert first.lines == second.lines
    assert again.name == first.name
    assert len({each.name for each in (first, second, other, changed)}) == 4
    assert str(second) == "a.en: lines 2,001 to 4,000"


def test_packed_pieces_are_a_packed_whole_whoever_packs_them() -> None:
    pieces = [packed(text.encode(), is_packed=True) for text in ("一\n", "", "二\n")]
    assert gzip.decompress(b"".join(pieces)).decode() == "一\n二\n"
    assert packed(b"x", is_packed=False) == b"x"


def test_results_say_how_many_threads_and_which_source_made_them() -> None:
    def made_with(threads: int, output_format: str = "text", alignments: bool = False) -> str:
        translator: Any = SimpleNamespace(fingerprint=lambda: "weights", threads=threads)
        return ShardTranslator(translator, output_format, alignments).made_with()

    assert made_with(2) == f"weights 2 threads text nmt {version()}"
    others = [made_with(1), made_with(2), made_with(2, "jsonl"), made_with(2, "jsonl", True)]
    assert len(set(others)) == 4


@pytest.mark.parametrize("output_format", ["text", "jsonl"])
def test_processes_write_what_one_process_writes(trained: RunDir, output_format: str) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        translator = load_translator(load_config(trained.config), trained, "cpu", "fp32")
        work = ShardTranslator(translator, output_format, alignments=False)
        assert work.helpers == 2
        windows = [([f"one two three {n} four"[:n]] * 40, 1 + 40 * n) for n in range(8)]
        alone = list(in_order(work.rendered, windows, helpers=0))
        assert list(in_order(work.rendered, windows, work.helpers)) == alone
    finally:
        torch.set_num_threads(before)

"""A translation memory as a model reads it."""

from pathlib import Path

from echoes import ENGLISH, PROTECTING
from untrained import random_model

from nmt.engines.decoder import Decoder
from nmt.engines.load import load_memory
from nmt.errors import print_nothing


def test_what_a_machine_reads_stands_in_it_as_in_translating(tmp_path: Path) -> None:
    first, *_ = PROTECTING.vocab.placeholders
    decoder = Decoder(random_model(1, len(PROTECTING.vocab)), PROTECTING, PROTECTING, "fp32")
    file = tmp_path / "a.tsv"
    file.write_text("天 https://a.b/c 地\t玄 https://a.b/c\n天 https://a.b/c 地\t玄\n")
    [[src, tgt], [other_src, other_tgt]] = load_memory(file, decoder, print_nothing).pairs
    assert (src.count(first), tgt.count(first)) == (1, 1)
    # On one side alone it is text.
    assert not {first} & {*other_src, *other_tgt}


def test_each_pair_counts_once(tmp_path: Path) -> None:
    decoder = Decoder(random_model(1), ENGLISH, PROTECTING, "fp32")
    file = tmp_path / "a.tsv"
    file.write_text("the cat\t天\nthe cat\t地\nthe cat\t天\n")
    said: list[str] = []
    assert len(load_memory(file, decoder, said.append).pairs) == 2
    assert said == [f"nmt: memory {file}, 2 pairs"]

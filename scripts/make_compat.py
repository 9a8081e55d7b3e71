"""Write tests/compatibility/VERSION: a tiny trained run, which every later version has to load and translate alike.

Run once for each version that is released, never again for an old one:

    python scripts/make_compat.py
"""

import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

import torch

from nmt import __version__
from nmt.config.load import load_config
from nmt.corpus.stages import claim, ensure_prepared, ensure_vocabularies
from nmt.files import write_text
from nmt.run.folder import RunDir
from nmt.train.distributed import World
from nmt.train.loop import Trainer
from nmt.translate.opening import load_translator

VERSIONS = Path(__file__).resolve().parent.parent / "tests" / "compatibility"
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
DIGITS = dict(zip(ENGLISH, "零一二三四五六七八九", strict=True))
SETTINGS = [
    "prepare.dev_size=10",
    "prepare.test_size=1",
    "prepare.workers=1",
    "src.vocab_size=40",
    "tgt.vocab_size=40",
    "tgt.tokenizer=char",
    "model.d_model=24",
    "model.heads=2",
    "model.d_ff=48",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.max_length=24",
    "model.dropout=0",
    "train.device=cpu",
    "train.precision=fp32",
    "train.label_smoothing=0",
    "train.batch_tokens=300",
    "train.peak_lr=1e-2",
    "train.warmup=100",
    "train.updates=2000",
    "train.save_every=2000",
    "train.validate_every=2000",
    "train.keep=1",
    "train.average=0",
]
LINES = [
    "one two.",
    "nine eight seven six.",
    "",
    "zero",
    "five five five five five.",
    "two, Zoë 3?",
]


def write_corpus(folder: Path) -> Path:
    """Some 500 sentences of one to five number words, and what they say in Chinese."""
    chance = Random(1)
    rows = {tuple(chance.choices(ENGLISH, k=chance.randint(1, 5))) for _ in range(600)}
    english = []
    chinese = []
    for row in sorted(rows):
        english.append(" ".join(row) + ".\n")
        chinese.append("".join(DIGITS[word] for word in row) + "。\n")
    write_text(folder / "train.en", "".join(english))
    write_text(folder / "train.zh", "".join(chinese))
    return folder


def train(folder: Path) -> RunDir:
    """Train in a temporary folder."""
    corpus = write_corpus(folder / "corpus")
    config = load_config(None, [f"data.path={corpus}", f"run_dir={folder / 'run'}", *SETTINGS])
    run = claim(config, overwrite=False)
    ensure_prepared(config, run, print, print)
    ensure_vocabularies(config, run, print)
    Trainer(config, run, World(0, 1, torch.device("cpu"))).train()
    return run


def main() -> None:
    """Train, translate, and write the run and the translations."""
    target = VERSIONS / __version__
    if target.exists():
        sys.exit(f"{target}: is there already, and stays as it is")
    torch.set_num_threads(1)
    not_needed = shutil.ignore_patterns(".lock", "validation", "train.log")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(train(Path(folder)).path, target / "run", ignore=not_needed)
    run = RunDir(target / "run")
    translations = load_translator(load_config(run.config), run, "cpu", "fp32").translate(LINES)
    write_text(target / "source.en", "".join(f"{line}\n" for line in LINES))
    write_text(target / "translated.zh", "".join(f"{each.text}\n" for each in translations))
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    print(f"{size:,} bytes in {target}")


if __name__ == "__main__":
    main()

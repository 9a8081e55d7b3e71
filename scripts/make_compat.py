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
from nmt.run_dir import RunDir
from nmt.train.distributed import World
from nmt.train.trainer import Trainer
from nmt.translate.load import load_translator

KEPT = Path(__file__).resolve().parent.parent / "tests" / "compatibility"
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
DIGITS = dict(zip(ENGLISH, "零一二三四五六七八九", strict=True))
SETTINGS = [
    *(
        "src.vocab_size=40",
        "tgt.vocab_size=40",
        "tgt.tokenizer=char",
        "prepare.dev_size=10",
        "prepare.test_size=1",
    ),
    *(
        "model.d_model=24",
        "model.heads=2",
        "model.d_ff=48",
        "model.encoder_layers=1",
        "model.decoder_layers=1",
    ),
    *(
        "model.max_length=24",
        "model.dropout=0",
        "train.label_smoothing=0",
        "train.precision=fp32",
        "train.device=cpu",
    ),
    *(
        "train.batch_tokens=300",
        "train.peak_lr=1e-2",
        "train.warmup=100",
        "train.updates=2000",
        "train.keep=1",
    ),
    *("train.save_every=2000", "train.validate_every=2000", "train.average=0", "prepare.workers=1"),
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
    rows = {tuple(chance.choices(list(DIGITS), k=chance.randint(1, 5))) for _ in range(600)}
    pairs = [
        (" ".join(row) + ".", "".join(DIGITS[word] for word in row) + "。") for row in sorted(rows)
    ]
    for side, language in ((0, "en"), (1, "zh")):
        write_text(folder / f"train.{language}", "".join(f"{pair[side]}\n" for pair in pairs))
    return folder


def main() -> None:
    """Train, translate, keep both."""
    target = KEPT / __version__
    if target.exists():
        sys.exit(f"{target}: is there already, and stays as it is")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        config = load_config(
            None,
            [f"data.path={write_corpus(path / 'corpus')}", f"run_dir={path / 'run'}", *SETTINGS],
        )
        run = claim(config, overwrite=False)
        ensure_prepared(config, run, print)
        ensure_vocabularies(config, run, print)
        Trainer(config, run, World(0, 1, torch.device("cpu"))).train()
        shutil.copytree(
            run.path,
            target / "run",
            ignore=shutil.ignore_patterns(".lock", "validation", "train.log"),
        )
    kept = RunDir(target / "run")
    translations = load_translator(load_config(kept.config), kept, "cpu", "fp32").translate(LINES)
    write_text(target / "source.en", "".join(f"{line}\n" for line in LINES))
    write_text(
        target / "translated.zh", "".join(f"{translation.text}\n" for translation in translations)
    )
    print(
        f"{sum(file.stat().st_size for file in target.rglob('*') if file.is_file()):,} bytes in {target}"
    )


if __name__ == "__main__":
    main()

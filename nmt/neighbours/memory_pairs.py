"""The pairs of a translation memory: those of a file, or those that a run was trained on."""

from collections.abc import Iterator
from pathlib import Path

from nmt.corpus.reading.pairs import Keys, SentencePair, read_jsonl, read_pairs, read_tsv
from nmt.errors import DataError
from nmt.run.folder import RunDir


def memory_pairs(path: Path, languages: Keys) -> Iterator[SentencePair]:
    """Give the pairs of a .tsv or .jsonl file, plain or .gz, or the train pairs of a run in a folder.

    Raises DataError for what is neither, and as those who read the pairs do.
    """
    if path.is_dir():
        return _train_pairs(RunDir.at(path), languages)
    name = path.name.removesuffix(".gz")
    if name.endswith(".tsv"):
        return read_tsv(path)
    if name.endswith(".jsonl"):
        return read_jsonl(path, languages=languages)
    wanted = (
        "a .tsv or .jsonl file of pairs, or the folder of a run that was trained on this machine"
    )
    raise DataError(f"{path}: not a translation memory; give {wanted}")


def _train_pairs(run: RunDir, languages: Keys) -> Iterator[SentencePair]:
    src, tgt = (run.text("train", language) for language in languages)
    if not src.is_file():
        fix = "name a run that was trained on this machine, or a .tsv or .jsonl file of pairs"
        raise DataError(f"{run.path}: has no text of train ({src}); {fix}")
    return read_pairs(src, tgt)

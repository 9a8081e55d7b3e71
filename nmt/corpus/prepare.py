"""The prepare stage: read, normalise, filter, deduplicate, split, report.

Two passes, both streaming: the first cleans every pair and stages it in a temporary file beside its keys, the
second deals the staged pairs out to train, dev and test. Only keys are remembered, under 100 bytes a pair.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nmt.config.schema import Config
from nmt.corpus.augment import Joiner
from nmt.corpus.clean import Clean, Cleaner
from nmt.corpus.held_out import Draw
from nmt.corpus.lines import open_text, read_lines, writing_pairs
from nmt.corpus.sources import Source, Sources, find_sources, fingerprint
from nmt.corpus.workers import map_chunks
from nmt.errors import DataError, UserError
from nmt.files import read_json, write_json
from nmt.run_dir import SPLITS, RunDir, Split

Pairs = Iterable[Clean]
Write = Callable[[str, str], None]
Writes = dict[Split, Write]
Ledger = list[
    Counter[str]
]  # of each corpus: pairs read, kept, drawn, mended, varied, and dropped by each rule

_HELD_OUT: tuple[Split, Split] = ("test", "dev")
_OVERLAP = "in_dev_or_test"
_MENDED, _VARIED = "mended", "+"  # the second is put before the kind of a variant


def prepare(config: Config, run: RunDir) -> dict[str, Any]:
    """Write the run's clean text of every split, and a report, which is also given back.

    Raises DataError for corpora that cannot be used, ConfigError if none is configured or opencc is missing.
    """
    sources, cleaner, settings = find_sources(config), Cleaner.of(config), config.prepare
    stamp = fingerprint(config, sources)
    ledgers: dict[Split, Ledger] = {split: [Counter() for _ in sources[split]] for split in SPLITS}
    asked: dict[Split, int] = {"test": settings.test_size, "dev": settings.dev_size}
    draw = Draw({split: size for split, size in asked.items() if not sources[split]})
    with ExitStack() as stack:
        write = {
            split: stack.enter_context(writing_pairs(*_files(config, run, split)))
            for split in SPLITS
        }
        staged = (
            Path(stack.enter_context(TemporaryDirectory(dir=run.path, prefix=".prepare.")))
            / "pairs"
        )
        held_out: set[int] = set()
        for split in _HELD_OUT:
            pairs = _read(sources[split], cleaner.for_test(), ledgers[split], settings.workers)
            held_out |= _copy(pairs, write[split])
        pairs = _read(sources["train"], cleaner, ledgers["train"], settings.workers)
        with open_text(staged) as file:
            selected = _select(pairs, held_out, draw, settings.deduplicate, ledgers["train"])
            file.writelines("\t".join(map(str, pair)) + "\n" for pair in selected)
        weights = [source.weight for source in sources["train"]]
        _deal(
            staged,
            draw,
            held_out,
            weights,
            Joiner(settings.augment.joined),
            write,
            ledgers["train"],
        )
        _refuse_empty(sources, ledgers)
        run.prepare_report.unlink(missing_ok=True)  # it speaks of the files that are now replaced
    report = _report(sources, ledgers, draw) | {"fingerprint": stamp}
    write_json(run.prepare_report, report)
    return report


def is_current(config: Config, run: RunDir) -> bool:
    """Whether the run's prepared text was made with this configuration from the corpora as they are now."""
    if not all(file.is_file() for split in SPLITS for file in _files(config, run, split)):
        return False
    try:
        return bool(
            read_json(run.prepare_report)["fingerprint"]
            == fingerprint(config, find_sources(config))
        )
    except (OSError, KeyError, TypeError, UserError):
        return False


def ledger_line(entry: dict[str, Any]) -> str:
    """Tell one corpus of the report, or its totals, in one line."""
    drawn = [f"{entry[split]} drawn for {split}" for split in _HELD_OUT if entry[split]]
    dropped = [f"{rule} {count}" for rule, count in entry["dropped"].items()]
    mended = [f"{entry[_MENDED]} with Chinese punctuation mended"] if entry[_MENDED] else []
    parts = [f"{entry['read']} pairs read", f"{entry['kept']} kept", *mended, *drawn]
    varied = "".join(f", {kind} {count}" for kind, count in entry["variants"].items())
    return f"{', '.join(parts)}; dropped: {', '.join(dropped) or 'none'}" + varied.replace(
        ",", "; added:", 1
    )


def _files(config: Config, run: RunDir, split: Split) -> tuple[Path, Path]:
    return run.text(split, config.src.language), run.text(split, config.tgt.language)


def _read(
    sources: tuple[Source, ...], cleaner: Cleaner, ledger: Ledger, workers: int
) -> Iterator[Clean]:
    read = (
        (number, source.weight, *pair)
        for number, source in enumerate(sources)
        for pair in source.pairs()
    )
    for outcomes, kept in map_chunks(
        cleaner, read, workers, size=lambda item: len(item[2]) + len(item[3])
    ):
        for (number, outcome), count in outcomes.items():
            ledger[number][outcome] += count
        yield from kept


def _copy(pairs: Pairs, write: Write) -> set[int]:
    """Write a split that was given, and collect its sentences' keys."""
    keys: set[int] = set()
    for _, _, src_key, tgt_key, columns in pairs:
        write(*columns.split("\t")[:2])
        keys |= {src_key, tgt_key}
    return keys


def _select(
    pairs: Pairs, held_out: set[int], draw: Draw, deduplicate: bool, ledger: Ledger
) -> Iterator[Clean]:
    """Drop what stands in a split that was given, and duplicates; enter the rest in the draw."""
    seen: set[int] = set()
    for pair in pairs:
        corpus, key, src_key, tgt_key, _ = pair
        if src_key in held_out or tgt_key in held_out:
            ledger[corpus][_OVERLAP] += 1
        elif key not in seen:
            seen.add(key)
            draw.enter(key, src_key, tgt_key)
            yield pair
        elif deduplicate:
            ledger[corpus]["duplicate"] += 1
        else:
            yield pair


def _deal(
    staged: Path,
    draw: Draw,
    held_out: set[int],
    weights: list[int],
    join: Joiner,
    write: Writes,
    ledger: Ledger,
) -> None:
    """Write each pair to the split that it won, or else to train, with its variants, unless it is held out."""
    winners = draw.winners()
    held_out = held_out.union(*(winner[1:] for winner in winners.values()))
    for line in read_lines(staged):
        columns = line.split("\t")
        corpus, key, src_key, tgt_key = map(int, columns[:4])
        src, tgt, given, *varied = columns[4:]
        if won := winners.pop(key, None):
            ledger[corpus][won[0]] += 1
            write[won[0]](src, given)
        elif src_key in held_out or tgt_key in held_out:
            ledger[corpus][_OVERLAP] += 1
        else:
            ledger[corpus]["kept"] += 1
            ledger[corpus][_MENDED] += tgt != given
            for _ in range(weights[corpus]):
                write["train"](src, tgt)
            varied += join(src, tgt, key, weights[corpus])
            for kind, *pair in zip(*[iter(varied)] * 3, strict=True):
                ledger[corpus][_VARIED + kind] += 1
                write["train"](*pair)


def _report(sources: Sources, ledgers: dict[Split, Ledger], draw: Draw) -> dict[str, Any]:
    named = list(zip(sources["train"], map(_entry, ledgers["train"]), strict=True))
    totals = _entry(sum(ledgers["train"], Counter()))
    written = sum(
        source.weight * entry["kept"] + sum(entry["variants"].values()) for source, entry in named
    )
    report: dict[str, Any] = {"train": {"pairs": written}}
    for split in _HELD_OUT:
        if split in draw.asked:
            report[split] = {"given": False, "asked": draw.asked[split], "pairs": totals[split]}
        else:
            report[split] = {
                "given": True,
                "pairs": sum(counts["read"] for counts in ledgers[split]),
            }
    corpora = [{"name": source.name, "weight": source.weight} | entry for source, entry in named]
    return report | {"totals": totals, "corpora": corpora}


def _entry(counts: Counter[str]) -> dict[str, Any]:
    known = ("read", "kept", *_HELD_OUT, _MENDED)
    others = {name: count for name, count in counts.most_common() if name not in known}
    varied = {name[1:]: others.pop(name) for name in list(others) if name.startswith(_VARIED)}
    return {name: counts[name] for name in known} | {"variants": varied, "dropped": others}


def _refuse_empty(sources: Sources, ledgers: dict[Split, Ledger]) -> None:
    for split in SPLITS:
        for source, counts in zip(sources[split], ledgers[split], strict=True):
            if not counts["read"]:
                raise DataError(f"{source}: no pairs in it; fill it or leave it out")
    total = sum(ledgers["train"], Counter())
    if not total["kept"]:
        mend = (
            "check the corpora's languages and encoding, or relax the rule in the prepare section"
        )
        raise DataError(f"no pair is left to train on: {ledger_line(_entry(total))}; {mend}")

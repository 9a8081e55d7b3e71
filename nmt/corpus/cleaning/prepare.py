"""The prepare stage: read, normalise, filter, deduplicate, split, report.

Two passes, both streaming: the first cleans every pair and stages it in a temporary file, the second deals the
staged pairs out to train, dev and test. Only a key of each pair is remembered, and on disk; with `augment.switched` or
`augment.enclosed` the pairs of one word each too.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nmt.config.schema import Config, PrepareConfig
from nmt.corpus.cleaning.augment import NEW_SENTENCES, Joiner, Variant, copies
from nmt.corpus.cleaning.clean import Cleaner, Outcomes, RawPair
from nmt.corpus.cleaning.clean_pair import CleanPair, Head, from_line, head_of, sides_of
from nmt.corpus.cleaning.held_out import HeldOut, HeldOutDraw
from nmt.corpus.cleaning.ledger import (
    COPIES,
    DUPLICATE,
    KEPT,
    NOT_DRAWN,
    OVERLAP,
    PUBLIC_TEST,
    READ,
    REPAIRED,
    Ledger,
    ledger_line,
)
from nmt.corpus.cleaning.word_variants import WordVariants
from nmt.corpus.identity.contamination import Contamination, public_tests
from nmt.corpus.identity.dedupe import side_key
from nmt.corpus.identity.repeats import Repeats
from nmt.corpus.identity.train_keys import writing_keys
from nmt.corpus.reading.lines import open_text, own_lines
from nmt.corpus.reading.pairs import SentencePair, writing_pairs
from nmt.corpus.reading.sources import Source, Sources, changed, find_sources, fingerprint, stamps
from nmt.errors import DataError, UserError
from nmt.files import PART, read_json, write_json
from nmt.machine.workers import MapChunks, map_chunks
from nmt.run.folder import SPLITS, RunDir, Split
from nmt.spans.masking import without_placeholders

Write = Callable[[str, str], None]  # appends a source and a target to a split
WriteKeys = Callable[[int, int], None]  # appends the keys of a pair of train
Writes = dict[Split, Write]
Ledgers = list[Ledger]  # one for each corpus of a split
Cleaned = tuple[Outcomes, list[str]]  # what Cleaner makes of a chunk

_HELD_OUT: tuple[Split, Split] = ("test", "dev")
_RULES = 2  # raised when the same corpora and settings give another text


def prepare(config: Config, run: RunDir, in_chunks: MapChunks = map_chunks) -> dict[str, Any]:
    """Write the run's clean text of every split, and a report, which is also given back.

    `in_chunks` cleans the pairs; whoever works on them, what is written is the same.

    Raises DataError for corpora that cannot be used, ConfigError if none is configured or opencc is missing.
    """
    settings = config.prepare
    clean = partial(in_chunks, workers=settings.workers, size=_length)
    sources = find_sources(config)
    cleaner = Cleaner.of(config)
    made_from = {"fingerprint": _fingerprint(config, sources), "files": stamps(sources)}
    ledgers = {split: [Ledger() for _ in sources[split]] for split in SPLITS}
    draw = HeldOutDraw(_sizes_to_draw(config, sources))
    with ExitStack() as stack:
        write: Writes = {}
        for split in SPLITS:
            write[split] = stack.enter_context(writing_pairs(*_files(config, run, split)))
        write_keys = stack.enter_context(writing_keys(run.train_keys))
        folder = TemporaryDirectory(dir=run.path, prefix=".prepare.", suffix=PART)
        staged = Path(stack.enter_context(folder)) / "pairs"
        repeats = stack.enter_context(closing(Repeats(staged.with_name("repeats"))))

        held_out: set[int] = set()  # keys of sentences
        for split in _HELD_OUT:
            lines = _clean(sources[split], cleaner.for_held_out(), clean, ledgers[split])
            held_out |= _copy(lines, write[split])
        tests = _Tests(held_out, Contamination(settings.allowed_tests), settings, sources["train"])
        of_words = WordVariants(settings.augment)
        lines = _clean(sources["train"], cleaner, clean, ledgers["train"])
        _stage(lines, staged, tests, draw, repeats, of_words, ledgers["train"])
        drawn = draw.drawn(repeats.decide())
        lines = own_lines(staged)
        if settings.deduplicate:
            lines = _without_repeats(lines, repeats, ledgers["train"])
        for held in drawn.values():
            held_out.update((held.src_key, held.tgt_key))
        dealt = _deal(lines, drawn, tests, ledgers["train"])
        vary = partial(_variants, Joiner(settings.augment.joined), of_words)
        _write_splits(dealt, tests, vary, write, write_keys, ledgers["train"])
        _refuse_empty(sources, ledgers)
        run.prepare_report.unlink(missing_ok=True)  # it speaks of the files that are now replaced
    found = {"public_tests": tests.public.entry()}
    report = {**_report(sources, ledgers, draw), **found, **made_from}
    write_json(run.prepare_report, report)
    return report


def is_current(config: Config, run: RunDir) -> bool:
    """Whether the run's prepared text was made with this configuration from the corpora as they are now."""
    return why_stale(config, run) is None


def why_stale(config: Config, run: RunDir) -> str | None:
    """What has changed since the run's text was prepared; None if nothing has."""
    for split in SPLITS:
        for file in _files(config, run, split):
            if not file.is_file():
                return f"{file} is missing"
    try:
        sources = find_sources(config)
        report = read_json(run.prepare_report)
        if report["fingerprint"] != _fingerprint(config, sources):
            return "it was prepared with other settings, rules or test sets, or from other files"
        path = changed(sources, report["files"])
    except (OSError, KeyError, TypeError, ValueError):
        return f"{run.prepare_report} is missing or damaged"
    except UserError as error:
        return str(error)
    return None if path is None else f"{path} has changed"


def _fingerprint(config: Config, sources: Sources) -> str:
    """Of what the prepared text depends on: also the rules by which it is cleaned, and the public test sets."""
    rules = [_RULES, public_tests(), fingerprint(config, sources)]
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()


def _files(config: Config, run: RunDir, split: Split) -> tuple[Path, Path]:
    return run.text(split, config.src.language), run.text(split, config.tgt.language)


def _sizes_to_draw(config: Config, sources: Sources) -> dict[Split, int]:
    """How many pairs of train each split gets that is not given."""
    sizes: dict[Split, int] = {}
    if not sources["test"]:
        sizes["test"] = config.prepare.test_size
    if not sources["dev"]:
        sizes["dev"] = config.prepare.dev_size
    return sizes


def _clean(
    sources: tuple[Source, ...],
    cleaner: Cleaner,
    in_chunks: Callable[..., Iterator[Cleaned]],
    ledgers: Ledgers,
) -> Iterator[str]:
    """Read and clean the pairs of all corpora; gives lines of CleanPair."""
    for outcomes, lines in in_chunks(cleaner, _raw_pairs(sources)):
        for (corpus, outcome), count in outcomes.items():
            ledgers[corpus].outcomes[outcome] += count
        yield from lines


def _raw_pairs(sources: tuple[Source, ...]) -> Iterator[RawPair]:
    for number, source in enumerate(sources):
        for src, tgt in source.pairs():
            yield number, source.weight, src, tgt


def _length(raw: RawPair) -> int:
    _, _, src, tgt = raw
    return len(src) + len(tgt)


def _copy(lines: Iterable[str], write: Write) -> set[int]:
    """Write a split that was given; gives the keys of its sentences."""
    keys: set[int] = set()
    for line in lines:
        pair = from_line(line)
        write(pair.src, pair.tgt)
        keys.add(pair.src_key)
        keys.add(pair.tgt_key)
    return keys


@dataclass(frozen=True)
class _Tests:
    """What a model is tested on, and must not learn from: the run's own dev and test, and public test sets."""

    held_out: set[int]  # keys of sentences
    public: Contamination
    settings: PrepareConfig
    corpora: tuple[Source, ...]

    def rule_against(self, pair: Head, line: str) -> str | None:
        """The rule that drops a pair of train, which is the head of this line; None if it may stay."""
        if self.hold_out(pair.src_key, pair.tgt_key):
            return OVERLAP
        if not self.public.may_have(pair.src_key, pair.tgt_key):
            return None
        whole = from_line(line)
        is_public = self.public.has(self.corpora[pair.corpus].name, whole.src, whole.given)
        return PUBLIC_TEST if is_public and self.settings.public_tests == "drop" else None

    def hold_out(self, src_key: int, tgt_key: int) -> bool:
        """Whether a side with one of these keys is in the run's own dev or test."""
        return src_key in self.held_out or tgt_key in self.held_out

    def forbid(self, variant: Variant) -> bool:
        """Whether a variant of a pair that may stay has become a sentence of a test set, but for its placeholders."""
        if variant.kind not in NEW_SENTENCES:
            return False
        src, tgt = without_placeholders(variant.src), without_placeholders(variant.tgt)
        keys = side_key(src), side_key(tgt)
        if self.hold_out(*keys):
            return True
        # Short ones too: a variant is easily spared, but any corpus has short sentences in common with a test set.
        return self.settings.public_tests == "drop" and self.public.may_have(*keys)


def _stage(
    lines: Iterable[str],
    staged: Path,
    tests: _Tests,
    draw: HeldOutDraw,
    repeats: Repeats,
    of_words: WordVariants,
    ledgers: Ledgers,
) -> None:
    """Write the pairs without a sentence of a test set to `staged`, and enter them in the draw; keys in `repeats`."""
    with open_text(staged) as file:
        for line in lines:
            pair = head_of(line)
            rule = tests.rule_against(pair, line)
            if rule is not None:
                ledgers[pair.corpus].outcomes[rule] += 1
                continue
            repeats.add(pair.key)
            draw.enter(pair.key, pair.src_key, pair.tgt_key)
            of_words.learn(sides_of(line))
            file.write(line + "\n")


def _without_repeats(lines: Iterable[str], repeats: Repeats, ledgers: Ledgers) -> Iterator[str]:
    """Drop every pair that an earlier one equals."""
    for line in lines:
        pair = head_of(line)
        if repeats.is_first(pair.key):
            yield line
        else:
            ledgers[pair.corpus].outcomes[DUPLICATE] += 1


def _deal(
    lines: Iterable[str], drawn: dict[int, HeldOut], tests: _Tests, ledgers: Ledgers
) -> Iterator[tuple[Split, CleanPair]]:
    """Give each pair the split that it was drawn for, or train if no sentence of it is held out."""
    not_yet_dealt = dict(drawn)
    for pair in map(from_line, lines):
        outcomes = ledgers[pair.corpus].outcomes
        drawn_pair = not_yet_dealt.pop(pair.key, None)  # once: an equal pair is dropped below
        if drawn_pair is not None:
            outcomes[drawn_pair.split] += 1
            yield drawn_pair.split, pair
        elif tests.hold_out(pair.src_key, pair.tgt_key):
            outcomes[OVERLAP] += 1
        elif copies(pair.key, tests.corpora[pair.corpus].weight) == 0:
            outcomes[NOT_DRAWN] += 1
        else:
            outcomes[KEPT] += 1
            yield "train", pair


def _write_splits(
    dealt: Iterable[tuple[Split, CleanPair]],
    tests: _Tests,
    vary: Callable[[CleanPair, float], list[Variant]],
    write: Writes,
    write_keys: WriteKeys,
    ledgers: Ledgers,
) -> None:
    """Write pairs to their splits: to train as often as their corpus weighs, and followed by their variants.

    A variant that has become a sentence of a test set is left out.
    """
    for split, pair in dealt:
        if split != "train":
            write[split](pair.src, pair.given)
            continue
        ledger = ledgers[pair.corpus]
        weight = tests.corpora[pair.corpus].weight
        ledger.outcomes[REPAIRED] += pair.tgt != pair.given
        write_keys(pair.src_key, pair.tgt_key)
        for _ in range(copies(pair.key, weight)):
            ledger.outcomes[COPIES] += 1
            write["train"](pair.src, pair.tgt)
        for variant in vary(pair, weight):
            if tests.forbid(variant):
                continue
            ledger.variants[variant.kind] += 1
            write["train"](variant.src, variant.tgt)


def _variants(
    join: Joiner, of_words: WordVariants, pair: CleanPair, weight: float
) -> list[Variant]:
    """All variants of a pair: those that were made with it, and those that need other pairs."""
    sides = SentencePair(pair.src, pair.tgt)
    variants = [*pair.variants, *of_words(sides, pair.key, weight)]
    joined = join(sides, pair.key, weight)
    return variants if joined is None else [*variants, joined]


def _refuse_empty(sources: Sources, ledgers: dict[Split, Ledgers]) -> None:
    """Raise DataError for a corpus without pairs, or if none are left for train."""
    for split in SPLITS:
        for source, ledger in zip(sources[split], ledgers[split], strict=True):
            if ledger.outcomes[READ] == 0:
                raise DataError(f"{source}: no pairs in it; fill it or leave it out")
    total = Ledger.total(ledgers["train"])
    if total.outcomes[KEPT] == 0:
        counts = ledger_line(total.entry())
        raise DataError(f"no pair is left to train on: {counts}; {_advice(total)}")


def _advice(total: Ledger) -> str:
    """What to do about the rule that dropped most pairs; in_dev_or_test cannot be relaxed."""
    most_frequent = next(iter(total.entry()["dropped"]), None)
    if most_frequent == OVERLAP:
        return (
            "these sentences are also in dev or test, which a model must not learn from: "
            "train on others, or give no dev and test, so that they are drawn from train"
        )
    if most_frequent == PUBLIC_TEST:
        return "to train on public test sets, name them in prepare.allowed_tests"
    if most_frequent == "wrong_script":
        return "check the languages: are the two columns, or src and tgt, swapped?"
    return "check the corpora's languages and encoding, or relax the rule in the prepare section"


def _report(sources: Sources, ledgers: dict[Split, Ledgers], draw: HeldOutDraw) -> dict[str, Any]:
    written = 0
    corpora: list[dict[str, Any]] = []
    for source, ledger in zip(sources["train"], ledgers["train"], strict=True):
        pairs = ledger.outcomes[COPIES] + ledger.variants.total()
        written += pairs
        told = {"name": source.name, "weight": source.weight, "pairs": pairs}
        corpora.append({**told, **ledger.entry()})
    total = Ledger.total(ledgers["train"])
    report: dict[str, Any] = {"train": {"pairs": written}}
    for split in _HELD_OUT:
        if split in draw.sizes:
            size = draw.sizes[split]
            report[split] = {"given": False, "asked": size, "pairs": total.outcomes[split]}
        else:
            read = Ledger.total(ledgers[split]).outcomes[READ]
            report[split] = {"given": True, "pairs": read}
    report["totals"] = total.entry()
    report["corpora"] = corpora
    return report

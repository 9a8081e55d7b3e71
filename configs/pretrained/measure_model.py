#!/usr/bin/env python3
"""The figures and translations by which docs/lab/models.md judges the model that comes with nmt.

    measure_model.py scores pretrained data/tatoeba/test data/large/dev flores=FLORES.en,FLORES.zh
    measure_model.py spans pretrained data/tatoeba/test
    measure_model.py markup pretrained data/tatoeba/test
    measure_model.py numbers pretrained data/tatoeba/test data/held-out/interface > numbers.tsv
    measure_model.py graded pretrained

A set is `STEM` of `STEM.en` and `STEM.zh`, or of those with `.gz`; or `NAME=SOURCE,REFERENCE`. Beam 5, fp32.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

import typer
from hold_out import text_files

from nmt.checks.faults import ENGLISH_TO_CHINESE, faults
from nmt.corpus.reading.lines import read_lines
from nmt.corpus.reading.pairs import read_pairs
from nmt.errors import UserError
from nmt.evaluation.metrics import new_metric
from nmt.files import write_text
from nmt.spans.masking import find

ROOT = Path(__file__).resolve().parents[2]
SIZE = 200  # sentences of a check
SEARCH = ["search.method=beam", "search.beam_size=5"]
METRICS = ["bleu", "bleu_width", "chrf"]

Model = Annotated[str, typer.Argument(help="A run folder, or pretrained.")]
Sets = Annotated[
    list[str], typer.Argument(metavar="SET...", help="STEM, or NAME=SOURCE,REFERENCE.")
]
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


class Files(NamedTuple):
    """A test set."""

    name: str
    src: Path
    ref: Path


def files_of(asked: str) -> Files:
    """The files of a set as the command line names it."""
    name, equals, paths = asked.partition("=")
    if equals:
        src, comma, ref = paths.partition(",")
        if not comma:
            raise UserError(f"{asked}: no reference; write NAME=SOURCE,REFERENCE")
        return Files(name, Path(src), Path(ref))
    stem = Path(asked)
    return Files(stem.name, *text_files(stem))


def nmt(*arguments: object, stdin: str = "") -> str:
    """What a command of nmt prints."""
    command = [sys.executable, "-m", "nmt", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"measure_model: {done.stderr.strip()}")
    return done.stdout


def translate(model: str, lines: Sequence[str], *options: str) -> list[str]:
    """The translations of some lines, in fp32."""
    text = "".join(f"{line}\n" for line in lines)
    return nmt("translate", *_computing(model), *options, *SEARCH, stdin=text).split("\n")[:-1]


def _computing(model: str) -> list[str]:
    return ["--model", model, "--precision", "fp32", "--engine", "torch"]


def drawn(lines: Sequence[str]) -> list[str]:
    """At most SIZE lines, each once: those whose SHA-256 is smallest."""
    return sorted(set(lines), key=lambda line: sha256(line.encode()).digest())[:SIZE]


# --- scores ---


@app.command()
def scores(model: Model, sets: Sets) -> None:
    """A row of a Markdown table for each set: sentences, BLEU, bleu_width and chrF with their intervals."""
    for files in map(files_of, sets):
        texts = ["--src", files.src, "--ref", files.ref, "--json", "-q"]
        settings = [*SEARCH, f"evaluate.metrics=[{','.join(METRICS)}]"]
        found = json.loads(nmt("evaluate", *texts, *_computing(model), *settings))
        cells = [files.name, f"{found['lines']:,}"]
        cells += [_with_interval(found["scores"][name]) for name in METRICS]
        print("| " + " | ".join(cells) + " |", flush=True)


def _with_interval(score: dict[str, Any]) -> str:
    return f"{score['value']:.2f} [{score['low']:.2f}, {score['high']:.2f}]"


# --- protected spans ---


def _word(chance: Random) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 8)))


KINDS: list[Callable[[Random], str]] = [
    lambda chance: f"https://{_word(chance)}.org/{_word(chance)}?id={chance.randint(1, 999)}",
    lambda chance: f"{_word(chance)}.{_word(chance)}@{_word(chance)}.com",
    lambda chance: f"/{_word(chance)}/{_word(chance)}.{_word(chance)[:3]}",
    lambda chance: f"`{_word(chance)}({_word(chance)})`",
    lambda chance: f"{{{_word(chance)}}}",
    lambda chance: chance.choice(["%s", "%d", "%1$s", "%(name)s"]),
    lambda chance: f"<{_word(chance)}/>",
    lambda chance: f"@{_word(chance)}",
    lambda chance: chance.choice(["😀", "🎉", "👍🏽", "❤️", "🇨🇳"]),
    lambda chance: f"v{chance.randint(1, 20)}.{chance.randint(0, 20)}.{chance.randint(0, 9)}",
    lambda chance: str(chance.randint(10**5, 10**9)),
]


def with_span(line: str, number: int) -> str:
    """A line with a span of its own between two of its words, or at its end."""
    chance = Random(f"{number} {line}")
    words = line.split(" ")
    words.insert(chance.randint(1, len(words)), KINDS[number % len(KINDS)](chance))
    return " ".join(words)


@app.command()
def spans(model: Model, sets: Sets) -> None:
    """How many of 200 lines keep all their spans, of which each got one; those that do not."""
    sources = [line for files in map(files_of, sets) for line in read_lines(files.src)]
    lines = [with_span(line, number) for number, line in enumerate(drawn(sources))]
    intact = 0
    for line, translation in zip(lines, translate(model, lines), strict=True):
        lost = [each for each in find(line) if translation.count(each) != line.count(each)]
        intact += not lost
        if lost:
            print(f"{line}\t{translation}\t{' '.join(lost)}")
    print(f"{intact} of {len(lines)} lines keep all their spans")


# --- markup ---

MARKS = {
    "tags": [("<b>", "</b>"), ('<a href="/a">', "</a>")],
    "emphasis": [("**", "**"), ("*", "*"), ("~~", "~~")],
}


class Marked(NamedTuple):
    """A line in which some words are marked, and the marks."""

    line: str
    opening: str
    closing: str

    def kept_in(self, translation: str) -> bool:
        """Whether a translation has both marks once, with something between them."""
        parts = translation.split(self.opening)
        if self.opening != self.closing:
            parts = [*parts[:1], *self.opening.join(parts[1:]).split(self.closing)]
        return len(parts) == 3 and parts[1].strip() != ""

    def words_of(self, translation: str) -> str:
        """A translation without the marks."""
        return translation.replace(self.opening, "").replace(self.closing, "")


def with_marks(line: str, number: int, marks: Sequence[tuple[str, str]]) -> Marked:
    """A line with marks around some of its words, which do not end in punctuation."""
    chance = Random(f"{number} {line}")
    words = line.split(" ")
    start = chance.randrange(len(words))
    end = chance.randint(start + 1, len(words))
    opening, closing = marks[number % len(marks)]
    inside = " ".join(words[start:end])
    bare = inside.rstrip(".,;:!?'\"") or inside
    marked = f"{opening}{bare}{closing}{inside[len(bare) :]}"
    return Marked(" ".join([*words[:start], marked, *words[end:]]), opening, closing)


@app.command()
def markup(model: Model, sets: Sets) -> None:
    """BLEU of the words as they are, and with some of them in tags or emphasised; how often these marks are kept."""
    pairs = [pair for files in map(files_of, sets) for pair in read_pairs(files.src, files.ref)]
    references = [[pair.tgt for pair in pairs]]
    bleu = new_metric("bleu")
    plain = translate(model, [pair.src for pair in pairs])
    print(f"{len(pairs)} lines as they are: BLEU {bleu.corpus_score(plain, references).score:.2f}")
    for name, marks in MARKS.items():
        marked = [with_marks(pair.src, i, marks) for i, pair in enumerate(pairs)]
        translations = translate(model, [each.line for each in marked])
        both = list(zip(marked, translations, strict=True))
        words = [each.words_of(translation) for each, translation in both]
        kept = sum(each.kept_in(translation) for each, translation in both)
        print(f"in {name}: BLEU {bleu.corpus_score(words, references).score:.2f}, {kept} kept")
    print(bleu.get_signature())


# --- numbers ---


class Tally(NamedTuple):
    """How many lines there are, and how many are right by the checker."""

    lines: int = 0
    without: int = 0
    with_retry: int = 0

    def after(self, wrong: Sequence[str]) -> "Tally":
        """With one more line; `wrong` has what the checker says without and with retry."""
        without, with_retry = wrong
        return Tally(
            self.lines + 1, self.without + (not without), self.with_retry + (not with_retry)
        )

    def __str__(self) -> str:
        right = f"{self.without} without, {self.with_retry} with retry"
        return f"{self.lines} lines; right by the checker: {right}"


def wrong_numbers(source: str, translation: str) -> str:
    """What the checker says of the numbers of a translation; nothing if they are right."""
    kinds = ("number missing", "number invented")
    found = faults(source, translation, ENGLISH_TO_CHINESE)
    return "; ".join(str(fault) for fault in found if fault.kind in kinds)


@app.command()
def numbers(model: Model, sets: Sets) -> None:
    """200 lines with figures as a table, to be read: set, source, translation without and with `--verify retry`."""
    set_of = _lines_with_figures(list(map(files_of, sets)))
    lines = drawn(list(set_of))
    ways = [translate(model, lines), translate(model, lines, "--verify", "retry")]
    tallies = {name: Tally() for name in [*dict.fromkeys(set_of.values()), "all"]}
    print("set\tsource\twithout\tchecker\twith retry\tchecker")
    for source, *translations in zip(lines, *ways, strict=True):
        wrong = [wrong_numbers(source, translation) for translation in translations]
        for name in (set_of[source], "all"):
            tallies[name] = tallies[name].after(wrong)
        cells = chain.from_iterable(zip(translations, wrong, strict=True))
        print("\t".join([set_of[source], source, *cells]))
    for name, tally in tallies.items():
        print(f"{name}: {tally}", file=sys.stderr)


def _lines_with_figures(sets: Sequence[Files]) -> dict[str, str]:
    """The lines that have a digit, and the name of the first set that has them."""
    set_of: dict[str, str] = {}
    for files in sets:
        for line in read_lines(files.src):
            if any(map(str.isdigit, line)):
                set_of.setdefault(line, files.name)
    return set_of


# --- translations that people graded ---

COLUMNS = ["source", "translation", "grade"]
UNGRADED = "?"


def read_graded(path: Path) -> list[list[str]]:
    """The rows of a file of graded translations: source, translation, grade."""
    head, *rows = [line.split("\t") for line in read_lines(path)]
    if any(len(row) != len(COLUMNS) for row in rows) or head != COLUMNS:
        raise UserError(f"{path}: not a table of {', '.join(COLUMNS)}")
    return rows


def regraded(rows: list[list[str]], translations: dict[str, str]) -> Iterator[list[str]]:
    """The rows with new translations; a grade stays only where its translation stays."""
    for source, translation, grade in rows:
        new = translations[source]
        yield [source, new, grade if new == translation else UNGRADED]


@app.command()
def graded(model: Model, folder: Path = ROOT / "docs/lab/graded") -> None:
    """Translate the sentences of docs/lab/graded anew; where a translation has changed, its grade becomes "?"."""
    old = {path: read_graded(path) for path in sorted(folder.glob("*.tsv"))}
    if not old:
        raise UserError(f"{folder}: no .tsv files; name the folder of the graded translations")
    sources = list(dict.fromkeys(row[0] for rows in old.values() for row in rows))
    translations = dict(zip(sources, translate(model, sources), strict=True))
    new = {path: list(regraded(rows, translations)) for path, rows in old.items()}
    for path, rows in new.items():
        write_text(path, "".join("\t".join(row) + "\n" for row in [COLUMNS, *rows]))
    grades = [row[2] for rows in new.values() for row in rows]
    print(f"{grades.count(UNGRADED)} of {len(grades)} to be graded")


if __name__ == "__main__":
    try:
        app()
    except (OSError, UserError) as error:
        sys.exit(f"measure_model: {error}")

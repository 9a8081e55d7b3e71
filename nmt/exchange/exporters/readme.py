"""What every exported folder says about itself in README.md."""

import re
from collections.abc import Iterator
from typing import Any

from nmt import __version__
from nmt.exchange.exporters.markdown import escaped
from nmt.exchange.exporters.trained import Trained
from nmt.run.provenance import Corpus

# A checksum or a commit: of use to machines, which find it in export.json.
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

# Lines of Python that load both sides of a run, for models whose tokens only nmt can make.
LINES_OF_SIDES = (
    'run = RunDir(Path("RUN"))  # instead of RUN, the folder of the run that was exported',
    "config = load_config(run.config)",
    'source = load_side(config, run, "src")',
    'target = load_side(config, run, "tgt")',
)


def page(title: str, *sections: str) -> str:
    """A page of a title and sections, each a heading and text, or text alone."""
    return "\n\n".join([f"# {title}", *(section.strip("\n") for section in sections)]) + "\n"


def code(*lines: str) -> str:
    """Lines of Python as Markdown shows them."""
    return "\n".join(["```python", *lines, "```"])


def text_notes(trained: Trained) -> list[str]:
    """What is done to text outside the model, a sentence each."""
    language = trained.src.language
    notes = [
        "nmt cleans the text first: Unicode NFC, no invisible characters, straight quotes, single spaces.",
        "A line longer than the model's positions has to be split; nmt does that at sentence ends.",
    ]
    if trained.config.src.lowercase:
        notes.append("The source is in lower case.")
    if trained.config.src.recase:
        notes.append(
            "nmt writes the words of the source in a case that its pieces know, HELLO or Tea as Hello or tea "
            "(`src.recase`); other programs do not, and translate such words worse."
        )
    if trained.config.src.detach:
        notes.append(
            "nmt puts a space behind quotation marks and brackets that open at a word of the source (`src.detach`); "
            "other programs do not, and translate such words worse."
        )
    if trained.config.src.prefix:
        prefix = " ".join(trained.config.src.prefix)
        notes.append(f"Each source begins with the prefix `{prefix}` (`src.prefix`).")
    if trained.src.vocab.placeholders:
        notes.append(
            "nmt hides URLs, code and the like from the model as placeholders; here they are text like any other."
        )
    if trained.tgt.language == "zh":
        notes.append(
            "nmt repairs Chinese punctuation afterwards; `nmt typography` does that alone."
        )
    return [
        f"Its source language is `{language}`, its target language `{trained.tgt.language}`.",
        *notes,
    ]


def bullets(notes: list[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {note}" for note in notes)


def provenance_section(trained: Trained) -> str:
    """Where the model comes from, with the licence if the checkpoint names one, and the corpora that it names."""
    run = trained.run.path.name or str(trained.run.path)
    provenance = trained.provenance.without_folders()
    lines = [
        f"Exported by nmt {__version__} from the run `{run}`, checkpoint `{trained.checkpoint}`."
    ]
    facts = [f"{key}: {value}" for key, value in _facts(provenance.as_json())]
    if facts:
        lines += ["", "What its checkpoint says of its origin:", "", bullets(facts)]
    corpora = list(dict.fromkeys(map(_row, provenance.all_corpora())))
    if corpora:
        lines += ["", "The corpora of its training, as its configuration states them:", ""]
        lines += ["| corpus | licence | source |", "|---|---|---|", *corpora]
    return "## Where it comes from\n\n" + "\n".join(lines)


def _facts(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The facts that people read, one a line, those within others by dotted names."""
    for key, value in values.items():
        if key == "corpora":
            continue
        if isinstance(value, dict):
            yield from _facts(value, f"{before}{key}.")
        elif value is not None and not _DIGEST.fullmatch(str(value)):
            yield f"{before}{key}", " ".join(str(value).split())


def _row(corpus: Corpus) -> str:
    cells = [
        escaped(corpus.name),
        escaped(corpus.licence or "") or "not stated",
        escaped(corpus.source or ""),
    ]
    return f"| {' | '.join(cells)} |"

"""nmt glossary: what is odd in a list of terms, and where translations do without it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt.commands.shell import options
from nmt.commands.shell.streams import flush, printable, put, say
from nmt.errors import ConfigError, counted

if TYPE_CHECKING:
    from nmt.terms.glossary import Glossary

_FOUND_SOMETHING = 4  # exit code

Action = Annotated[
    Literal["check", "apply"],
    options.argument("check|apply", "check: what is odd in it; apply: where translations differ."),
]
Files = Annotated[
    list[Path],
    options.path_argument("FILE...", "Terms: source, tab, target; also .csv, .tbx, .po."),
]
Source = Annotated[Path | None, options.path_option("FILE", "With apply: the sentences.", "--src")]
Target = Annotated[
    Path | None,
    options.path_option("FILE", "With apply: their translations, line by line.", "--tgt"),
]


def glossary(action: Action, files: Files, src: Source = None, tgt: Target = None) -> None:
    """Check a list of terms, or translations against it.

    Prints a line for each thing to look at, and exits with 4 if there is any.
    """
    from nmt.terms.reading import read_glossaries

    if action == "apply" and (src is None or tgt is None):
        raise ConfigError("command line: glossary apply needs --src FILE --tgt FILE")
    if action == "check" and (src is not None or tgt is not None):
        raise ConfigError("command line: --src and --tgt go with glossary apply")
    terms = read_glossaries(files)
    if src is None or tgt is None:
        found = _check(terms)
        flush()
        say(f"nmt: {counted(len(terms.terms), 'term')}, {counted(found, 'remark')}")
    else:
        found = _apply(terms, src, tgt)
        flush()
        say(f"nmt: {counted(found, 'place')} where a translation does not use a term")
    if found:
        raise typer.Exit(_FOUND_SOMETHING)


def _check(terms: "Glossary") -> int:
    from nmt.terms.checking import oddities

    lines = list(oddities(terms))
    for line in lines:
        put(f"{printable(line)}\n")
    return len(lines)


def _apply(terms: "Glossary", src: Path, tgt: Path) -> int:
    """Print each place as LINE: what is wrong, and the translation."""
    from nmt.corpus.reading.pairs import read_pairs
    from nmt.terms.matching import Matcher
    from nmt.terms.success import uses, wrong

    matcher = Matcher(terms)
    found = 0
    for number, pair in enumerate(read_pairs(src, tgt), start=1):
        of_line = uses(pair.src, matcher.find(pair.src), pair.tgt)
        for problem in wrong(of_line, pair.tgt):
            put(f"{number}: {printable(problem)}: {printable(pair.tgt)}\n")
            found += 1
    return found

"""The rows of the table of sentences: HTML, one line a sentence, and what they are sorted and filtered by.

The rows that are in the page as HTML are also there without JavaScript. Where all would make a page too large,
those that differ least travel compressed.
"""

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nmt.checks.faults import KINDS
from nmt.evaluation.fault_rates import PUNCTUATION, TRADITIONAL
from nmt.machine.workers import FREE_MEMORY, map_chunks
from nmt.report.page.html_text import html_of
from nmt.report.page.plots import MARKS
from nmt.report.systems.differences import pieces
from nmt.report.systems.sentences import Output, Sentence

PLAIN_BYTES = 5_000_000
FAULTS = (PUNCTUATION, TRADITIONAL, *KINDS)
_CHUNK = 200


@dataclass(frozen=True)
class Names:
    """How a page names systems and languages."""

    systems: tuple[str, ...]
    src: str
    tgt: str


@dataclass(frozen=True)
class Rows:
    """All rows: `plain` HTML, the others compressed (base64 of zlib), and `keys` as JSON for a script element."""

    plain: list[str]
    packed: str
    count: int
    keys: str


def make_rows(sentences: Sequence[Sentence], names: Names) -> Rows:
    """Rows in the order of the sentences. With many, on all cores."""
    lines: list[str] = []
    for chunk in map_chunks(
        partial(_rows_of, names), sentences, workers=0, chunk=_CHUNK, fix=FREE_MEMORY
    ):
        lines += chunk
    size = 0
    count = 0
    for line in lines:
        size += len(line.encode())
        if size > PLAIN_BYTES:
            break
        count += 1
    rest = "\n".join(lines[count:]).encode()
    packed = base64.b64encode(zlib.compress(rest)).decode() if rest else ""
    return Rows(lines[:count], packed, len(lines), script_json(_keys(sentences)))


def script_json(value: Any) -> str:
    """JSON that may be put into a script element: no character of it can end the element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _keys(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Columns with an entry a row: numbers to sort by, and kinds of faults as bits of a number."""
    faults = [[_bits(output.faults) for output in each.outputs] for each in sentences]
    together = []
    for of_row in faults:
        bits = 0
        for each in of_row:
            bits |= each
        together.append(bits)
    return {
        "number": [each.number for each in sentences],
        "length": [len(each.source or each.references[0]) for each in sentences],
        "chrf": [[round(output.chrf, 1) for output in each.outputs] for each in sentences],
        "faults": faults,
        "any": together,
    }


def fault_bit(kind: str) -> int:
    """The bit that stands for a kind of fault."""
    return 1 << FAULTS.index(kind)


def _bits(kinds: Sequence[str]) -> int:
    return sum(fault_bit(kind) for kind in kinds)


# --- a row ---


def _rows_of(names: Names, sentences: list[Sentence]) -> list[str]:
    return [row_html(names, sentence) for sentence in sentences]


def row_html(names: Names, sentence: Sentence) -> str:
    """A sentence on one line of HTML."""
    parts = [f"<article><h4>line {sentence.number:,} · {sentence.difference:.1f}</h4>"]
    if sentence.source is not None:
        parts.append(f'<p lang="{html_of(names.src)}" dir="auto">{html_of(sentence.source)}</p>')
    references = zip(sentence.references, sentence.reference_faults, strict=True)
    for reference, kinds in references:
        text = f"{html_of(reference)}{_faults(kinds)}"
        parts.append(f'<p class="zh" lang="{html_of(names.tgt)}" dir="auto">{text}</p>')
    best = max(output.chrf for output in sentence.outputs)
    parts.append('<ol class="out">')
    for number, output in enumerate(sentence.outputs):
        is_best = len(sentence.outputs) > 1 and output.chrf == best
        parts.append(_output_html(names, number, output, sentence.references[0], is_best))
    return "".join([*parts, "</ol></article>"])


def _output_html(names: Names, number: int, output: Output, reference: str, is_best: bool) -> str:
    name = f"{MARKS[number % len(MARKS)]} {html_of(names.systems[number])}"
    top = " top" if is_best else ""
    text = f"{marked(output.text, reference)}{_faults(output.faults)}"
    return (
        f'<li><span class="t{number}">{name}</span><span class="v{top}">{output.chrf:.1f}</span>'
        f'<span class="zh" lang="{html_of(names.tgt)}" dir="auto">{text}</span></li>'
    )


def marked(line: str, reference: str) -> str:
    """A line with what is not in the reference marked, and a sign where it lacks something of it."""
    parts = []
    for piece in pieces(line, reference):
        if piece.kind == "same":
            parts.append(html_of(piece.text))
        elif piece.kind == "other":
            parts.append(f'<b class="x">{html_of(piece.text)}</b>')
        else:
            parts.append('<i class="m"></i>')
    return "".join(parts)


def _faults(kinds: Sequence[str]) -> str:
    return "".join(f'<span class="bad">{html_of(kind)}</span>' for kind in kinds)

"""The output formats: what is written for a translated line, with its line ends."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nmt.terms.success import Use
from nmt.translate.translation import Translation

if TYPE_CHECKING:
    from nmt.scoring.alignment import Alignment


def as_text(_number: int, translation: Translation) -> str:
    """The best translation."""
    return translation.text + "\n"


def as_json(number: int, translation: Translation) -> str:
    """Everything, as a line of JSON; `faults` are null where none were looked for, `terms` are those of a glossary."""
    return _line_of(_record(number, translation))


def as_aligned_json(number: int, translation: Translation, alignment: "Alignment | None") -> str:
    """The same, and which words belong together."""
    record = _record(number, translation)
    record["alignment"] = None
    if alignment is not None:
        record["alignment"] = {
            "pairs": alignment.pharaoh,
            "source": alignment.source,
            "translation": alignment.target,
        }
    return _line_of(record)


def _record(number: int, translation: Translation) -> dict[str, Any]:
    was_checked = translation.verified or translation.faults
    record = {
        "line": number,
        "source": translation.source,
        "translation": translation.text,
        "n_best": [vars(candidate) for candidate in translation.candidates],
        "faults": [vars(fault) for fault in translation.faults] if was_checked else None,
    }
    if translation.terms is not None:
        record["terms"] = [_term(use) for use in translation.terms]
    return record


def _term(use: Use) -> dict[str, Any]:
    """A term in the source, from one character to before another, and what the translation has for it, if anything."""
    return {
        "source": use.words,
        "start": use.match.start,
        "end": use.match.end,
        "target": use.found or None,
    }


def _line_of(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def as_scores(number: int, translation: Translation) -> str:
    """`line<TAB>score<TAB>log_prob<TAB>translation`, one for each of the n best."""
    if not translation.candidates:
        return f"{number}\t\t\t\n"
    rows = []
    for candidate in translation.candidates:
        text = candidate.text.replace("\t", " ")  # of a protected span; the table needs its own
        rows.append(f"{number}\t{candidate.score:.4f}\t{candidate.log_prob:.4f}\t{text}\n")
    return "".join(rows)


FORMATS: dict[str, Callable[[int, Translation], str]] = {
    "text": as_text,
    "jsonl": as_json,
    "scores": as_scores,
}


def written(
    form: str,
    translations: Sequence[Translation],
    start: int,
    alignments: "Sequence[Alignment | None] | None" = None,
) -> str:
    """What is written for lines that are numbered from `start` on; JSON has their alignments, if they are given."""
    if alignments is not None:
        numbers = range(start, start + len(translations))
        return "".join(map(as_aligned_json, numbers, translations, alignments))
    write = FORMATS[form]
    return "".join(write(number, each) for number, each in enumerate(translations, start))

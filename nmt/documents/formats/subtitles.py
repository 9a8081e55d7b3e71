"""Subtitles: SubRip (.srt) and WebVTT (.vtt). Cues, times and settings stay; a sentence over several cues is one.

Its Chinese is cut again at clauses, in the proportions of the English cues.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from nmt.documents import placeholders
from nmt.documents.asked import Asked
from nmt.documents.cutting import cut, in_lines
from nmt.documents.document import Document, Edit, Unit, line_end
from nmt.documents.text import Text, has_words
from nmt.errors import DataError

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\r\n]*")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_STYLE = r"\{\\[^{}]{1,99}\}"  # {\an8}, of ASS
_TIMESTAMP = r"<\d[\d:.]{4,14}>"
_TIME_WITHIN = re.compile(_TIMESTAMP)
_CODE = r"<c\.code\b[^<>]*>[^<>]*</c>"
_PATTERN = placeholders.message_pattern(_STYLE, _TIMESTAMP, _CODE, r"&\w{1,8};")
_SPEAKER = r">{1,3}\s*|[A-Z][A-Z\d .'’-]{0,30}:\s+"  # >> BOB:
# What stands before and behind the words of a cue: styles, marks of music and speakers, brackets of sounds, tags.
_BEFORE = re.compile(
    rf"(?:{_STYLE}|[♪♫#*¶]+|[-–—]|{_SPEAKER}|[\[(](?=[^\[\]()]{{0,200}}[\])]\W{{0,9}}$)|\s+)++"
)
_MUSIC = "♪♫#¶"
_ENCLOSED = re.compile(r"<([a-z]+)(?:[.\s][^<>]*)?>((?:(?!</?\1\b)[\s\S])*)</\1>\s*$")
_VOICE = re.compile(r"<v(?:\.[^<>\s]*)?\s[^<>]*>")
_SPEAKS = re.compile(rf"\s*(?:[-–—]\s*\S|{_SPEAKER})")
_ENDS = re.compile(r"[.!?…:。！？][\"'”’)\]]*$")
_NO_TAGS = re.compile(r"<[^<>]*>")
_SOUND = re.compile(r"[\[(][^\[\]()]*[\])]")
_LONGEST_PAUSE = 1.5  # seconds between cues of one sentence
_MOST_CUES = 5


@dataclass
class _Line:
    """Words within a cue, or all lines of it, with what stands around them."""

    start: int
    end: int
    before: str
    words: str
    behind: str


@dataclass
class _Cue:
    """One cue: its times in seconds, and where its text is."""

    begins: float
    ends: float
    start: int
    end: int
    parts: list[_Line] = field(default_factory=list)
    goes_on: bool = False  # its words may be part of a sentence with those of its neighbours


def read(text: str, asked: Asked) -> Document:
    """The sentences of a file of subtitles. Raises DataError if it has no cue."""
    cues = _cues(text)
    if not cues and text.strip():
        raise DataError(
            "line 1: no time of a cue in the file, such as 00:00:01,000 --> 00:00:02,500"
        )
    eol = line_end(text)
    units: list[Unit] = []
    for group in _groups(cues):
        units += _units(group, asked, eol, text)
    return Document(text, units)


def _cues(text: str) -> list[_Cue]:
    places = [match.span(1) for match in _LINE.finditer(text)]
    cues = []
    number = 0
    while number < len(places):
        times = _TIMES.fullmatch(text, *places[number])
        number += 1
        if times is None:
            continue
        first = number
        while number < len(places) and _is_text(text, places, number):
            number += 1
        if number > first:
            begins, ends = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
            cue = _Cue(begins, ends, places[first][0], places[number - 1][1])
            _take_parts(cue, text, places[first:number])
            cues.append(cue)
    return cues


def _is_text(text: str, places: Sequence[tuple[int, int]], number: int) -> bool:
    """Whether a line is of the cue above it: not blank, and not the head of another one without a blank before it."""
    line = text[slice(*places[number])].strip()
    is_number = line.isdecimal() and number + 1 < len(places)
    head = places[number + 1] if is_number else places[number]
    return bool(line) and _TIMES.fullmatch(text, *head) is None


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in parts)
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def _take_parts(cue: _Cue, text: str, places: Sequence[tuple[int, int]]) -> None:
    """Each speaker and each sound is a part of its own."""
    begins = cue.start
    lines = [text[start:end] for start, end in places]
    was_sound = _is_sound(lines[0])
    for (_, before), (start, _), line in zip(places, places[1:], lines[1:], strict=False):
        is_sound = _is_sound(line)
        if is_sound or was_sound or _SPEAKS.match(line):
            cue.parts.append(_part(begins, before, text[begins:before]))
            begins = start
        was_sound = is_sound
    part = _part(begins, cue.end, text[begins : cue.end])
    cue.parts.append(part)
    is_music = any(mark in part.before + part.behind for mark in _MUSIC)
    is_alone = len(cue.parts) == 1 and not _SPEAKS.match(lines[0])
    cue.goes_on = is_alone and not is_music and part.behind[:1] not in ("]", ")")


def _is_sound(line: str) -> bool:
    return _SOUND.fullmatch(line.strip()) is not None


def _part(start: int, end: int, written: str) -> _Line:
    r"""Words without what stands around them: {\an8}, <i>…</i>, ♪, a speaker's dash, brackets."""
    before, behind = "", ""
    words = written
    for _ in range(4):
        ahead = _BEFORE.match(words) or _VOICE.match(words)
        if ahead is not None:
            before, words = before + ahead[0], words[ahead.end() :]
        last = _end_of_words(words, "[" in before or "(" in before)
        words, behind = words[:last], words[last:] + behind
        pair = _ENCLOSED.match(words)
        if pair is None:
            continue
        before += words[: pair.start(2)]
        behind = words[pair.end(2) :] + behind
        words = pair[2]
    return _Line(start, end, before, re.sub(r"\s+", " ", words).strip(), behind)


def _end_of_words(words: str, is_sound: bool) -> int:
    """Where words end before marks of music, blanks, the end of a voice, and the bracket of a sound."""
    end = len(words.rstrip(f" \t\r\n{_MUSIC}").removesuffix("</v>"))
    return end - 1 if is_sound and words[end - 1 : end] in ("]", ")") else end


# --- sentences ---


def _groups(cues: Sequence[_Cue]) -> list[list[_Cue]]:
    """Cues whose words are one sentence."""
    groups: list[list[_Cue]] = []
    for cue in cues:
        before = groups[-1] if groups else []
        if before and len(before) < _MOST_CUES and _goes_on(before[-1], cue):
            before.append(cue)
        else:
            groups.append([cue])
    return groups


def _goes_on(cue: _Cue, following: _Cue) -> bool:
    if not (cue.goes_on and following.goes_on):
        return False
    words, next_words = (_NO_TAGS.sub("", each.parts[0].words) for each in (cue, following))
    is_sign = words.isupper() != next_words.isupper()  # TEN YEARS LATER
    is_near = following.begins - cue.ends <= _LONGEST_PAUSE
    begins_anew = next_words[:1].isupper() and words.endswith(("-", "--"))
    have_words = any(map(str.isalpha, words)) and any(map(str.isalpha, next_words))
    return is_near and have_words and not _ENDS.search(words) and not (begins_anew or is_sign)


def _units(group: Sequence[_Cue], asked: Asked, eol: str, text: str) -> list[Unit]:
    if len(group) > 1:
        parts = [cue.parts[0] for cue in group]
        _enclose(parts)
        whole = _text(" ".join(part.words for part in parts))
        if not whole.singles:
            return [_sentence(group, parts, whole, asked, eol, text)]
    units = []
    for cue in group:
        for part in cue.parts:
            found = _text(part.words)
            if has_words(found.words):
                units.append(_sentence([cue], [part], found, asked, eol, text))
    return units


def _enclose(parts: Sequence[_Line]) -> None:
    """Leave tags that enclose a sentence over several cues to the first and the last of them."""
    pair = _ENCLOSED.match(" ".join(part.words for part in parts))
    if pair is None:
        return
    first, last = parts[0], parts[-1]
    opening = first.words[: pair.start(2)]
    closing = f"</{pair[1]}>"
    if last.words.endswith(closing):
        first.before, first.words = first.before + opening, first.words[len(opening) :]
        last.behind, last.words = closing + last.behind, last.words.removesuffix(closing)


def _text(words: str) -> Text:
    return placeholders.message(words.replace("&nbsp;", " ").replace("&quot;", '"'), _PATTERN)


def _sentence(
    group: Sequence[_Cue],
    parts: Sequence[_Line],
    whole: Text,
    asked: Asked,
    eol: str,
    text: str,
) -> Unit:
    sizes = [float(len(part.words)) for part in parts]

    def write(texts: Sequence[str]) -> list[Edit]:
        pieces = cut(texts[0], sizes) or [texts[0], *["……"] * (len(parts) - 1)]
        return [
            _edit(part, piece, asked, eol, text) for part, piece in zip(parts, pieces, strict=True)
        ]

    has_times = any(_TIME_WITHIN.search(part.words) for part in parts)
    problem = "it has times within" if has_times else ""
    return Unit(f"{group[0].begins:.3f}", parts[0].start, (whole,), write, problem=problem)


def _edit(part: _Line, piece: str, asked: Asked, eol: str, text: str) -> Edit:
    lines = eol.join(in_lines(piece, asked.width))
    written = part.before + lines + part.behind
    if asked.bilingual:
        written += eol + text[part.start : part.end]
    return Edit(part.start, part.end, written)

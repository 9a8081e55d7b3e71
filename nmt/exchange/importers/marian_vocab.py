"""Marian's vocabularies: `vocab.yml` beside sentencepiece models, or sentencepiece alone."""

import re
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

from nmt.archives import read_unpacked
from nmt.errors import ModelError
from nmt.exchange.importers.fields import brief, yaml_fields
from nmt.exchange.importers.marian import tokens_by_row
from nmt.files import read_bytes, unreadable
from nmt.text.pieces import SentencePiece

_SOURCE = re.compile(r"(?:^|[._-])(?:src|source|en|eng)(?:[._-]|vocab|$)")
_TARGET = re.compile(r"(?:^|[._-])(?:trg|tgt|target|zh\w*|zho\w*|cmn\w*)(?:[._-]|vocab|$)")
# In double quotes: \x85, \u2028, \U0001f600, or a character that stands for itself.
_ESCAPED = re.compile(
    r"\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U(000[\da-fA-F]{5}|0010[\da-fA-F]{4})|(.))"
)


@dataclass(frozen=True)
class _Side:
    """The tokens of one side by row, and the sentencepiece model that makes them."""

    listed: list[str]
    pieces: bytes
    place: str  # the file of the tokens


@dataclass(frozen=True)
class Sides:
    """Both sides, and the files that they were read from."""

    src: _Side
    tgt: _Side
    read: tuple[Path, ...]


def find_sides(folder: Path) -> Sides:
    """The vocabularies in a folder. Raises ModelError if they are missing, damaged, or not to be told apart."""
    lists = [path for path in sorted(folder.glob("*.yml")) if "vocab" in path.name]
    if lists:
        src, tgt = _named_by_decoder(folder, lists) or _told_apart(folder, lists)
        pieces = (folder / "source.spm", folder / "target.spm")
        return Sides(
            src=_Side(_listed(src), read_pieces(pieces[0]), str(src)),
            tgt=_Side(_listed(tgt), read_pieces(pieces[1]), str(tgt)),
            read=tuple(dict.fromkeys([src, tgt, *pieces])),
        )
    spm = sorted([*folder.glob("*.spm"), *folder.glob("*.spm.gz")])
    models = [path for path in spm if "vocab" in path.name] or spm
    if not models:
        fix = "fetch vocab.yml with source.spm and target.spm, or vocab.spm"
        raise ModelError(f"{folder}: no vocabulary; {fix}")
    src, tgt = _told_apart(folder, models)
    return Sides(_from_pieces(src), _from_pieces(tgt), read=tuple(dict.fromkeys([src, tgt])))


def _named_by_decoder(folder: Path, lists: list[Path]) -> tuple[Path, Path] | None:
    """The two that `decoder.yml` names, if it is there and they are."""
    path = folder / "decoder.yml"
    if not path.is_file():
        return None
    named = yaml_fields(read_bytes(path), str(path)).values.get("vocabs")
    if not isinstance(named, list) or len(named) != 2:
        return None
    present = {path.name: path for path in lists}
    found = [present.get(Path(str(name)[:300]).name) for name in named]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]


def _told_apart(folder: Path, paths: list[Path]) -> tuple[Path, Path]:
    """The source's and the target's: one file is both."""
    if len(paths) == 1:
        return paths[0], paths[0]
    sources = [path for path in paths if _SOURCE.search(path.name)]
    targets = [path for path in paths if _TARGET.search(path.name)]
    if len(paths) == 2 and len(sources) == len(targets) == 1 and sources != targets:
        return sources[0], targets[0]
    names = ", ".join(path.name for path in paths)
    fix = "leave one for both sides, or two named vocab.src… and vocab.tgt…"
    raise ModelError(f"{folder}: which vocabulary is whose ({names})? {fix}")


def _from_pieces(path: Path) -> _Side:
    """Marian takes the numbers of sentencepiece itself as rows."""
    content = read_pieces(path)
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(content)
        listed = [processor.id_to_piece(row) for row in range(processor.get_piece_size())]
    except (RuntimeError, OSError, ValueError) as error:
        raise ModelError(f"{path}: a damaged list of pieces ({error}); fetch it again") from None
    if len(set(listed)) != len(listed):
        raise ModelError(f"{path}: lists a piece twice; fetch it again")
    rows: dict[str, int] = {token: row for row, token in enumerate(listed)}
    return _Side(tokens_by_row(rows, str(path)), content, str(path))


def _listed(path: Path) -> list[str]:
    """The tokens of a `vocab.yml` by row.

    It is read line by line, since Marian's YAML is not quite what PyYAML reads (CTranslate2, `load_vocab`).
    """
    try:
        lines = read_bytes(path).decode().split("\n")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: byte {error.start} is not UTF-8; fetch it again") from None
    rows: dict[str, int] = {}
    key = None  # of an entry in two lines: `? key` and `: row`
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r")
        if not line:
            continue
        if line.startswith("? "):
            key = line[2:]
            continue
        written, _, row = line.rpartition(":")
        token = _unquoted(written if key is None else key)
        key = None
        if re.fullmatch(r" ?[0-9]{1,9}", row) is None:
            raise ModelError(f"{path}:{number}: not of the form TOKEN: ROW; fetch it again")
        if token in rows:
            raise ModelError(f"{path}:{number}: {brief(token)} is listed above already")
        rows[token] = int(row)
    return tokens_by_row(rows, str(path))


def _unquoted(token: str) -> str:
    """A key as YAML writes it: plain, in single or in double quotes."""
    if len(token) > 1 and token[0] == token[-1] == '"':
        return _ESCAPED.sub(_unescaped, token[1:-1])
    if len(token) > 1 and token[0] == token[-1] == "'":
        return token[1:-1].replace("''", "'")
    return token


def _unescaped(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    return chr(int(number, 16)) if number else match[4]


def read_pieces(path: Path) -> bytes:
    """The content of a file. Raises ModelError if it is missing or no sentencepiece model."""
    try:
        content = read_unpacked(path)
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; fetch it as well") from None
    except OSError as error:
        raise ModelError(unreadable(path, error)) from None
    try:
        SentencePiece(content).encode("a")
    except Exception:  # of a damaged table, sentencepiece raises several kinds of errors
        raise ModelError(f"{path}: not a sentencepiece model; fetch it again") from None
    return content

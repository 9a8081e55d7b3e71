"""Sentencepiece models as Marian reads them: a piece's number is its row, </s> has 0 and <unk> 1.

A model file is a protobuf (sentencepiece_model.proto): each field begins with a key, number · 8 + kind. Field 1,
repeated, is a piece (1: text, 2: score, 3: type), field 2 the settings of its training, which name the special pieces.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nmt.text.pieces import varint
from nmt.text.vocab import PLACEHOLDERS, UNK, Vocab

_PIECE, _TRAINER = 1, 2  # fields of the model
_TEXT, _TYPE = 1, 3  # fields of a piece
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # kinds of fields
_UNKNOWN, _CONTROL, _UNUSED = 2, 3, 5  # types of pieces
_ABSENT = 2**64 - 1  # −1
_SPECIAL_ROWS = {
    "unk_id": (40, 1),
    "bos_id": (41, _ABSENT),
    "eos_id": (42, 0),
    "pad_id": (43, _ABSENT),
}
_MULTIPLE = 8  # of rows: the engines' products take as many at a time


class MarianPieces(NamedTuple):
    """A model file, and what its rows are."""

    content: bytes
    rows: list[str]

    def ids(self, vocab: Vocab, eos: int) -> list[int]:
        """Our id for each row; of a piece that the vocabulary does not list, that of UNK."""
        return [eos, *(vocab.ids.get(piece, UNK) for piece in self.rows[1:])]


class _Field(NamedTuple):
    number: int
    kind: int
    value: int | bytes


def marian_pieces(model: bytes) -> MarianPieces:
    """The model with Marian's special pieces, and without placeholders."""
    fields = list(_fields(model))
    kept = []
    for field in fields:
        if field.number == _PIECE:
            piece = {part.number: part.value for part in _fields(bytes(field.value))}
            text = bytes(piece[_TEXT]).decode()
            is_special = piece.get(_TYPE) in (_UNKNOWN, _CONTROL) or text in PLACEHOLDERS
            if not is_special and text not in ("</s>", "<unk>"):
                kept.append((text, field.value))
    specials = [("</s>", _piece("</s>", _CONTROL)), ("<unk>", _piece("<unk>", _UNKNOWN))]
    missing = -(len(specials) + len(kept)) % _MULTIPLE
    unused = [f"<unused{number}>" for number in range(missing)]
    pieces = [*specials, *kept, *((text, _piece(text, _UNUSED)) for text in unused)]
    content = b"".join(_written(_Field(_PIECE, _BYTES, value)) for _, value in pieces)
    trainer = b"".join(bytes(field.value) for field in fields if field.number == _TRAINER)
    trainer += b"".join(
        _written(_Field(number, _VARINT, row)) for number, row in _SPECIAL_ROWS.values()
    )
    content += _written(_Field(_TRAINER, _BYTES, trainer))
    others = [field for field in fields if field.number not in (_PIECE, _TRAINER)]
    return MarianPieces(content + b"".join(map(_written, others)), [text for text, _ in pieces])


def _piece(text: str, kind: int) -> bytes:
    return _written(_Field(_TEXT, _BYTES, text.encode())) + _written(_Field(_TYPE, _VARINT, kind))


def _fields(content: bytes) -> Iterator[_Field]:
    """The fields of a message that sentencepiece has read before, so that it is whole."""
    place = 0
    while place < len(content):
        key, place = _number(content, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _number(content, place)
            yield _Field(key >> 3, kind, value)
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
        if size is None:
            size, place = _number(content, place)
        yield _Field(key >> 3, kind, content[place : place + size])
        place += size


def _number(content: bytes, place: int) -> tuple[int, int]:
    """A varint, and the place behind it."""
    number = shift = 0
    while True:
        byte = content[place]
        number |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return number, place


def _written(field: _Field) -> bytes:
    key = varint(field.number << 3 | field.kind)
    if isinstance(field.value, int):
        return key + varint(field.value)
    length = varint(len(field.value)) if field.kind == _BYTES else b""
    return key + length + field.value

"""sentencepiece models of strangers."""

from pathlib import Path

from nmt.errors import ModelError
from nmt.files import read_bytes, unreadable
from nmt.text.pieces import SentencePiece


def read_pieces(path: Path) -> bytes:
    """The content of a file. Raises ModelError if it is missing or no sentencepiece model."""
    try:
        content = read_bytes(path)
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; fetch it as well") from None
    except OSError as error:
        raise ModelError(unreadable(path, error)) from None
    try:
        SentencePiece(content).encode("a")
    except Exception:  # of a damaged table, sentencepiece raises several kinds of errors
        raise ModelError(f"{path}: not a sentencepiece model; fetch it again") from None
    return content

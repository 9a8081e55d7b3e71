"""The names of ids in an exported vocabulary: each once, so that a name is an id.

Nothing here imports torch: what reads an export needs none.
"""

from pathlib import Path
from typing import Any

from nmt.errors import ModelError
from nmt.files import read_json
from nmt.text.vocab import SPECIALS, Vocab

SHARED = "shared_vocabulary.json"
SOURCE = "source_vocabulary.json"
TARGET = "target_vocabulary.json"


def unique_tokens(src: Vocab, tgt: Vocab) -> tuple[list[str], list[str]]:
    """The tokens of both sides by id, none twice in a side.

    A text may hold the word `<pad>`, which is then a token beside the special of that name. The word keeps its name,
    because a tokenizer writes it; the special gets one with a space, which no token has: `<pad special>`. It has the
    same name on both sides.
    """
    specials = []
    for special in SPECIALS:
        is_taken = special in src.ids or special in tgt.ids
        specials.append(f"{special[:-1]} special>" if is_taken else special)
    src_tokens = [*specials, *src.tokens[len(SPECIALS) :]]
    tgt_tokens = [*specials, *tgt.tokens[len(SPECIALS) :]]
    return src_tokens, tgt_tokens


def read_tokens(folder: Path) -> tuple[list[str], list[str]]:
    """The tokens of both sides by id, as CTranslate2 names them in a folder that `convert` wrote.

    Raises ModelError if a file is missing or damaged.
    """
    if (folder / SHARED).exists():
        tokens = _read_list(folder / SHARED)
        return tokens, tokens
    return _read_list(folder / SOURCE), _read_list(folder / TARGET)


def _read_list(path: Path) -> list[str]:
    try:
        tokens: Any = read_json(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); export again") from None
    is_list = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
    if not is_list or len(set(tokens)) < len(tokens):
        raise ModelError(f"{path}: not a list of tokens, each once; export again")
    return list(tokens)


def ids_from(first: int, tokens: list[str]) -> dict[str, int]:
    """The id of each token, counted from `first`: a vocabulary as transformers reads it."""
    return {token: i for i, token in enumerate(tokens, start=first)}

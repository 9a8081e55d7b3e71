"""The token with which a source says what language it wants, for models of several target languages."""

import re

from nmt.errors import ConfigError
from nmt.text.vocab import Vocab

_TOKEN = re.compile(r">>[^<>\s]+<<")
_PREFERRED = (">>cmn_Hans<<", ">>zho_Hans<<", ">>cmn<<", ">>zho<<", ">>zh<<")
_MOST_NAMED = 8


def target_tokens(vocab: Vocab) -> list[str]:
    """The tokens that name a target language, such as `>>cmn_Hans<<`, in the vocabulary's order."""
    return [token for token in vocab.ids if _TOKEN.fullmatch(token)]


def choose_prefix(vocab: Vocab, asked: str | None, source: str) -> tuple[str, ...]:
    """What is put before each source: the token asked for ("" is none), else Simplified Chinese if there is one.

    Raises ConfigError for a token that the source vocabulary does not list.
    """
    if asked is not None:
        if asked and asked not in vocab.ids:
            raise ConfigError(f"command line: --prefix {asked}: {source} has {named(vocab)}")
        return (asked,) if asked else ()
    present = [token for token in _PREFERRED if token in vocab.ids]
    return tuple(present[:1])


def named(vocab: Vocab) -> str:
    """The target languages' tokens, as a message names them."""
    tokens = target_tokens(vocab)
    if not tokens:
        return "no such token, nor any other that names a target language"
    more = f" and {len(tokens) - _MOST_NAMED} more" if len(tokens) > _MOST_NAMED else ""
    return ", ".join(tokens[:_MOST_NAMED]) + more

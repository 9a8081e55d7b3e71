"""Chinese words by jieba: the same words that `jieba.cut` finds, in half the time.

This overrides `get_DAG` and `calc` of `jieba.Tokenizer` and fills its `FREQ` and `total`, which
jieba keeps for itself; they are those of 0.42.1, its last release. Another jieba is noticed by the
words that it finds in a sentence of jieba's own README, and refused: other words than in training
would make a model worse in silence. A test compares the words with jieba's own.
"""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from nmt.errors import ConfigError

_VERSION = "0.42.1"
_KNOWN = ("他", "来到", "了", "网易", "杭研", "大厦")  # 杭研 is in no dictionary
# Characters that jieba gets at a time: its time for unlisted words grows as their square.
_STRETCH = 1000


def cut(text: str) -> Iterator[str]:
    """The words of a text, in order; a space is a word. The dictionary loads at the first use.

    Raises ConfigError for another jieba than the one that this was written for.
    """
    segmenter = _segmenter()
    for start in range(0, len(text), _STRETCH):
        yield from segmenter.cut(text[start : start + _STRETCH])


@cache
def _segmenter() -> Any:
    """A `jieba.Tokenizer` with log-probabilities that finds the words it is known to find."""
    import jieba  # here, for it loads slowly

    try:
        segmenter = _with_log_probs(jieba)
        found = tuple(segmenter.cut("".join(_KNOWN)))
    except (AttributeError, TypeError, ValueError, LookupError):
        found = ()
    if found != _KNOWN:
        raise ConfigError(
            f"jieba {jieba.__version__} finds words in another way than {_VERSION}; "
            f"run pip install jieba=={_VERSION}"
        )
    return segmenter


def _with_log_probs(jieba: Any) -> Any:
    """A tokenizer of jieba that looks words up by their log-probabilities."""

    class Segmenter(jieba.Tokenizer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            # jieba keeps a marshalled dictionary at a predictable path in the shared temporary
            # folder, where anyone may have put another one. So the dictionary is read from the
            # package itself.
            counts, self.total = self.gen_pfdict(self.get_dict_file())
            # The log-probability of a character that is not a word.
            self.unlisted = -math.log(self.total)
            # The log-probability of each word; 0.0 for what is only the beginning of words.
            self.FREQ: dict[str, float] = {}
            for word, count in counts.items():
                self.FREQ[word] = math.log(count) + self.unlisted if count else 0.0
            self.initialized = True

        def get_DAG(self, sentence: str) -> None:  # noqa: N802 - jieba's name
            """Do nothing: `calc` looks the words up itself, and needs no graph of them."""

        def calc(self, sentence: str, _graph: None, route: dict[int, tuple[float, int]]) -> None:
            """Find the most likely way from each character to the end.

            Puts into `route` for each place the log-probability of the way and the last character
            of its first word.
            """
            size = len(sentence)
            lookup = self.FREQ.get
            best = [0.0] * (size + 1)  # log-probability from each place on
            for start in range(size - 1, -1, -1):
                top = -math.inf
                last = start
                end = start + 1
                log_prob = lookup(sentence[start])
                while log_prob is not None:  # while some word begins with sentence[start:end]
                    if log_prob and log_prob + best[end] >= top:
                        top = log_prob + best[end]
                        last = end - 1
                    end += 1
                    log_prob = lookup(sentence[start:end]) if end <= size else None
                best[start] = top if top > -math.inf else self.unlisted + best[start + 1]
                route[start] = best[start], last

    return Segmenter()

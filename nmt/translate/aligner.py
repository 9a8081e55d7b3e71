"""Which words of lines and of their translations belong together: torch alone shows where a model looks."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING

from nmt.corpus.reading.pairs import SentencePair
from nmt.translate.translator import Translator

if TYPE_CHECKING:
    from nmt.text.offsets import Range


class Aligner:
    """A model in torch: that which translates, or the same opened a second time, by whoever asks first."""

    def __init__(
        self,
        translator: Translator,
        in_torch: Callable[[], Translator],
        turn: AbstractContextManager[object],
    ) -> None:
        """`in_torch` opens the model with torch, if `translator` computes otherwise; `turn` is held while it works."""
        is_torch = translator.engine.name.startswith("torch")
        self._opened = translator if is_torch else None
        self._in_torch = in_torch
        self._opening = Lock()
        self._turn = turn

    def links(self, pairs: Sequence[SentencePair]) -> "list[Sequence[tuple[Range, Range]]]":
        """The words of source and target that belong together, as ranges; none of a pair that cannot be aligned."""
        with self._opening:  # it takes seconds, in which others translate
            self._opened = opened = self._opened or self._in_torch()
        with self._turn:
            return opened.links(pairs)

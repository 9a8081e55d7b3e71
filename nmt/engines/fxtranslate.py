"""The engine of Firefox Translations, for a model of theirs that was imported: greedy, in int8, without torch.

fxtranslate takes text and gives text, so ids become text before it and ids behind it. What it cannot do, such as to
write the words of a glossary, the engine on torch does.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from threading import local
from types import ModuleType
from typing import Any

from nmt.config.schema import ModelConfig, SearchConfig
from nmt.engines.base import Engine, Phrases
from nmt.errors import EngineError
from nmt.exchange.int8_engines import refuse_unfit
from nmt.files import read_bytes
from nmt.machine.cpu import threads
from nmt.machine.helpers import CAN_FORK, Helpers, is_helper
from nmt.run.folder import RunDir
from nmt.search.batches import longest_target
from nmt.search.hypotheses import Hypothesis, NBest
from nmt.text.side import Side
from nmt.text.vocab import UNK

# A character that no vocabulary has: what the model does not know stays unknown.
_UNKNOWN = "\ufffc"
_NOT_MARIANS = 2  # of our ids: Marian has neither padding nor a start
_TASK = 8  # sentences that another process gets at a time
_WORTH_A_PROCESS = 2 * _TASK
_BYTES = re.compile(r"(?:<0x[0-9A-F]{2}>)+")
_FIX = "run pip install fxtranslate, or use --engine torch"


def load_fxtranslate() -> ModuleType:
    """The library. Raises EngineError."""
    try:
        import fxtranslate
    except ModuleNotFoundError:
        raise EngineError(f"fxtranslate is not installed; {_FIX}") from None
    except ImportError as error:
        problem = f"fxtranslate is installed, but cannot be loaded ({error})"
        raise EngineError(f"{problem}; use --engine torch") from None
    library: ModuleType = fxtranslate
    return library


class FxtranslateEngine:
    """A model of Firefox Translations, and what has to be known about its two vocabularies."""

    name = "fxtranslate int8"
    threads = 1
    protects = False

    def __init__(
        self,
        run: RunDir,
        config: ModelConfig,
        src: Side,
        tgt: Side,
        in_torch: Callable[[], Engine],
    ) -> None:
        """`in_torch` gives the engine on torch of the same run.

        Raises ModelError if the file of the model is missing, damaged or of another model, EngineError if the library
        cannot be used here.
        """
        self._library = load_fxtranslate()
        self._model = read_bytes(run.firefox)
        rows = [len(side.vocab) - _NOT_MARIANS for side in (src, tgt)]
        refuse_unfit(self._model, config, rows[0], rows[1], str(run.firefox))
        self._pieces = [read_bytes(run.pieces("src")), read_bytes(run.pieces("tgt"))]
        self._of_thread = local()
        self._in_torch = in_torch
        self._torch: Engine | None = None
        self.src = src
        self.tgt = tgt
        self.longest = config.max_length - 1
        count = threads()
        self.helpers = count if count > 1 and CAN_FORK else 0
        self._pool: Helpers[list[str], list[str]] | None = None  # until there is enough to do
        self._translator()  # what is wrong with it shows now

    def fingerprint(self) -> str:
        """A hash of the model; the vocabularies are hashed with the sides."""
        return hashlib.sha256(self._model).hexdigest()[:16]

    def decode(
        self, sources: Sequence[list[int]], search: SearchConfig, phrases: Sequence[Phrases] = ()
    ) -> list[NBest]:
        """Translate sentences, each without EOS and of at most `longest` tokens; in order.

        What is no greedy search, or has phrases that the translation needs, is given to torch. What fxtranslate finds
        has no score.
        """
        if search.effective_method != "greedy" or search.no_repeat_ngram:
            return self._second().decode(sources, search, phrases)
        plain = [i for i in range(len(sources)) if not (phrases and phrases[i])]
        texts = self._translated([self._text(sources[i]) for i in plain])
        found = {
            i: [self._hypothesis(text, longest_target(len(sources[i]), self.longest, search))]
            for i, text in zip(plain, texts, strict=True)
        }
        wanting = [i for i in range(len(sources)) if i not in found]
        if wanting:
            chosen, wanted = [sources[i] for i in wanting], [phrases[i] for i in wanting]
            results = self._second().decode(chosen, search, wanted)
            found |= dict(zip(wanting, results, strict=True))
        return [found[i] for i in range(len(sources))]

    def _hypothesis(self, text: str, limit: int) -> Hypothesis:
        return Hypothesis(self.tgt.encode(text)[:limit], float("nan"), float("nan"))

    def _translated(self, texts: list[str]) -> list[str]:
        """Translate texts: many of them with the other processes that may help, if this is not one of them."""
        if not self.helpers or is_helper() or len(texts) < _WORTH_A_PROCESS * self.helpers:
            return self._translate_all(texts)
        if self._pool is None:
            self._pool = Helpers(self._translate_all, self.helpers)
        tasks = [texts[first : first + _TASK] for first in range(0, len(texts), _TASK)]
        return [text for done in self._pool.map(tasks) for text in done]

    def _translate_all(self, texts: list[str]) -> list[str]:
        return list(map(self._translate, texts))

    def _text(self, source: list[int]) -> str:
        tokens = [_UNKNOWN if i == UNK else self.src.vocab.tokens[i] for i in source]
        return self.src.tokenizer.decode(tokens)

    def _translate(self, text: str) -> str:
        try:
            written = self._translator().translate(text)
        except BaseException as error:
            raise _told(error, "translate this") from None
        return _BYTES.sub(_decoded, written)

    def _translator(self) -> Any:
        """The library's translator of this thread: it serves no other."""
        if not hasattr(self._of_thread, "translator"):
            try:
                translator = self._library.Translator(self._model, *self._pieces)
            except BaseException as error:
                raise _told(error, "load the model") from None
            self._of_thread.translator = translator
        return self._of_thread.translator

    def _second(self) -> Engine:
        """The engine on torch, loaded when it is needed first."""
        if self._torch is None:
            self._torch = self._in_torch()
        return self._torch


def _decoded(match: re.Match[str]) -> str:
    """The characters of pieces that are bytes; fxtranslate writes these pieces as they are."""
    return bytes.fromhex(match[0].replace("<0x", "").replace(">", "")).decode(errors="replace")


def _told(error: BaseException, task: str) -> BaseException:
    """An error of the library as ours; what is not the library's stays as it is.

    Where the library's code in Rust gives up, that is a PanicException, which is no Exception.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        return error
    return EngineError(f"fxtranslate cannot {task} ({error}); use --engine torch")

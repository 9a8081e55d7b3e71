"""The engine on CTranslate2: its arithmetic and its search, with our limits, scores and placeholders; without torch."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from nmt.config.schema import SearchConfig
from nmt.engines.base import Phrases
from nmt.errors import ConfigError, EngineError, ModelError, UserError
from nmt.exchange.exporters.tokens import read_tokens
from nmt.machine.cpu import threads
from nmt.search.batches import batch_tokens_of, batches_of, longest_target
from nmt.search.hypotheses import Hypothesis, NBest, length_penalty
from nmt.text.side import Side

_FIX = "run pip install ctranslate2, or use --engine torch"


def load_ctranslate2() -> ModuleType:
    """The library. It would import torch, which takes seconds and is not needed to translate. Raises EngineError."""
    is_loaded = "torch" in sys.modules
    if not is_loaded:
        # Its import fails then, which the library expects.
        sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        import ctranslate2
    except ModuleNotFoundError:
        raise EngineError(f"CTranslate2 is not installed; {_FIX}") from None
    except ImportError as error:
        problem = f"CTranslate2 is installed, but cannot be loaded ({error})"
        raise EngineError(f"{problem}; use --engine torch") from None
    finally:
        if not is_loaded:
            del sys.modules["torch"]
    library: ModuleType = ctranslate2
    return library


class CTranslate2Engine:
    """A converted model, and what has to be known about its two vocabularies.

    Unlike our own search, CTranslate2's does not see to it that every placeholder of the source is written once. Where
    no hypothesis has them all, the best one is continued with those that it lost.
    """

    def __init__(self, folder: Path, src: Side, tgt: Side, longest: int, numbers: str) -> None:
        """`folder` is what `convert` wrote, in these numbers, without placeholders among the forbidden.

        `longest` is in tokens.
        """
        self.name = f"ctranslate2 {numbers}"
        self.threads = threads()
        self.helpers = 0  # its threads do not need Python's lock
        self._folder = folder
        library = load_ctranslate2()
        try:
            self._translator = library.Translator(
                str(folder), inter_threads=self.threads, intra_threads=1
            )
        except (RuntimeError, ValueError) as error:
            message = f"CTranslate2 cannot load it ({error})"
            raise ModelError(f"{folder}: {message}; delete this folder") from None
        self._longest = longest
        self._src_names, self._tgt_names = read_tokens(folder)
        self._tgt_ids = {name: i for i, name in enumerate(self._tgt_names)}
        self._protects = bool(src.vocab.placeholders and tgt.vocab.placeholders)
        self.src = src
        self.tgt = tgt
        self._src_placeholders = src.vocab.placeholders
        self._tgt_placeholders = tgt.vocab.placeholders

    @property
    def protects(self) -> bool:
        """Whether both vocabularies have placeholders for protected spans."""
        return self._protects

    @property
    def longest(self) -> int:
        """The most tokens of a sentence."""
        return self._longest

    def fingerprint(self) -> str:
        """A hash of the converted model: its folder is named by one."""
        return self._folder.name

    def decode(
        self, sources: Sequence[list[int]], search: SearchConfig, phrases: Sequence[Phrases] = ()
    ) -> list[NBest]:
        """Translate sentences, each without EOS and of at most `longest` tokens; in order.

        Raises ConfigError for phrases, and for sampling: it would not be the same each time with `search.seed`.
        """
        if any(phrases):
            raise ConfigError("phrases that a translation has to have need --engine torch")
        if search.effective_method == "sample":
            raise ConfigError("search.method=sample needs --engine torch")
        pending: dict[int, Any] = {}
        for group, forbidden in self._groups(sources):
            lengths = [len(sources[i]) for i in group]
            for batch in batches_of(lengths, batch_tokens_of(search, "cpu"), self.threads):
                chosen = [group[place] for place in batch]
                futures = self._start([sources[i] for i in chosen], forbidden, search)
                pending.update(zip(chosen, futures, strict=True))
        found = [self._n_best(pending[i], source, search) for i, source in enumerate(sources)]
        self._complete(sources, found, search)
        return found

    def _groups(self, sources: Sequence[list[int]]) -> Iterator[tuple[list[int], list[int]]]:
        """The indices of sources with the same placeholders, and the target ids to keep out of their translations."""
        groups: dict[frozenset[int], list[int]] = defaultdict(list)
        for i, source in enumerate(sources):
            groups[frozenset(source).intersection(self._src_placeholders)].append(i)
        for present, group in groups.items():
            forbidden = self._tgt_placeholders
            if self._protects:
                both = zip(self._src_placeholders, self._tgt_placeholders, strict=True)
                forbidden = [theirs for ours, theirs in both if ours not in present]
            yield group, forbidden

    def _limit(self, source: list[int], search: SearchConfig) -> int:
        return longest_target(len(source), self._longest, search)

    def _start(
        self, sources: list[list[int]], forbidden: list[int], search: SearchConfig
    ) -> list[Any]:
        """Start to search for sources of like length, the longest first; gives a future for each."""
        beams = search.beams
        has_placeholders = len(forbidden) < len(self._tgt_placeholders)
        futures: list[Any] = self._translator.translate_batch(
            [[self._src_names[token] for token in source] for source in sources],
            asynchronous=True,
            # Where one may have lost a placeholder, another may have kept it.
            num_hypotheses=beams if has_placeholders else min(search.n_best, beams),
            min_decoding_length=0,
            max_decoding_length=self._limit(sources[0], search) + 1,  # with EOS
            return_scores=True,
            **self._options(search, forbidden),
        )
        return futures

    def _options(self, search: SearchConfig, forbidden: list[int]) -> dict[str, Any]:
        """What holds for each search, without the target ids `forbidden`."""
        return {
            "beam_size": search.beams,
            "length_penalty": search.length_penalty,
            "no_repeat_ngram_size": search.no_repeat_ngram,
            "suppress_sequences": [[name] for name in self._names(forbidden)] or None,
            "max_input_length": 0,
        }

    def _n_best(self, future: Any, source: list[int], search: SearchConfig) -> NBest:
        """What CTranslate2 finds, scored and ranked as our own search does it."""
        with _telling_what_fails():
            result = future.result()
        limit = self._limit(source, search)
        found = []
        for names, theirs in zip(result.hypotheses, result.scores, strict=True):
            log_prob = theirs * (len(names) + 1) ** search.length_penalty
            found.append(self._hypothesis(names[:limit], log_prob, search))
        found.sort(key=lambda hypothesis: -hypothesis.score)
        return found

    def _hypothesis(self, names: list[str], log_prob: float, search: SearchConfig) -> Hypothesis:
        score = log_prob / length_penalty(len(names) + 1, search.length_penalty)
        return Hypothesis([self._tgt_ids[name] for name in names], log_prob, score)

    def _names(self, ids: list[int]) -> list[str]:
        """Target ids as CTranslate2 calls them."""
        return [self._tgt_names[i] for i in ids]

    # --- placeholders that got lost ---

    def _complete(
        self, sources: Sequence[list[int]], found: list[NBest], search: SearchConfig
    ) -> None:
        """Where every hypothesis of `found` lost or repeated a placeholder, append one with each once."""
        prefixes: dict[int, list[int]] = {}
        for i, source in enumerate(sources):
            wanted = self._wanted(source)
            if wanted and not any(self._written(each.ids) == wanted for each in found[i]):
                room = self._limit(source, search)
                prefixes[i] = self._prefix(found[i][0].ids, wanted, room)
        places = list(prefixes)
        lengths = [len(sources[i]) for i in places]
        for batch in batches_of(lengths, batch_tokens_of(search, "cpu"), self.threads):
            chosen = [places[k] for k in batch]
            texts = [[self._src_names[token] for token in sources[i]] for i in chosen]
            starts = [self._names(prefixes[i]) for i in chosen]
            limit = self._limit(sources[chosen[0]], search)  # of the longest
            with _telling_what_fails():
                found_for_them = self._continue(texts, starts, limit, search)
            for i, hypothesis in zip(chosen, found_for_them, strict=True):
                found[i].append(hypothesis)

    def _continue(
        self, texts: list[list[str]], starts: list[list[str]], limit: int, search: SearchConfig
    ) -> list[Hypothesis]:
        """The best translation of each text that begins so: at most `limit` tokens, and no further placeholder."""
        results = self._translator.translate_batch(
            texts,
            target_prefix=starts,
            max_decoding_length=limit,
            **self._options(search, self._tgt_placeholders),
        )
        targets = [result.hypotheses[0] for result in results]
        scores = self._translator.score_batch(texts, targets, max_input_length=0)
        both = zip(targets, scores, strict=True)
        return [self._hypothesis(names, sum(score.log_probs), search) for names, score in both]

    def _wanted(self, source: list[int]) -> list[int]:
        """The placeholders that a translation of this source must have, in order of their ids."""
        if not self._protects:
            return []
        both = zip(self._src_placeholders, self._tgt_placeholders, strict=True)
        return sorted(theirs for ours, theirs in both if ours in source)

    def _written(self, ids: list[int]) -> list[int]:
        return sorted(i for i in ids if i in self._tgt_placeholders)

    def _prefix(self, ids: list[int], wanted: list[int], room: int) -> list[int]:
        """A translation to go on from: no final punctuation, no placeholder twice, the lost ones at its end."""
        once = [i for place, i in enumerate(ids) if i not in wanted or i not in ids[:place]]
        while once and once[-1] not in wanted and _is_punctuation(self._tgt_names[once[-1]]):
            once.pop()
        kept = once[: max(0, room - len(wanted))]
        return kept + [i for i in wanted if i not in kept]


@contextmanager
def _telling_what_fails() -> Iterator[None]:
    """Make an error of the library one line."""
    try:
        yield
    except RuntimeError as error:
        fix = "use --engine torch, or a lower --batch-tokens"
        raise UserError(f"CTranslate2 cannot translate this ({error}); {fix}") from None


def _is_punctuation(name: str) -> bool:
    return not any(map(str.isalnum, name))

"""Lines in, translations out, in input order."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from nmt.checks.faults import Fault, faults, mangled, repetition
from nmt.config.schema import SearchConfig
from nmt.model.device import Precision
from nmt.model.transformer import Transformer
from nmt.text import spans
from nmt.text.normalize import normalize
from nmt.text.side import Side
from nmt.text.spans import Masked
from nmt.text.typography import repair
from nmt.translate.decoder import Decoder
from nmt.translate.search import NBest
from nmt.translate.segments import split_long

_LONGEST_TOKEN = 64  # characters, on average: to encode a line of megabytes only to see that it is long takes gigabytes


@dataclass(frozen=True)
class Candidate:
    """One of the n best translations of a line: its log-probability and its score after the length penalty.

    Both are sums over the parts of a line that had to be split.
    """

    text: str
    log_prob: float
    score: float


@dataclass(frozen=True)
class Translation:
    """A line and its translations, best first. A blank line's is blank, and has no candidates."""

    source: str
    n_best: tuple[Candidate, ...]
    faults: tuple[
        Fault, ...
    ] = ()  # of the best one: spans that got lost, and with search.verify whatever is suspect

    @property
    def text(self) -> str:
        """The best translation."""
        return self.n_best[0].text if self.n_best else ""


class Translator:
    """A model with its two sides and a way of searching."""

    def __init__(
        self, model: Transformer, src: Side, tgt: Side, search: SearchConfig, precision: Precision
    ) -> None:
        self.decoder, self.src, self.tgt, self.search = (
            Decoder(model, src, tgt, precision),
            src,
            tgt,
            search,
        )

    def fingerprint(self) -> str:
        """A hash that is equal where the translations of every text are: of weights, vocabularies and search."""
        model = self.decoder.model
        told = (
            self.search.model_dump_json(),
            self.src.fingerprint(),
            self.tgt.fingerprint(),
            str(model.dtype),
        )
        digest = hashlib.sha256("\n".join(told).encode())
        for parameter in model.parameters():
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines, sorted by length within; the order out is the order in.

        What a machine reads is kept byte for byte: it travels as placeholders. A line that comes back without one of
        them is translated again as it is. One that is blank or goes round in circles, or with `verify: retry` has any
        fault, gives way to the next best without.
        """
        sources = [self._masked(line) for line in lines]
        found = self._attempt(sources, self.search)
        bare = [i for i, source in enumerate(sources) if source.spans and not found[i]]
        for i, candidates in zip(
            bare, self._attempt([Masked(lines[i], ()) for i in bare], self.search), strict=True
        ):
            found[i] = candidates
        if self.search.method == "beam":
            self._reconsider(found, lines)
        return [
            self._translation(line, candidates)
            for line, candidates in zip(lines, found, strict=True)
        ]

    def _masked(self, line: str, numbers: bool | None = False) -> Masked:
        """With placeholders for spans, for numbers too, or (None) for nothing."""
        return (
            spans.mask(line, numbers)
            if self.decoder.protects and numbers is not None
            else Masked(line, ())
        )

    def _attempt(self, sources: Sequence[Masked], search: SearchConfig) -> list[list[Candidate]]:
        """The n best of each line, less those that have not kept its placeholders."""
        parts = [self._parts(source.text) for source in sources]
        encoded = [self.src.encode(part) for line in parts for part in line]
        found = iter(self.decoder.decode(encoded, search))
        of_lines = [list(islice(found, len(of))) for of in parts]
        return [self._candidates(source, of) for source, of in zip(sources, of_lines, strict=True)]

    def _reconsider(self, found: list[list[Candidate]], lines: Sequence[str]) -> None:
        """Where something is wrong with the best translation, take one with which less is, if there is one.

        It is looked for with three times as many hypotheses, then with numbers as placeholders, without placeholders,
        and by a search that says nothing of four tokens twice.
        """
        width, batch_tokens = 3 * self.search.beam_size, max(1, self.search.batch_tokens // 3)
        wide = {"beam_size": width, "n_best": width, "batch_tokens": batch_tokens}
        wrong = {
            i: self._wrong(lines[i], candidates[0])
            for i, candidates in enumerate(found)
            if candidates
        }
        for numbers, unrepeated in ((False, 0), (True, 0), (None, 0), (False, 4)):
            sources = {i: self._masked(lines[i], numbers) for i, how in wrong.items() if how}
            if (
                numbers is not False
            ):  # where there are none, it would be the search that was made first
                sources = {
                    i: source for i, source in sources.items() if source != self._masked(lines[i])
                }
            search = self.search.model_copy(update=wide | {"no_repeat_ngram": unrepeated})
            for i, candidates in zip(
                sources, self._attempt(list(sources.values()), search), strict=True
            ):
                grades = [self._wrong(lines[i], candidate) for candidate in candidates]
                if (least := min(grades, default=wrong[i])) < wrong[i]:
                    better = [
                        c for c, grade in zip(candidates, grades, strict=True) if grade == least
                    ]
                    wrong[i], found[i] = least, better[: self.search.n_best]

    def _wrong(self, line: str, candidate: Candidate) -> int:
        """How wrong a translation looks: 0 not at all, 1 faulty."""
        if self.search.verify != "retry":
            return bool(
                not candidate.text
                or repetition(line, candidate.text)
                or mangled(line, candidate.text)
            )
        return bool(faults(line, candidate.text))

    def _parts(self, line: str) -> list[str]:
        """A line as sentences that fit into the model; none of one in which there is nothing to translate."""
        text = normalize(line, self.src.language)
        if not any(map(str.isalpha, text)):
            return []
        longest = self.decoder.longest

        def fits(part: str) -> bool:
            return len(part) <= _LONGEST_TOKEN * longest and len(self.src.encode(part)) <= longest

        return split_long(text, fits)

    def _candidates(self, source: Masked, parts: list[NBest]) -> list[Candidate]:
        if not parts:
            text = source.fill(normalize(source.text, self.src.language))
            return [Candidate(text, 0.0, 0.0)] if text else []
        by_text: dict[
            str, Candidate
        ] = {}  # different tokens may make the same text; the better one comes first
        for rank in range(max(map(len, parts))):
            chosen = [part[min(rank, len(part) - 1)] for part in parts]
            glue = "" if self.tgt.language == "zh" else " "
            text = glue.join(self.tgt.decode(part.ids) for part in chosen)
            if source.kept(text):
                log_prob, score = (
                    sum(part.log_prob for part in chosen),
                    sum(part.score for part in chosen),
                )
                text = self._mended(source.fill(text))
                by_text.setdefault(text, Candidate(text, log_prob, score))
        return list(by_text.values())

    def _mended(self, text: str) -> str:
        spacing = self.search.typography
        return text if spacing == "off" or self.tgt.language != "zh" else repair(text, spacing)

    def _translation(self, line: str, candidates: list[Candidate]) -> Translation:
        if not candidates:
            return Translation(line, ())
        look = faults if self.search.verify != "off" else mangled
        return Translation(line, tuple(candidates), tuple(look(line, candidates[0].text)))

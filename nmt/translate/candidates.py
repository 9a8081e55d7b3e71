"""From what search found for the parts of a line to translations of the line."""

from collections.abc import Callable

from nmt.search.hypotheses import NBest
from nmt.spans.masking import Masked, joined
from nmt.text.side import Side
from nmt.translate.translation import Candidate


def candidates_of(
    source: Masked, n_bests: list[NBest], tgt: Side, repair: Callable[[str], str]
) -> list[Candidate]:
    """The n best of a line, from the n best of each of its parts: spans filled in, and repaired.

    Those that lost, repeated or invented a placeholder are left out.
    """
    by_text: dict[str, Candidate] = {}
    for rank in range(max(map(len, n_bests))):
        joined = _join(n_bests, rank, tgt)
        if not source.intact_in(joined.text):
            continue
        text = repair(source.fill(joined.text))
        # Different tokens may make the same text. The better ones come first.
        if text not in by_text:
            by_text[text] = Candidate(text, joined.log_prob, joined.score)
    return list(by_text.values())


def _join(n_bests: list[NBest], rank: int, tgt: Side) -> Candidate:
    """The hypotheses of one rank as one text; a part that has fewer lends its last."""
    chosen = [n_best[min(rank, len(n_best) - 1)] for n_best in n_bests]
    texts = [tgt.decode(hypothesis.ids) for hypothesis in chosen]
    return Candidate(
        text=joined(texts) if tgt.language == "zh" else " ".join(texts),
        log_prob=sum(hypothesis.log_prob for hypothesis in chosen),
        score=sum(hypothesis.score for hypothesis in chosen),
    )


def agreed(first: list[Candidate], second: list[Candidate]) -> list[Candidate]:
    """The candidates of two searches for one line, each text once, by the sum of their scores in both.

    A text that a search did not find counts there as much as the last one that it found: as a rule, it is no better.
    Each candidate keeps the scores of the search that found it, of the first one if both did.
    """
    scores = [{candidate.text: candidate.score for candidate in found} for found in (first, second)]
    lowest = [min(of.values(), default=0.0) for of in scores]
    by_text: dict[str, Candidate] = {}
    for candidate in [*first, *second]:
        by_text.setdefault(candidate.text, candidate)

    def together(candidate: Candidate) -> float:
        return sum(of.get(candidate.text, last) for of, last in zip(scores, lowest, strict=True))

    return sorted(by_text.values(), key=together, reverse=True)

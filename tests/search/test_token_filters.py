"""What a sentence still has to write decides where it may end, not what its log-probability is said to be."""

import math

import pytest
import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.search.filters import WriteEachOnce
from nmt.search.hypotheses import NBest
from nmt.search.search import SEARCHES
from nmt.text.vocab import EOS

WORD, PLACEHOLDER, OTHER = 5, 6, 7
# The placeholders of the vocabulary. Nothing is as likely as a word, and EOS is likelier than they are.
LOGITS = torch.tensor([-9.0, -9.0, -9.0, 1.0, -9.0, 3.0, 0.5, 0.0])


class Constant:
    """The same logits at every step."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.logits = LOGITS.to(dtype)

    def step(self, last: Tensor) -> Tensor:
        return self.logits.repeat(len(last), 1)

    def select(self, rows: Tensor) -> None:
        pass


def owing(limits: list[int], beams: int) -> WriteEachOnce:
    """Each row has to write PLACEHOLDER, and not OTHER."""
    tokens = torch.tensor([PLACEHOLDER, OTHER])
    is_pending = torch.tensor([True, False]).expand(len(limits) * beams, -1)
    limits_of_rows = torch.tensor(limits).repeat_interleave(beams)
    return WriteEachOnce(tokens, is_pending, limits_of_rows)


def found(method: str, limits: list[int], dtype: torch.dtype, **options: object) -> list[NBest]:
    config = SearchConfig.model_validate({"method": method, "beam_size": 4, **options})
    filters = [owing(limits, 4 if method == "beam" else 1)]
    return SEARCHES[method](Constant(dtype), torch.tensor(limits), config, filters)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("limit", [0, 3])
def test_who_must_end_while_owing_reports_the_models_own_log_probability(
    limit: int, dtype: torch.dtype
) -> None:
    ((only,),) = found("greedy", [limit], dtype)
    assert only.ids == [WORD] * limit

    powers = LOGITS.double().exp()
    of_end = powers[EOS] / (powers.sum() - powers[OTHER])  # no row writes what it has not to
    # Before its limit it may not end, and the placeholder is as likely as the end would have been.
    others = powers.sum() - powers[EOS] - powers[PLACEHOLDER] - powers[OTHER]
    of_word = powers[WORD] / (others + powers[EOS])
    expected = math.log(of_end) + limit * math.log(of_word)
    assert only.log_prob == pytest.approx(expected, rel=1e-3)
    assert only.score == pytest.approx(expected * 6 / (5 + limit + 1), rel=1e-3)


def test_what_had_to_end_while_owing_comes_after_all_that_owes_nothing() -> None:
    (hypotheses,) = found("beam", [3], torch.float32, n_best=4, length_penalty=0.0)
    owes = [PLACEHOLDER not in hypothesis.ids for hypothesis in hypotheses]
    assert owes == sorted(owes)
    assert not owes[0]
    assert all(-50 < hypothesis.log_prob < 0 for hypothesis in hypotheses)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_limits_stay_with_their_sentences_when_others_leave_the_batch(method: str) -> None:
    limits = [2, 9, 0, 4, 1, 7, 3, 5] * 3
    together = found(method, limits, torch.float32)
    assert together == [found(method, [limit], torch.float32)[0] for limit in limits]

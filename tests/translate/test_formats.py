"""What is written for a line in each format."""

import json

import pytest

from nmt.checks.faults import Fault
from nmt.translate.formats import written
from nmt.translate.translation import Candidate, Translation

LOOP = Fault("repetition", "天")
LOST = Fault("span mangled", "{0}")


def test_a_tab_of_a_span_does_not_break_the_table_of_scores() -> None:
    translation = Translation("<a\tb>", (Candidate("<a\tb>", -1.0, -0.5),), (), verified=False)
    assert written("scores", [translation], 7) == "7\t-0.5000\t-1.0000\t<a b>\n"


@pytest.mark.parametrize(
    ("verified", "faults", "expected"),
    [
        (True, (LOOP,), [{"kind": "repetition", "detail": "天"}]),
        (True, (), []),  # looked for, and none found
        (False, (), None),  # not looked for
        (False, (LOST,), [{"kind": "span mangled", "detail": "{0}"}]),  # always looked for
    ],
)
def test_json_says_whether_faults_were_looked_for(
    verified: bool, faults: tuple[Fault, ...], expected: object
) -> None:
    translation = Translation("sky", (Candidate("天", -1.0, -0.5),), faults, verified)
    assert json.loads(written("jsonl", [translation], 7)) == {
        "line": 7,
        "source": "sky",
        "translation": "天",
        "n_best": [{"text": "天", "log_prob": -1.0, "score": -0.5}],
        "faults": expected,
    }

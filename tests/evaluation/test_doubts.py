import jieba
import pytest
from sentences import HYPOTHESES, REFERENCES

from nmt.errors import DataError
from nmt.evaluation.doubts import check_hypotheses, segmented_share


def test_a_wrong_count_of_lines_is_an_error() -> None:
    with pytest.raises(DataError, match=r"9 lines of hypothesis but 10 lines of reference"):
        check_hypotheses(HYPOTHESES[:9], [REFERENCES])
    with pytest.raises(DataError, match="0 lines; give files"):
        check_hypotheses([], [[]])


def test_segmented_lines_are_distinguished_from_plain_ones() -> None:
    segmented = [" ".join(jieba.cut(line)) for line in REFERENCES]
    assert segmented_share(REFERENCES) == 0
    assert segmented_share(segmented) == 1
    assert segmented_share([" ".join(line) for line in REFERENCES]) == 1
    assert segmented_share(segmented[:5] + REFERENCES[5:]) == 0.5
    assert segmented_share(["only English words here", "", "我"]) == 0
    assert segmented_share(["我用 Python 和 PyTorch 写程序。"]) == 0


def test_a_segmented_hypothesis_is_an_error_and_not_a_number() -> None:
    segmented = [" ".join(line) for line in HYPOTHESES]
    with pytest.raises(
        DataError, match=r"100% of the hypothesis lines are segmented.*join the Chinese tokens"
    ):
        check_hypotheses(segmented, [REFERENCES])


def test_references_segmented_alike_excuse_a_segmented_hypothesis() -> None:
    hypotheses, references = [
        [" ".join(line) for line in side] for side in (HYPOTHESES, REFERENCES)
    ]
    assert check_hypotheses(hypotheses, [references]) == []


@pytest.mark.parametrize(
    ("hypotheses", "warning"),
    [
        (
            ["我 喝 茶 。", "他 走 了 。", *HYPOTHESES[2:]],
            "20% of the hypothesis lines are segmented",
        ),
        (
            [*HYPOTHESES[:4], " ", *HYPOTHESES[5:9], ""],
            "2 of 10 lines of hypothesis are blank, first line 5",
        ),
        (
            ["I drink tea."] * 3 + HYPOTHESES[3:],
            "3 of 10 lines of hypothesis have no Chinese character",
        ),
        (REFERENCES, "is equal to its reference"),
    ],
)
def test_a_doubtful_hypothesis_gives_one_warning(hypotheses: list[str], warning: str) -> None:
    [found] = check_hypotheses(hypotheses, [REFERENCES])
    assert warning in found


def test_so_few_lines_that_chance_decides_are_doubted() -> None:
    """sacrebleu's interval of a single sentence has no width."""
    for lines, named in ((1, "only 1 line:"), (9, "only 9 lines:")):
        [found] = check_hypotheses(HYPOTHESES[:lines], [REFERENCES[:lines]])
        assert named in found


def test_a_sound_hypothesis_gives_no_warning() -> None:
    assert check_hypotheses(HYPOTHESES, [REFERENCES]) == []


def test_several_references_are_doubted_together() -> None:
    blank = ["" for _ in REFERENCES]
    assert check_hypotheses(HYPOTHESES, [blank, REFERENCES]) == []
    [found] = check_hypotheses(REFERENCES, [HYPOTHESES, REFERENCES])
    assert "is equal to its reference" in found
    with pytest.raises(DataError, match="10 lines of hypothesis but 9 lines of reference 2"):
        check_hypotheses(HYPOTHESES, [REFERENCES, REFERENCES[:9]])

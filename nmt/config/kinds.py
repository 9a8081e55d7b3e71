"""What kinds of values settings take, and their limits."""

from os.path import expanduser
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError


def _no_boolean(value: Any) -> Any:
    """Python takes true for 1; a setting does not."""
    if isinstance(value, bool):
        raise PydanticCustomError("boolean", "a number, not true or false")
    return value


NO_BOOLEAN = BeforeValidator(_no_boolean)
Positive = Annotated[int, Field(ge=1, lt=2**63), NO_BOOLEAN]
Count = Annotated[int, Field(ge=0, lt=2**63), NO_BOOLEAN]
Share = Annotated[float, Field(ge=0, le=1), NO_BOOLEAN]
Times = Annotated[float, Field(ge=0, le=100), NO_BOOLEAN]
Rate = Annotated[float, Field(ge=0, lt=1), NO_BOOLEAN]
NonNegative = Annotated[float, Field(ge=0), NO_BOOLEAN]
AboveZero = Annotated[float, Field(gt=0), NO_BOOLEAN]
Weight = Annotated[
    float,
    Field(gt=0, le=10_000),
    NO_BOOLEAN,
    AfterValidator(lambda weight: int(weight) if weight == int(weight) else weight),  # 2, not 2.0
]
# A configuration may come with an untrusted model: it must not make the program allocate without end.
Layers = Annotated[int, Field(ge=1, le=1000), NO_BOOLEAN]
Width = Annotated[int, Field(ge=1, le=2**17), NO_BOOLEAN]
Beams = Annotated[int, Field(ge=1, le=1000), NO_BOOLEAN]


def _no_nul(path: str) -> str:
    if "\0" in path:
        raise ValueError("a path cannot hold a NUL byte; delete the \\0")
    return path


# ~ is the home folder.
FilePath = Annotated[
    str,
    Field(min_length=1, description="a path"),
    AfterValidator(_no_nul),
    AfterValidator(expanduser),
]
Language = Annotated[
    str,
    Field(pattern=r"^[a-z]{2,3}$", description="a language's two or three letters, such as en"),
]
DeviceName = Annotated[
    str,
    Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$", description="auto, cpu, mps, cuda or cuda:N"),
]
Token = Annotated[
    str, Field(pattern=r"^\S+$", max_length=100, description="a token, without white space")
]
OneLine = Annotated[
    str,
    Field(
        pattern=r"^[^\x00-\x1f\x7f\u2028\u2029]+$", max_length=500, description="one line of text"
    ),
]
# The tokenizers: those of nmt/text/tokenizers.py, and sentencepiece.
TokenizerName = Literal["whitespace", "plain", "jieba", "char", "sentencepiece"]
# The public test sets whose sentences prepare knows: the files of nmt/corpus/identity/public_tests.
PublicTest = Literal[
    "flores_dev",
    "flores_devtest",
    "newstest2017",
    "newstest2018",
    "newstest2019",
    "newstest2020",
    "ntrex_zhcn_wmt19src",
    "tatoeba_challenge_hans",
    "tico19",
    "ud_pud",
    "wmt21",
    "wmt22",
    "wmt23",
    "wmt24",
    "xquad_questions",
]
# What `nmt evaluate` can measure: the names in METRICS of nmt/evaluation/metrics.py.
MetricName = Literal[
    "bleu", "bleu_width", "bleu_flores101", "bleu_flores200", "chrf", "chrf++", "ter"
]


def _different(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse no metric, and one that is named twice."""
    if not names:
        raise ValueError("an empty list; name at least one metric, such as bleu")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice; name it once")
    return names


Metrics = Annotated[tuple[MetricName, ...], AfterValidator(_different)]

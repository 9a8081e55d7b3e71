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


Whole = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean)]
Positive = Annotated[Whole, Field(gt=0, lt=2**63)]
Count = Annotated[Whole, Field(ge=0, lt=2**63)]
Share = Annotated[Number, Field(ge=0, le=1)]
Times = Annotated[Number, Field(ge=0, le=100)]
Rate = Annotated[Number, Field(ge=0, lt=1)]
NonNegative = Annotated[Number, Field(ge=0)]
AboveZero = Annotated[Number, Field(gt=0)]
# A configuration may come with an untrusted model: it must not make the program allocate without end.
Layers = Annotated[Whole, Field(gt=0, le=1000)]
Width = Annotated[Whole, Field(gt=0, le=2**17)]
Beams = Annotated[Whole, Field(gt=0, le=1000)]
# ~ is the home folder.
FilePath = Annotated[str, Field(min_length=1, description="a path"), AfterValidator(expanduser)]
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
# What `nmt evaluate` can measure: the names in METRICS of nmt/evaluate/metrics.py.
MetricName = Literal[
    "bleu", "bleu_width", "bleu_flores101", "bleu_flores200", "chrf", "chrf++", "ter"
]

"""The types of numbers in which CTranslate2 stores weights. Nothing is imported for them: `--help` names them."""

from typing import Literal, get_args

Quantization = Literal[
    "int8",
    "int8_float32",
    "int8_float16",
    "int8_bfloat16",
    "int16",
    "float16",
    "bfloat16",
    "float32",
]
QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)

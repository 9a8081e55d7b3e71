"""The types of numbers in which each target takes weights. Nothing is imported for them: `--help` names them."""

from typing import Literal, get_args

from nmt.errors import ConfigError

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
OF_CTRANSLATE2: tuple[Quantization, ...] = get_args(Quantization)

# The targets, each with its types; the first is written unless another is asked for.
QUANTIZATIONS: dict[str, tuple[Quantization, ...]] = {
    "nmt": ("bfloat16", "int8", "float16", "float32"),
    "ct2": ("float32", *(each for each in OF_CTRANSLATE2 if each != "float32")),
    "hf": ("float32",),
    "argos": OF_CTRANSLATE2,
    "firefox": ("int8",),
    "page": ("int8",),
}


def chosen_quantization(target: str, asked: Quantization | None) -> Quantization:
    """The type in which a target's weights are written. Raises ConfigError for one that it does not take."""
    types = QUANTIZATIONS[target]
    if asked is None:
        return types[0]
    if asked not in types:
        message = f"--quantize {asked}: {target} takes {', '.join(types)}"
        if target == "hf":
            message += "; transformers loads it in another type if you give it dtype="
        raise ConfigError(f"command line: {message}")
    return asked

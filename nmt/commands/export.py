"""nmt export: a trained model for other programs."""

from pathlib import Path
from typing import Annotated, Literal

from nmt.commands.shell import options
from nmt.commands.shell.streams import say, warn
from nmt.commands.shell.trained_run import find_run
from nmt.errors import ConfigError, print_nothing
from nmt.exchange.exporters.quantization import QUANTIZATIONS, Quantization

Target = Annotated[
    Literal["nmt", "ct2", "hf", "argos"],
    options.argument(
        "nmt|ct2|hf|argos",
        "nmt elsewhere, CTranslate2, Hugging Face transformers, or Argos Translate and LibreTranslate.",
    ),
]
Folder = Annotated[Path, options.path_argument("DIR", "The folder to make.")]
Quantize = Annotated[
    Quantization | None,
    options.option(
        "TYPE",
        f"ct2 and argos: {', '.join(QUANTIZATIONS[:-1])} or {QUANTIZATIONS[-1]}; "
        "default: float32, for argos int8. nmt: bfloat16 (default), float16 or float32.",
    ),
]
Overwrite = Annotated[bool, options.flag("Replace DIR if nmt exported it.", "--overwrite")]


def export(
    target: Target,
    folder: Folder,
    model: options.Model = None,
    config: options.ConfigFile = None,
    quantize: Quantize = None,
    overwrite: Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a trained model for another program or machine."""
    if target == "hf" and quantize is not None:
        fix = "transformers itself loads the model in other types, by dtype="
        raise ConfigError(f"command line: --quantize is for ct2 and argos; {fix}")
    settings, run = find_run(model, config, [])

    from nmt.exchange.exporters.export_folder import refuse_to_replace, size_of
    from nmt.exchange.exporters.exports import TARGETS, export_run
    from nmt.exchange.exporters.run_folder import refuse_quantization

    if target == "nmt":
        refuse_quantization(quantize)
    refuse_to_replace(folder, overwrite)
    tell = print_nothing if quiet else say
    export_run(TARGETS[target], settings, run, folder, quantize, overwrite, warn, tell)
    tell(f"nmt: {folder}: {size_of(folder) / 1e6:,.1f} MB; {TARGETS[target].use}")

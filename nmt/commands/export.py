"""nmt export: a trained model for other programs."""

from pathlib import Path
from typing import Annotated, Literal

from nmt.commands.shell import options
from nmt.commands.shell.streams import say, warn
from nmt.commands.shell.trained_run import find_run
from nmt.errors import print_nothing
from nmt.exchange.exporters.quantization import QUANTIZATIONS, Quantization, chosen_quantization

Target = Annotated[
    Literal["nmt", "ct2", "hf", "argos", "firefox", "page"],
    options.argument(
        "|".join(QUANTIZATIONS),
        "nmt elsewhere, CTranslate2, Hugging Face transformers, Argos Translate and LibreTranslate, "
        "Firefox Translations' engines, or a page that translates in the browser.",
    ),
]
Folder = Annotated[Path, options.path_argument("DIR", "The folder to make.")]
_TYPES = "; ".join(f"{target}: {', '.join(types)}" for target, types in QUANTIZATIONS.items())
Quantize = Annotated[
    Quantization | None,
    options.option("TYPE", f"Number format of the weights; the first is the default. {_TYPES}."),
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
    quantization = chosen_quantization(target, quantize)
    settings, run = find_run(model, config, [])

    from nmt.exchange.exporters.export_folder import refuse_to_replace, size_of
    from nmt.exchange.exporters.exports import TARGETS, export_run

    refuse_to_replace(folder, overwrite)
    tell = print_nothing if quiet else say
    export_run(TARGETS[target], settings, run, folder, quantization, overwrite, warn, tell)
    tell(f"nmt: {folder}: {size_of(folder) / 1e6:,.1f} MB; {TARGETS[target].use}")

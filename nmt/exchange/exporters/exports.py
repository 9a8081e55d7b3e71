"""The programs that a trained model can be exported for.

A target is a module whose `refuse` raises for a run that the program has no place for, and whose `write` puts files
into an empty folder. That the folder appears whole or not at all, and says in export.json where it comes from, is seen
to here. `X_folder.py` writes such a folder; `X.py` beside it gives the model in that program's terms. What all of them
need: `Trained` (trained.py: model, sides, sentencepiece models), `values` (arrays.py: weights in numpy),
`unique_tokens` (tokens.py: vocabularies in which each token has one id), `page` (readme.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nmt.config.schema import Config
from nmt.errors import Say
from nmt.exchange.exporters import (
    argos,
    ctranslate2_folder,
    firefox_folder,
    hugging_face_folder,
    run_folder,
    web_page,
)
from nmt.exchange.exporters.export_folder import export_folder
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.trained import Trained, load_trained
from nmt.run.folder import RunDir


@dataclass(frozen=True)
class Target:
    """A program to export for."""

    refuse: Callable[[Trained], None]  # raises for what it has no place for
    write: Callable[[Trained, Path, Quantization], None]  # into an empty folder
    use: str  # what the user does next


# Their types of numbers are in quantization.py, under the same names.
TARGETS = {
    "nmt": Target(
        run_folder.refuse,
        run_folder.write,
        "nmt translate --model takes it, here and elsewhere",
    ),
    "ct2": Target(
        ctranslate2_folder.refuse,
        ctranslate2_folder.write,
        "its README.md has the lines that use it",
    ),
    "hf": Target(
        hugging_face_folder.refuse,
        hugging_face_folder.write,
        "its README.md has the lines that use it",
    ),
    "firefox": Target(
        firefox_folder.refuse,
        firefox_folder.write,
        "its README.md has the lines that use it",
    ),
    "page": Target(
        web_page.refuse,
        web_page.write,
        "open its translate.html in a browser",
    ),
    "argos": Target(
        argos.refuse,
        argos.write,
        "argostranslate.package.install_from_path installs its .argosmodel; see its README.md",
    ),
}


def export_run(
    target: Target,
    config: Config,
    run: RunDir,
    folder: Path,
    quantization: Quantization,
    overwrite: bool,
    warn: Say,
    say: Say,
) -> None:
    """Export a run into a new folder.

    Raises ModelError if there is no trained model or the target has no place for it, ConfigError if the folder is
    taken or what writes it is not installed. Then nothing is written.
    """
    trained = load_trained(config, run, warn, say)
    target.refuse(trained)
    origin = trained.provenance.without_folders().as_json()
    contents = {"numbers": quantization, "checkpoint": trained.checkpoint, "origin": origin}
    with export_folder(folder, overwrite, contents) as part:
        target.write(trained, part, quantization)

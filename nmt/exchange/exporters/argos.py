"""A run as an `.argosmodel`, which Argos Translate and LibreTranslate install: a zip of one folder."""

import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.errors import ModelError
from nmt.exchange.exporters import ctranslate2_folder
from nmt.exchange.exporters.quantization import Quantization
from nmt.exchange.exporters.readme import bullets, code, page, provenance_section, text_notes
from nmt.exchange.exporters.trained import Trained

_PACKAGE_VERSION = "1.0"
_ARGOS_VERSION = "1.11.0"  # with which this was tried; it needs no sentence splitter in the package
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time of a zip: equal files make equal packages


def refuse(trained: Trained) -> None:
    """Raise ModelError for a run whose text Argos Translate cannot prepare, or as for CTranslate2."""
    config = trained.config
    fix = "Argos Translate takes one sentencepiece model for both sides; train with configs/subword.yaml"
    if not trained.has_pieces:
        tokenizers = (
            f"src.tokenizer={config.src.tokenizer} and tgt.tokenizer={config.tgt.tokenizer}"
        )
        raise ModelError(f"{tokenizers}: {fix}")
    if trained.pieces("src") != trained.pieces("tgt"):
        raise ModelError(f"the sides have two sentencepiece models: {fix}")
    if config.src.prefix:
        message = "Argos Translate puts nothing before a source"
        raise ModelError(f"src.prefix={' '.join(config.src.prefix)}: {message}")
    if config.src.lowercase:
        raise ModelError("src.lowercase=true: Argos Translate does not put text in lower case")
    if config.src.recase:
        raise ModelError("src.recase=true: Argos Translate does not put words in another case")
    if config.src.detach:
        raise ModelError("src.detach=true: Argos Translate does not set words apart")
    ctranslate2_folder.refuse(trained)


def package_name(trained: Trained) -> str:
    """The name of the package, without its ending."""
    version = _PACKAGE_VERSION.replace(".", "_")
    return f"translate-{trained.src.language}_{trained.tgt.language}-{version}"


def write(trained: Trained, folder: Path, quantization: Quantization) -> None:
    """Write the package and README.md. Raises as `refuse` does."""
    refuse(trained)
    name = package_name(trained)
    readme = _readme(trained, quantization)
    (folder / "README.md").write_text(readme, encoding="utf-8")
    with TemporaryDirectory(dir=folder.parent) as work:
        package = Path(work)
        (package / "model").mkdir()
        ctranslate2_folder.write_model(trained, package / "model", quantization)
        (package / "sentencepiece.model").write_bytes(trained.pieces("src"))
        (package / "README.md").write_text(readme, encoding="utf-8")
        metadata = json.dumps(_metadata(trained), ensure_ascii=False, indent=2)
        (package / "metadata.json").write_text(metadata + "\n", encoding="utf-8")
        _zip(package, name, folder / f"{name}.argosmodel")


def _metadata(trained: Trained) -> dict[str, str]:
    from_code = trained.src.language
    to_code = trained.tgt.language
    return {
        "package_version": _PACKAGE_VERSION,
        "argos_version": _ARGOS_VERSION,
        "from_code": from_code,
        "from_name": _LANGUAGES.get(from_code, from_code),
        "to_code": to_code,
        "to_name": _LANGUAGES.get(to_code, to_code),
    }


def _zip(folder: Path, name: str, path: Path) -> None:
    """Put the files of a folder into a zip, all in one folder of this name."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                inside = zipfile.ZipInfo(f"{name}/{file.relative_to(folder).as_posix()}", _EPOCH)
                inside.compress_type = zipfile.ZIP_DEFLATED
                inside.external_attr = 0o644 << 16
                archive.writestr(inside, file.read_bytes())


def _readme(trained: Trained, quantization: Quantization) -> str:
    lines = [
        "from argostranslate import package, translate",
        "",
        f'package.install_from_path("{package_name(trained)}.argosmodel")',
        f'print(translate.translate("I like tea.", "{trained.src.language}", "{trained.tgt.language}"))',
    ]
    notes = [
        *text_notes(trained),
        "Argos Translate cuts text into sentences first; for that it downloads a model the first time.",
        "It searches with a length penalty of its own, and turns each `_` of a translation into a space.",
    ]
    how = f"## Use\n\nWhere it is installed, LibreTranslate finds it too. In this folder:\n\n{code(*lines)}"
    title = f"A translation model for Argos Translate and LibreTranslate, in {quantization}"
    return page(title, how, f"## Good to know\n\n{bullets(notes)}", provenance_section(trained))

"""What `import nmt` offers: translating and scoring from Python.

The names in `nmt.__all__` keep their meaning within a major version; all others may change.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast, overload

from nmt.config.yaml_values import Place
from nmt.documents.asked import Asked
from nmt.documents.files import DocumentFile, open_document, read_bytes
from nmt.documents.pipeline import Line, Work
from nmt.documents.translation import translated_lines
from nmt.engines.base import EngineName, EngineRequest
from nmt.engines.choose import default_engine
from nmt.errors import ConfigError, DataError, print_nothing
from nmt.evaluation.measurement import score
from nmt.evaluation.metrics import References
from nmt.evaluation.results import Score
from nmt.run.folder import RunDir
from nmt.run.trained import (
    TRAINED_LAST,
    find_run_folder,
    load_trained_run,
    refuse_elsewhere,
    refuse_idle,
)
from nmt.text.normalize import unpaired_surrogate
from nmt.translate.aligner import Aligner
from nmt.translate.opening import load_translator, open_translator
from nmt.translate.translation import Translation
from nmt.translate.translator import Translator as LineTranslator
from nmt.translate.windows import live_windows, windows

if TYPE_CHECKING:
    from starlette.applications import Starlette

Name = str | PathLike[str]  # of a file or a folder

_log = logging.getLogger("nmt")
_SEARCH = Place(inf, "nmt.load(search=…)")


class Translator:
    """A trained model, ready to translate. `nmt.load` makes one.

    Threads may share it, each with a stream of its own: they take turns. A turn uses all cores, or the GPU.
    """

    def __init__(
        self, translator: LineTranslator, in_torch: Callable[[], LineTranslator] | None = None
    ) -> None:
        """`in_torch` opens the same model with torch, which shows which words belong together."""
        self._translator = translator
        self._turn = Lock()
        self._aligner = Aligner(translator, in_torch or (lambda: translator), self._turn)

    @property
    def checkpoints(self) -> tuple[Path, ...]:
        """The folders of the weights in use: one, or those of an ensemble."""
        return self._translator.checkpoints

    @property
    def engine(self) -> str:
        """What computes, and in which precision: "torch bf16", "ctranslate2 int8"."""
        return self._translator.engine.name

    @overload
    def translate(self, text: str) -> Translation: ...
    @overload
    def translate(self, text: list[str] | tuple[str, ...]) -> list[Translation]: ...
    def translate(self, text: str | list[str] | tuple[str, ...]) -> Translation | list[Translation]:
        """Translate one line, or a list of lines into a list.

        A line is a sentence or a paragraph, and may end in a line break; a blank one stays blank. Raises DataError for
        a line with a line break inside.
        """
        if isinstance(text, str):
            return self._translated([_line(text)])[0]
        return self._translated([_line(line) for line in text])

    def stream(self, lines: Iterable[str]) -> Iterator[Translation]:
        """Translate lines as they come, in order, in constant memory; a line may end in a line break.

        Lines are read ahead in a thread of their own, and those that wait are translated together. If you leave the
        stream before its end, reading stops at the next line. Raises DataError for a line with a line break inside,
        and whatever `lines` raises, after the lines before it.
        """
        if isinstance(lines, str):
            raise DataError("a text; give an iterable of lines, such as text.split('\\n')")
        for window in live_windows(map(_line, lines)):
            yield from self._translated(window)

    def _lines(self, lines: Sequence[str]) -> dict[str, Line]:
        """The translations of lines of a document, a window at a time."""
        found = {}
        for window in windows(lines):
            for each in self._translated(window):
                found[each.source] = Line(each.text, tuple(map(str, each.faults)))
        return found

    def _translated(self, lines: Sequence[str]) -> list[Translation]:
        with self._turn:
            return self._translator.translate(lines)


def load(
    model: Name | None = None,
    *,
    engine: EngineName | None = None,
    device: str = "auto",
    precision: str = "auto",
    ensemble: Name | Sequence[Name] = (),
    glossary: Name | Sequence[Name] = (),
    memory: Name | None = None,
    search: Mapping[str, object] | None = None,
) -> Translator:
    """Load a trained model.

    `model` is a run folder, one of its checkpoints, or "pretrained", the model that comes with nmt. Without it, it is
    the one that `nmt translate` takes: $NMT_MODEL, else the last one trained in this folder, else "pretrained".
    `ensemble` names other runs whose models decide together with it, `glossary` files of terms that are translated so
    each time, `memory` sentence pairs that influence the words: a .tsv or .jsonl file, or a run. `engine`, `device`
    and `precision` are those of `nmt translate`; without `engine`, $NMT_ENGINE names it, else it is "auto". `search`
    changes settings of the section `search`, such as {"beam_size": 3, "verify": "retry"}.

    Warnings and what was loaded go to the logger "nmt"; that the run trained last was chosen is a warning. Raises
    ModelError if there is no such model, ConfigError for a value that is not known or does not fit the others,
    DataError for a memory or a glossary that cannot be read.
    """
    asked = dict(search or {})
    if memory is not None:
        asked["memory"] = memory
    if glossary:
        asked["glossary"] = [str(each) for each in _several(glossary)]
    overrides = [_override(key, value) for key, value in asked.items()]
    run = find_run_folder(None if model is None else _path(model))
    trained = load_trained_run(run, overrides, place=_SEARCH)
    named = trained.config.search
    for name, files in (("memory", [named.memory]), ("glossary", named.glossary)):
        for file in () if name in asked else files:
            refuse_elsewhere(run, f"search.{name}", file, f"name it as {name}=FILE")
    refuse_idle(overrides, trained.config.search, _SEARCH)
    others = [load_trained_run(RunDir.at(_path(each)), []) for each in _several(ensemble)]
    request = EngineRequest(
        engine or default_engine(), device, precision, tuple(others), helpers=False
    )
    say = _log.warning if run.why == TRAINED_LAST else _log.info
    translator = open_translator(trained.config, run, request, _log.warning, say)
    in_torch = partial(
        load_translator, trained.config, run, device, "auto", _log.warning, print_nothing
    )
    return Translator(translator, in_torch)


@dataclass(frozen=True)
class TranslatedDocument:
    """A document in Chinese, and what became of its units.

    `left` names each unit that stays as it was, and why; `faults` what may be wrong with others.
    """

    content: bytes
    units: int
    translated: int
    kept: int  # that had a translation
    unchanged: int  # whose translation is the source
    left: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def text(self) -> str:
        """The content of a document that is a text, without a byte-order mark."""
        return self.content.decode("utf-8-sig")


def document(
    source: Name | bytes,
    *,
    format: str | None = None,  # noqa: A002 - what people call it
    translator: Translator | Callable[[list[str]], Sequence[str]] | None = None,
    bilingual: bool = False,
    overwrite_translations: bool = False,
) -> TranslatedDocument:
    """Translate a file or a text, such as Markdown, PO or DOCX; all but the words stays as it is.

    `source` is the name of a file, or with a `format` the content itself, as a text that names no file or as bytes.
    Formats have the names that `nmt document --help` lists; without one, the file's name or first lines tell.
    `translator` is what `load` gives, or a function from lines to as many lines, which may have tags such as `<g1>`;
    default: `load()`. `bilingual` and `overwrite_translations` are those of `nmt document`. Raises DataError for a
    document that cannot be read, ConfigError for an unknown format.
    """
    asked = Asked(bilingual=bilingual, overwrite=overwrite_translations)
    file = _opened_document(source, format, asked)
    if bilingual and not file.form.has_bilingual:
        raise ConfigError(f"{file.form.title} has no room for two languages")
    work = Work(file, asked)
    of_lines = _lines_of_document(work, load() if translator is None else translator)
    content = work.written(of_lines)
    report = work.report
    return TranslatedDocument(
        content,
        report.units,
        report.translated,
        report.kept,
        len(report.unchanged),
        tuple(map(str, report.left)),
        tuple(map(str, report.faults)),
    )


def _opened_document(source: Name | bytes, form: str | None, asked: Asked) -> DocumentFile:
    if isinstance(source, bytes):
        return open_document(None, source, form, asked)
    if (
        isinstance(source, str)
        and form is not None
        and ("\n" in source or not Path(source).is_file())
    ):
        return open_document(None, source.encode(), form, asked)
    path = _path(source)
    return open_document(path, read_bytes(path), form, asked)


def _lines_of_document(
    work: Work, translator: Translator | Callable[[list[str]], Sequence[str]]
) -> dict[str, Line]:
    if isinstance(translator, Translator):
        return translated_lines(work, translator._lines, translator._aligner.links)
    lines = work.lines()
    translations = translator(lines)
    if len(translations) != len(lines):
        raise DataError(f"{len(lines)} lines have {len(translations)} translations")
    return {line: Line(text) for line, text in zip(lines, translations, strict=True)}


def evaluate(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    metrics: str | Sequence[str] = ("bleu", "bleu_width", "chrf"),
) -> dict[str, Score]:
    """Score translations against references, line for line; no model is needed.

    Several references are a list of texts, each a list of lines. Gives each metric its score, with a 95 % interval and
    sacrebleu's signature; the values are those of the `sacrebleu` command. Raises DataError for texts of unequal
    length, ConfigError for an unknown metric.
    """
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise DataError("a text; give a list of lines, such as text.split('\\n')")
    is_one = all(isinstance(line, str) for line in references)
    texts = cast(References, [references] if is_one else references)
    names = [metrics] if isinstance(metrics, str) else metrics
    return {each.metric: each for each in score(hypotheses, texts, names)}


def serve(
    translator: Translator,
    *,
    keys: str | Sequence[str] = (),
    hosts: str | Sequence[str] = (),
    origins: str | Sequence[str] = (),
    glossaries: Name | None = None,
) -> "Starlette":
    """An ASGI application that answers as `nmt serve` does, to run or to mount in one of your own.

    With `keys`, each request needs one of them. `hosts` are names by which the server is called, besides localhost and
    IP addresses, `origins` are pages that may ask, besides those of this machine and browser extensions, `glossaries`
    is the folder of those that clients make; without it they are gone at the end. Raises ConfigError if a package is
    not installed, DataError for a glossary there that cannot be read.
    """
    try:
        from nmt.serving.app import make_app
    except ModuleNotFoundError as error:
        message = f"nmt.serve needs {error.name}, which is not installed"
        raise ConfigError(f"{message}; run pip install starlette python-multipart") from None
    from nmt.serving.service import service_of
    from nmt.serving.settings import ServeSettings

    folder = None if glossaries is None else _path(glossaries)
    given = [(each,) if isinstance(each, str) else tuple(each) for each in (keys, hosts, origins)]
    settings = ServeSettings(given[0], given[1], given[2], folder)
    service = service_of(translator._translator, translator._aligner, translator._turn, settings)
    return make_app(service, _log.info)


def _path(name: Name) -> Path:
    """A path. Raises ConfigError for "", which Python takes for the current folder."""
    if name == "":
        raise ConfigError("'' is not a path; name a run folder")
    return Path(name)


def _several(names: Name | Sequence[Name]) -> Sequence[Name]:
    return [names] if isinstance(names, str | PathLike) else names


def _override(key: str, value: object) -> str:
    """A setting of search as the command line has it, with its value in JSON, which is YAML too."""
    if "=" in key:
        raise ConfigError(f"{_SEARCH}: {key!r} is not a setting")
    text = os.fspath(value) if isinstance(value, PathLike) else value
    return f"search.{key}={json.dumps(text, ensure_ascii=False)}"


def _line(text: str) -> str:
    """A line without its line break.

    Raises DataError if it has another, or half of a pair of surrogates, and TypeError for what is not a text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a line must be a str, not {type(text).__name__}: {text!r}")
    line = text.removesuffix("\n").removesuffix("\r")
    if "\n" in line:
        message = f"a text of {line.count(chr(10)) + 1} lines"
        raise DataError(f"{message}; give them as a list: text.split('\\n')")
    if (half := unpaired_surrogate(line)) is not None:
        raise DataError(f"{half!r} is an unpaired surrogate; leave it out")
    return line

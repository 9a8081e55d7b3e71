"""A folder, or a model on the hub, becomes a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt import __version__
from nmt.errors import ConfigError, ModelError, Say
from nmt.exchange.importers import firefox_models, hub, marian_files, marian_hf
from nmt.exchange.importers.imported_run import FREE, write_run
from nmt.exchange.importers.languages import choose_prefix, named, target_tokens
from nmt.exchange.importers.licence import stated_licence
from nmt.exchange.importers.marian import Marian
from nmt.files import checksum, readable_or, refuse_special_files, refuse_taken
from nmt.run.folder import RunDir
from nmt.run.provenance import Imported, Provenance

_FULL_WIDTH = "，。？！：；"
_UNKNOWN = f"neither Hugging Face MarianMT ({marian_hf.CONFIG}) nor a Marian model (.npz, .bin)"


@dataclass(frozen=True)
class Found:
    """Where a model lies, and what names it."""

    folder: Path
    name: str
    revision: str | None = None  # on the hub
    licence: str | None = None  # where the folder does not say it


def import_run(
    source: str, folder: Path, prefix: str | None, revision: str | None, say: Say
) -> RunDir:
    """Make `folder` a run of the model in `source`: a folder, `owner/name` on the hub, or `firefox`.

    `prefix` is put before each source; None leaves the choice to `choose_prefix`. Raises ModelError for a model that
    is missing, damaged, or not to be expressed, ConfigError for an unfit `folder`, `prefix` or `revision`.
    """
    refuse_taken(folder, FREE)
    with readable_or(ModelError), _found(source, revision, say) as found:
        refuse_special_files([found.folder])
        model = read_model(found.folder)
        licence = stated_licence(found.folder) or found.licence
        provenance = _provenance(found, model, licence)
    vocab = model.src.tokens.vocab()
    chosen = choose_prefix(vocab, prefix, found.name)
    run = write_run(model, folder, chosen, provenance)

    for line in _description(found, model, licence):
        say(f"nmt: {line}")
    if target_tokens(vocab):
        say(f"nmt: {_prefix_line(chosen)}; --prefix chooses among {named(vocab)}")
    say(f"nmt: made {folder}; try: echo Hello. | nmt translate --model {folder}")
    return run


def read_model(folder: Path) -> Marian:
    """The model in a folder. Raises ModelError if there is none, or none that nmt can express."""
    return _reader(folder)(folder)


def _reader(folder: Path) -> Callable[[Path], Marian]:
    if (folder / marian_hf.CONFIG).exists():
        return marian_hf.read_marian_hf
    if marian_files.has_marian_files(folder):
        return marian_files.read_marian_files
    raise ModelError(f"{folder}: {_UNKNOWN}; name a folder with one of these")


@contextmanager
def _found(source: str, revision: str | None, say: Say) -> Iterator[Found]:
    """The model that `source` means, in a folder that is there as long as it is read."""
    path = Path(source)
    if path.is_dir():
        hub.refuse_revision_of_folder(path, revision)
        yield Found(path, source)
    elif source == firefox_models.NAME:
        if revision is not None:
            message = "the newest model is taken; only models on the hub have revisions"
            raise ConfigError(f"command line: --revision {revision}: {message}")
        with TemporaryDirectory() as place:
            released = firefox_models.fetch(Path(place), say)
            name = f"{source} {released.architecture}"
            yield Found(Path(place), name, licence=firefox_models.LICENCE)
    elif path.exists() or not hub.is_name(source):
        fix = "name a folder, firefox, or a model on the hub as owner/name"
        raise ModelError(f"{source}: no such folder; {fix}")
    else:
        fetched, commit = hub.fetch(source, revision)
        yield Found(fetched, source, commit)


def _provenance(found: Found, model: Marian, licence: str | None) -> Provenance:
    """Where the model comes from; trainings that start from here pass it on."""
    sha256 = {path.name: checksum(path) for path in model.files}
    imported = Imported(found.name, found.revision, model.kind, sha256)
    return Provenance(versions={"nmt": __version__}, licence=licence, imported=imported)


def _description(found: Found, model: Marian, licence: str | None) -> list[str]:
    """What it is, its licence, and what it cannot do."""
    config = model.config
    revision = f" at {found.revision}" if found.revision else ""
    millions = sum(tensor.numel() for tensor in model.weights.values()) / 1e6
    layers = f"{config.encoder_layers}+{config.decoder_layers} layers"
    tokens = f"{len(model.src.tokens.listed):,} + {len(model.tgt.tokens.listed):,} tokens"
    if model.shared:
        tokens = f"{len(model.src.tokens.listed):,} tokens for both languages"
    lines = [
        f"{found.name}{revision}: {model.kind}, {millions:,.1f} million parameters, {layers}, {tokens}",
        f"licence: {licence}" if licence else "licence: none stated; ask whoever made the model",
    ]
    if not model.src.tokens.vocab().placeholders:
        lines.append(_WITHOUT_PLACEHOLDERS)
    written = set("".join(model.tgt.tokens.listed))
    lacking = "".join(mark for mark in _FULL_WIDTH if mark not in written)
    if lacking and model.tgt.language == "zh":
        fix = "search.typography, which is on, puts them in"
        lines.append(f"it cannot write {lacking!r}; {fix}")
    return lines


_WITHOUT_PLACEHOLDERS = (
    "it has no placeholders: URLs, code and the like go through it as text; "
    "a line in which one comes out changed is translated in parts around it"
)


def _prefix_line(chosen: tuple[str, ...]) -> str:
    return (
        f"each source begins with {chosen[0]}" if chosen else "no token names the target language"
    )

"""What a run is: its model, vocabularies, training, scores, data, versions, lineage and size on disk."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nmt.config.schema import Config
from nmt.errors import ModelError, Say
from nmt.files import readable_or
from nmt.report.run.provenance_facts import (
    IMPORTED,
    AncestorFacts,
    CorpusFacts,
    ancestors_of,
    corpora_of,
)
from nmt.report.run.run_files import Record, disk_use, number, report_of, section, whole
from nmt.report.run.scores import ScoreFacts, evaluated
from nmt.report.run.weights import parameters_by_part
from nmt.run import checkpoint
from nmt.run.folder import SIDES, RunDir, SideName
from nmt.run.provenance import Provenance
from nmt.text.vocab import Vocab


@dataclass(frozen=True)
class Training:
    """How far a training has come."""

    updates: int
    of: int
    minutes: float | None
    best: str | None  # a checkpoint's name
    checkpoints: list[str]
    resumed: list[int]  # after which updates


@dataclass(frozen=True)
class RunFacts:
    """What `nmt info` and a report's first part say of a run."""

    path: str
    src: str
    tgt: str
    checkpoint: str | None
    model: dict[str, Any]
    parameters: dict[str, int]
    vocabularies: dict[str, dict[str, Any]]
    pairs: dict[str, int]  # of train, dev and test
    training: Training
    scores: list[ScoreFacts]
    licence: str | None  # of the model
    corpora: list[CorpusFacts]
    versions: dict[str, str]
    lineage: list[AncestorFacts]
    disk: dict[str, int]  # bytes

    @property
    def imported(self) -> AncestorFacts | None:
        """The model from elsewhere that this is; None for a run that nmt trains."""
        newest = self.lineage[0] if self.lineage else None
        return newest if newest and newest.what == IMPORTED else None

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return asdict(self)


def read_facts(config: Config, run: RunDir, history: Path | None, warn: Say) -> RunFacts:
    """What a run's folder says of it; scores also from `history`, which `nmt evaluate --history` writes.

    `warn` gets a line about what was left out. Raises ModelError for a checkpoint, a report or a vocabulary that is
    damaged, or a checkpoint that `run` names and that is not there.
    """
    prepared = report_of(run.prepare_report)
    folder = run.checkpoint or _best(run, warn) or _last(run)
    meta = checkpoint.read_meta(folder) if folder else None
    provenance = meta.provenance if meta else Provenance()
    return RunFacts(
        path=str(run.path),
        src=config.src.language,
        tgt=config.tgt.language,
        checkpoint=folder.name if folder else None,
        model=config.model.model_dump(mode="json"),
        parameters=parameters_by_part(folder) if folder else {},
        vocabularies=_vocabularies(config, run),
        pairs=_pairs(prepared),
        training=_training(config, run),
        scores=_scores(run, folder, meta, history, warn),
        licence=config.train.licence or provenance.licence,
        corpora=corpora_of(config, prepared, provenance),
        versions=_versions(provenance),
        lineage=ancestors_of(provenance),
        disk=disk_use(run),
    )


def _best(run: RunDir, warn: Say) -> Path | None:
    """The best checkpoint; `warn` gets a line if the run names one that is missing."""
    found = checkpoint.best(run)
    if found is None and run.best.exists():
        warn(f"{run.best}: the checkpoint that it names is missing; showing the last one")
    return found


def _last(run: RunDir) -> Path | None:
    found = run.steps() or run.steps("average")
    return found[-1] if found else None


def _versions(provenance: Provenance) -> dict[str, str]:
    """Of the programs that made a checkpoint, and the commit if there is one."""
    commit = {"git": provenance.git} if provenance.git else {}
    return provenance.versions | commit


def _pairs(prepared: Record) -> dict[str, int]:
    pairs = {}
    for split in ("train", "dev", "test"):
        count = section(prepared, split).get("pairs")
        if isinstance(count, int):
            pairs[split] = count
    return pairs


def _vocabularies(config: Config, run: RunDir) -> dict[str, dict[str, Any]]:
    """For each side its tokenizer, size, and what it covers of dev, in percent."""
    report = report_of(run.vocab_report)
    found: dict[str, dict[str, Any]] = {}
    for name in SIDES:
        side = section(report, name)
        shares = {key: number(side.get(f"dev_{key}")) for key in ("coverage", "oov", "unk")}
        size = _vocabulary_size(run, name, whole(side.get("size")))
        tokenizer = config.side(name).tokenizer
        found[name] = {
            "tokenizer": tokenizer,
            "size": size,
            "spelling": whole(side.get("spelling")),
            **shares,
        }
    return found


def _vocabulary_size(run: RunDir, name: SideName, noted: int | None) -> int | None:
    """The tokens of a vocabulary; None before there is one. Raises ModelError if it is damaged, or not as `noted`."""
    path = run.vocab(name)
    if not (path.exists() or run.steps()):
        return None
    with readable_or(ModelError):
        size = len(Vocab.load(path))
    if noted not in (None, size):
        message = f"has {size:,} tokens, but {run.vocab_report.name} says {noted:,}"
        raise ModelError(f"{path}: {message}; restore it from a copy")
    return size


def _training(config: Config, run: RunDir) -> Training:
    from nmt.report.run.curves import resumptions

    steps = run.steps()
    best = checkpoint.best(run)
    last: Record = {}
    update = 0
    # An exported run may have no more than a mean of checkpoints.
    newest = steps[-1] if steps else best
    if newest:
        try:
            meta = checkpoint.read_meta(newest)
            last, update = section({"progress": meta.progress}, "progress"), meta.update
        except ModelError:
            pass  # `nmt translate` names it when it is used
    seconds = number(last.get("seconds"))
    return Training(
        updates=update,
        of=config.train.updates,
        minutes=None if seconds is None else seconds / 60,
        best=best.name if best else None,
        checkpoints=[path.name for path in run.steps_and_averages()],
        resumed=resumptions(run),
    )


def _scores(
    run: RunDir,
    folder: Path | None,
    meta: checkpoint.Meta | None,
    history: Path | None,
    warn: Say,
) -> list[ScoreFacts]:
    found = []
    if meta is not None:
        for metric, value in section({"scores": meta.scores}, "scores").items():
            measured = number(value)
            if measured is not None:
                signature = _signature(metric, meta)
                found.append(ScoreFacts(metric, measured, None, None, signature, "dev"))
    if history is not None and folder is not None:
        found += evaluated(run, folder, history, warn)
    return found


def _signature(metric: str, meta: checkpoint.Meta) -> str:
    """Sacrebleu's signature of a score on dev, of the version that measured it; "" for what it does not know."""
    from nmt.evaluation.metrics import METRICS, new_metric

    if metric not in METRICS:
        return ""
    measure = new_metric(metric)
    measure.corpus_score(["一"], [["一"]])  # only then does it know its number of references
    signature = str(measure.get_signature())
    version = meta.provenance.versions.get("sacrebleu", "unknown")
    return f"{signature.rpartition('version:')[0]}version:{version}"

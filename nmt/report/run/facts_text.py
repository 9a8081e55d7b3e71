"""What a run is, in one screen."""

from collections.abc import Iterator, Sequence

from nmt.report.run.facts import RunFacts
from nmt.report.run.provenance_facts import IMPORTED, AncestorFacts, CorpusFacts
from nmt.report.run.scores import ScoreFacts

UNSTATED = "no licence stated"
_MOST = 8  # corpora, checkpoints or scores that are listed; the others are counted


def facts_lines(facts: RunFacts) -> list[str]:
    """Lines of a name and what it has; a name is written once for several lines."""
    lines = []
    for name, values in [("run", [_title(facts)]), *facts_rows(facts)]:
        for value in values:
            lines.append(f"{name:<13} {value}")
            name = ""
    return lines


def facts_rows(facts: RunFacts) -> list[tuple[str, list[str]]]:
    """Names, each with one line or several."""
    rows = [
        ("model", _model(facts)),
        ("vocabularies", _vocabularies(facts)),
        ("training", _training(facts)),
        ("scores", _scores(facts.scores)),
        ("data", _data(facts)),
        ("licence", [facts.licence] if facts.licence and not facts.imported else []),
        ("lineage", _lineage(facts)),
        ("versions", [", ".join(f"{name} {value[:12]}" for name, value in facts.versions.items())]),
        ("disk", [_disk(facts.disk)]),
    ]
    present = [(name, [value for value in values if value]) for name, values in rows]
    return [(name, values) for name, values in present if values]


def _title(facts: RunFacts) -> str:
    at = f", {facts.checkpoint}" if facts.checkpoint else ""
    return f"{facts.path} ({facts.src} → {facts.tgt}{at})"


def model_line(model: dict[str, object]) -> str:
    """The shape of a Transformer in words."""
    layers = f"{model['encoder_layers']} + {model['decoder_layers']} layers"
    shape = f"d_model {model['d_model']}, {model['heads']} heads, d_ff {model['d_ff']}"
    kind = "Transformer with SSRU" if model.get("decoder") == "ssru" else "Transformer"
    return f"{kind}, {layers}, {shape}, {model['norm']}-norm, {model['activation']}"


def _model(facts: RunFacts) -> list[str]:
    lines = [model_line(facts.model)]
    if facts.parameters:
        parts = ", ".join(f"{part} {size:,}" for part, size in facts.parameters.items())
        lines.append(f"{sum(facts.parameters.values()):,} parameters: {parts}")
    return lines


def _vocabularies(facts: RunFacts) -> list[str]:
    lines = []
    for side, vocabulary in facts.vocabularies.items():
        size = vocabulary["size"]
        if size is None:
            continue
        line = f"{side}: {size:,} tokens ({vocabulary['tokenizer']})"
        if vocabulary["oov"] is not None:
            line += (
                f"; of dev {vocabulary['oov']:.2f} % OOV, {vocabulary['unk'] or 0:.2f} % unknown"
            )
        lines.append(line)
    return lines


def _training(facts: RunFacts) -> list[str]:
    training = facts.training
    if not training.checkpoints:
        return ["none yet"]
    if facts.imported:
        return [f"none by nmt: imported; checkpoint: {facts.checkpoint}"]
    minutes = "" if training.minutes is None else f" in {training.minutes:,.1f} minutes"
    line = f"{training.updates:,} of {training.of:,} updates{minutes}"
    if training.resumed:
        at = ", ".join(f"{update:,}" for update in training.resumed[:_MOST])
        line += f"; resumed after {at}"
    names = training.checkpoints
    kept = f"checkpoints: {', '.join(names[-_MOST:])}" + (
        f"; best: {training.best}" if training.best else ""
    )
    return [line, kept]


def _scores(scores: Sequence[ScoreFacts]) -> list[str]:
    lines = []
    for score in scores:
        interval = (
            f" [{score.low:.2f}, {score.high:.2f}]"
            if score.low is not None and score.high is not None
            else ""
        )
        value = f"{score.value:.4f}" if score.metric == "loss" else f"{score.value:.2f}"
        lines.append(
            f"{score.test_set()}: {score.metric} {value}{interval}  {score.signature}".rstrip()
        )
    return lines


def _data(facts: RunFacts) -> list[str]:
    pairs = ", ".join(f"{split} {count:,}" for split, count in facts.pairs.items())
    lines = [f"pairs: {pairs}"] if pairs else []
    for corpus in facts.corpora[:_MOST]:
        lines.append(corpus_line(corpus))
    if len(facts.corpora) > _MOST:
        others = facts.corpora[_MOST:]
        unstated = sum(corpus.licence is None for corpus in others)
        lines.append(
            f"and {len(others)} more corpora, {unstated} of them without a licence stated (--json has all)"
        )
    if any(corpus.licence is None for corpus in facts.corpora):
        lines.append("a corpus states its licence as `licence:` under data.corpora")
    return lines


def corpus_line(corpus: CorpusFacts) -> str:
    """A corpus with its pairs, licence and source."""
    kept = "" if corpus.kept is None else f": {corpus.kept:,} of {corpus.read or 0:,} pairs"
    weight = f" × {corpus.weight}" if corpus.weight != 1 else ""
    source = f", {corpus.source}" if corpus.source else ""
    return f"{corpus.name}{kept}{weight}; {corpus.licence or UNSTATED}{source}"


def _lineage(facts: RunFacts) -> list[str]:
    lines = []
    known = {(corpus.name, corpus.licence) for corpus in facts.corpora}
    for ancestor in facts.lineage:
        corpora = set(ancestor.corpora)
        told = None
        if len(corpora) > _MOST:
            many = f"{len(corpora)} corpora (--json has all)"
            told = "the same corpora" if corpora == known else many
        lines.append(ancestor_line(ancestor, told))
        known = corpora
    return lines


def ancestor_line(ancestor: AncestorFacts, corpora: str | None = None) -> str:
    """Where weights came from, with the licences that come with them; `corpora` stands for their list."""
    line = f"{ancestor.what} {ancestor.name}"
    if ancestor.revision:
        line += f" at {ancestor.revision}"
    if ancestor.kind:
        line += f" ({ancestor.kind})"
    if ancestor.updates:
        line += f" ({ancestor.updates:,} updates)"
    if ancestor.what == IMPORTED or ancestor.licence:
        line += f"; {ancestor.licence or UNSTATED}"
    if ancestor.corpora:
        line += f"; trained on {corpora or ', '.join(_stated(ancestor))}"
    return line


def _stated(ancestor: AncestorFacts) -> Iterator[str]:
    for name, licence in ancestor.corpora:
        yield f"{name} ({licence or UNSTATED})"


def _disk(parts: dict[str, int]) -> str:
    if not parts:
        return ""
    listed = ", ".join(f"{part} {bytes_text(size)}" for part, size in parts.items())
    return f"{bytes_text(sum(parts.values()))}: {listed}"


def bytes_text(size: int) -> str:
    """Bytes as people read them."""
    if size >= 1e9:
        return f"{size / 1e9:,.1f} GB"
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"

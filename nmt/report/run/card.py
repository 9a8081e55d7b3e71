"""A model card: Markdown with the front matter that the Hugging Face hub reads.

https://huggingface.co/docs/hub/model-cards names the keys of the front matter. What a run says was written by
others: the front matter is made by a YAML library, and Markdown's own signs in a text are escaped.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from nmt import __version__
from nmt.exchange.exporters.markdown import escaped
from nmt.report.run.facts import RunFacts
from nmt.report.run.facts_text import UNSTATED, ancestor_line, bytes_text, model_line
from nmt.report.run.provenance_facts import IMPORTED, CorpusFacts, conditions, licence_address
from nmt.report.run.scores import ScoreFacts

_DATASET = re.compile(r"https://huggingface\.co/datasets/([\w.-]+(?:/[\w.-]+)?)")


def model_card(facts: RunFacts) -> str:
    """The card of a run."""
    front = yaml.safe_dump(_front_matter(facts), sort_keys=False, allow_unicode=True)
    sections = [
        f"---\n{front}---\n\n# {escaped(_name(facts))}",
        _introduction(facts),
        _scores(facts.scores),
        _data(facts),
        _attribution(facts.corpora),
        _training(facts),
        _use(),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _name(facts: RunFacts) -> str:
    return facts.path.rstrip("/").rpartition("/")[2] or facts.path


def _code(text: str) -> str:
    """Text between backticks in a table, where only | has a meaning."""
    return "".join(c for c in text if c.isprintable() and c != "`").replace("|", "\\|")


def _front_matter(facts: RunFacts) -> dict[str, Any]:
    front: dict[str, Any] = {
        "language": [facts.src, facts.tgt],
        "license": _stated_licence(facts) or "unknown",
        "library_name": "nmt",
        "pipeline_tag": "translation",
        "tags": ["translation", "nmt"],
        "datasets": [_dataset(corpus) for corpus in facts.corpora],
        "metrics": sorted({score.metric for score in facts.scores} - {"loss"}),
    }
    on_the_hub = [each.name for each in facts.lineage if each.what == IMPORTED and each.revision]
    if on_the_hub:
        front["base_model"] = on_the_hub[0]
    results = list(_results(facts))
    if results:
        front["model-index"] = [{"name": _name(facts), "results": results}]
    return {key: value for key, value in front.items() if value}


def _stated_licence(facts: RunFacts) -> str | None:
    """The model's own licence, or else the newest that its weights came with."""
    licences = [facts.licence, *(ancestor.licence for ancestor in facts.lineage)]
    return next((licence for licence in licences if licence), None)


def _dataset(corpus: CorpusFacts) -> str:
    """The name of a corpus, as the hub has it if it comes from there."""
    on_the_hub = _DATASET.match(corpus.source or "")
    return on_the_hub[1] if on_the_hub else corpus.name


def _results(facts: RunFacts) -> Iterator[dict[str, Any]]:
    for score in facts.scores:
        if score.metric != "loss" and not score.lines_in_train:
            yield {
                "task": {"type": "translation", "name": f"Translation {facts.src}-{facts.tgt}"},
                "dataset": {"name": score.of, "type": score.of},
                "metrics": [
                    {"type": score.metric, "value": round(score.value, 2), "name": score.signature}
                ],
            }


def _introduction(facts: RunFacts) -> str:
    size = f", {sum(facts.parameters.values()):,} parameters" if facts.parameters else ""
    made = "imported" if facts.imported else "made"
    lines = [
        f"A model that translates `{facts.src}` into `{facts.tgt}`, {made} with nmt {__version__}.",
        "",
        f"- {model_line(facts.model)}{size}",
    ]
    for side, vocabulary in facts.vocabularies.items():
        if vocabulary["size"] is not None:
            lines.append(f"- {side}: {vocabulary['size']:,} tokens ({vocabulary['tokenizer']})")
    return "\n".join(lines)


def _scores(scores: list[ScoreFacts]) -> str:
    if not scores:
        return "## Scores\n\nNone measured yet."
    rows = ["| test set | metric | value | 95 % interval | signature |", "|---|---|---|---|---|"]
    for score in scores:
        interval = ""
        if score.low is not None and score.high is not None:
            interval = f"{score.low:.2f} – {score.high:.2f}"
        signature = f"`{_code(score.signature)}`" if score.signature else ""
        cells = [
            escaped(score.test_set()),
            escaped(score.metric),
            f"{score.value:.2f}",
            interval,
            signature,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return (
        "## Scores\n\n"
        + "\n".join(rows)
        + "\n\nScores on `dev` chose the checkpoint; they are of greedy search."
    )


def _data(facts: RunFacts) -> str:
    if facts.imported:
        return "## Data\n\nnmt does not know what an imported model was trained on; the page of its makers may say."
    if not facts.corpora:
        return "## Data\n\nThe run names no corpora."
    rows = ["| corpus | pairs kept | licence | source |", "|---|---|---|---|"]
    for corpus in facts.corpora:
        kept = "" if corpus.kept is None else f"{corpus.kept:,}"
        licence = escaped(corpus.licence or UNSTATED)
        rows.append(
            f"| {escaped(corpus.name)} | {kept} | {licence} | {escaped(corpus.source or '')} |"
        )
    text = "## Data\n\n" + "\n".join(rows)
    if any(corpus.licence is None for corpus in facts.corpora):
        text += "\n\n**For some of these corpora no licence is stated**: find out before you pass the model on."
    return text


def _attribution(corpora: list[CorpusFacts]) -> str:
    """What CC BY asks for: author or source, licence with its address, and that the work was changed."""
    lines = []
    for corpus in corpora:
        if corpus.licence is None:
            continue
        source = escaped(corpus.source) if corpus.source else "source not stated"
        address = licence_address(corpus.licence)
        licence = f"[{escaped(corpus.licence)}]({address})" if address else escaped(corpus.licence)
        asked = ", ".join(conditions(corpus.licence))
        ending = f": {asked}." if asked else "."
        lines.append(f"- {escaped(corpus.name)} ({source}), under {licence}{ending}")
    if not lines:
        return ""
    changed = "The texts were filtered, normalised and split for training by `nmt prepare`."
    return "## Attribution\n\n" + "\n".join(lines) + f"\n\n{changed}"


def _training(facts: RunFacts) -> str:
    lines = [f"- {_course(facts)}; checkpoint `{facts.checkpoint or 'none'}`"]
    lines += [f"- {escaped(ancestor_line(ancestor))}" for ancestor in facts.lineage]
    versions = ", ".join(f"{name} {value[:12]}" for name, value in facts.versions.items())
    if versions:
        lines.append(f"- versions: {escaped(versions)}")
    size = sum(facts.disk.values())
    if size:
        lines.append(f"- the run's folder takes {bytes_text(size)}")
    return "## Training\n\n" + "\n".join(lines)


def _course(facts: RunFacts) -> str:
    """How long it was trained."""
    if facts.imported:
        return "imported, not trained by nmt"
    minutes = facts.training.minutes
    took = "" if minutes is None else f" in {minutes:,.1f} minutes"
    return f"{facts.training.updates:,} updates{took}"


def _use() -> str:
    return "## Use\n\n```sh\nnmt translate --model FOLDER < input.txt > output.txt\n```"

"""What figures look like: one HTML file (of `templates`), which needs nothing from elsewhere.

Jinja2 escapes all text that the template does not call safe; that is our own style sheet, script, plots and rows,
which escape what they hold. The content security policy allows this script and this style sheet by their hashes,
and nothing else: were a text to slip through, it could still execute nothing.
"""

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.evaluation.results import SIGNIFICANT
from nmt.report.figures import Figures
from nmt.report.page.charts import Chart, quality_charts, training_charts
from nmt.report.page.html_text import visible
from nmt.report.page.plots import MARKS
from nmt.report.page.rows import Names, Rows, fault_bit, make_rows, marked
from nmt.report.run.facts_text import ancestor_line, facts_rows
from nmt.report.run.runs import RunPart
from nmt.report.systems.quality import MetricPart

_NAMED = 3  # systems in the title
_TEMPLATES = Path(__file__).parent / "templates"


def page_of(figures: Figures) -> str:
    """The page of some figures."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["seen"] = visible
    environment.filters["marked"] = lambda text, reference: Markup(marked(text, reference))  # noqa: S704 - it escapes
    environment.filters["pairs_of"] = pairs_of
    css, js = (_text(name) for name in ("page.css", "page.js"))
    template = environment.get_template("page.html")
    return template.render(
        figures=figures,
        title=_title(figures),
        policy=_policy(css, js),
        css=Markup(css),  # noqa: S704 - our own
        js=Markup(js),  # noqa: S704 - our own
        marks=MARKS,
        facts=[facts_rows(run.facts) for run in figures.runs],
        curves={
            axis: _safe(training_charts(figures.runs, axis)) for axis in ("updates", "minutes")
        },
        without_course=[without_course(run) for run in figures.runs if not run.course.curves],
        charts=_safe(quality_charts(figures.quality)) if figures.quality else [],
        leaders=[leaders(part) for part in figures.quality.metrics] if figures.quality else [],
        rows=_rows(figures),
        fault_bit=fault_bit,
    )


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _policy(css: str, js: str) -> str:
    """What the page may do: apply this style sheet and execute this script."""
    style, script = (_hash(text) for text in (css, js))
    rules = [f"style-src '{style}'", f"script-src '{script}'"]
    return "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _safe(charts: list[Chart]) -> list[dict[str, Any]]:
    """Charts whose SVG the template does not escape."""
    from markupsafe import Markup

    return [{"title": chart.title, "svg": Markup(chart.svg)} for chart in charts]  # noqa: S704 - plots.py's own


def without_course(run: RunPart) -> str:
    """What stands for the curves of a run that has none."""
    if run.facts.imported is None:
        return f"{run.name}: nothing is trained yet."
    origin = ancestor_line(run.facts.imported)
    return f"{run.name}: {origin}. nmt has not trained it, so there are no curves."


def _title(figures: Figures) -> str:
    if figures.quality is None:
        about = "Training" if any(run.course.curves for run in figures.runs) else "Model"
        return f"{about}: {', '.join(run.name for run in figures.runs)}"
    systems = figures.quality.systems
    if len(systems) > _NAMED:
        return f"Translations by {len(systems)} systems"
    return f"Translations: {', '.join(systems)}"


def _rows(figures: Figures) -> Rows | None:
    if figures.quality is None:
        return None
    names = Names(tuple(figures.quality.systems), figures.src, figures.tgt)
    return make_rows(figures.sentences, names)


@dataclass(frozen=True)
class Cell:
    """A system beside another one by a metric: its score minus the other's, and the p-values of both tests."""

    difference: float
    bootstrap: float
    randomisation: float
    is_won: bool


def pairs_of(part: MetricPart, one: int) -> list[Cell | None]:
    """A row of the matrix of systems [S]; None where a system would be beside itself."""
    row: list[Cell | None] = []
    for other, theirs in enumerate(part.scores):
        if other == one:
            row.append(None)
            continue
        difference = part.scores[one].value - theirs.value
        p_values = part.bootstrap[one][other], part.randomisation[one][other]
        is_better = difference < 0 if part.lower_is_better else difference > 0
        is_won = is_better and max(p_values) < SIGNIFICANT
        row.append(Cell(difference, *p_values, is_won))
    return row


def leaders(part: MetricPart) -> list[int]:
    """The systems than which no other is better by more than chance."""
    sign = -1 if part.lower_is_better else 1
    values = [sign * score.value for score in part.scores]
    found = []
    for one, value in enumerate(values):
        better = [
            other
            for other, theirs in enumerate(values)
            if theirs > value and part.randomisation[one][other] < SIGNIFICANT
        ]
        if not better:
            found.append(one)
    return found

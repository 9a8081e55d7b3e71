"""The plots of a page, as SVG: matplotlib draws them without a display, and text stays text.

Only numbers and our own words are drawn: names from files are in the page's legend, where they are escaped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from nmt.errors import ConfigError
from nmt.report.page.svg import GRID, cleaned, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of a series, in turn: not colour alone tells series apart. `MARKS` are the same shapes as text.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
MARKS = ("●", "■", "▲", "◆", "▼", "✚", "✖", "★", "◀", "▶")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)))
_SIZE = (4.6, 2.7)  # inches of 72 px
_FEW = 30  # points, up to which each is marked


@dataclass(frozen=True)
class Series:
    """What is drawn in the colour, mark and dash of `number`."""

    number: int
    x: Sequence[float]
    y: Sequence[float]
    star: tuple[float, float] | None = None  # a point that stands out
    breaks: Sequence[float] = ()  # places on the x axis to be marked


def refuse_without_matplotlib() -> None:
    """Raise ConfigError where the extra that draws, and compares lines, is not installed."""
    try:
        import jinja2  # noqa: F401
        import matplotlib as mpl  # noqa: F401
        import rapidfuzz  # noqa: F401
    except ImportError as error:
        fix = "pip install matplotlib jinja2 rapidfuzz"
        raise ConfigError(f"nmt report needs {error.name}; {fix}") from None


def lines(
    series: Sequence[Series],
    label: str,
    x_label: str,
    prefix: str,
    categories: Sequence[str] = (),
    is_log: bool = False,
) -> str:
    """Lines over a number, or over named categories; `prefix` begins the ids of this plot."""

    def draw(axes: "Axes") -> None:
        for each in series:
            _draw_line(axes, each)
        if categories:
            axes.set_xticks(range(len(categories)), categories)
            axes.set_xlim(-0.4, len(categories) - 0.6)
        if is_log:
            axes.set_yscale("log")
        axes.set_xlabel(x_label)

    return _plot(draw, label, prefix)


def _draw_line(axes: "Axes", each: Series) -> None:
    colour = series_colour(each.number)
    marker = _MARKERS[each.number % len(_MARKERS)] if len(each.x) <= _FEW else ""
    dash = _DASHES[each.number % len(_DASHES)]
    axes.plot(
        each.x, each.y, color=colour, marker=marker, markersize=4, linestyle=dash, linewidth=1.6
    )
    if each.star:
        axes.plot(*each.star, marker="*", markersize=13, color=colour, markeredgecolor="black")
    for place in each.breaks:
        axes.axvline(place, color=colour, linestyle=":", linewidth=1)


def _plot(draw: Callable[["Axes"], None], label: str, prefix: str) -> str:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": prefix,
        "text.parse_math": False,
        "axes.unicode_minus": True,
        "font.size": 9,
        "axes.edgecolor": GRID,
        "grid.color": GRID,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        axes.grid(visible=True, axis="y", linewidth=0.6)
        draw(axes)
        text = StringIO()
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return cleaned(text.getvalue(), prefix, label)

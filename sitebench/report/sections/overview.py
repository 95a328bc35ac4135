"""The chart at the top: a bar from zero for each operation and size, with its rate in words."""

from __future__ import annotations

from collections.abc import Sequence

from sitebench.report.charts import Chart, Spec, names, quantity, short, tell_apart
from sitebench.report.model import Report
from sitebench.report.paper import why
from sitebench.report.sections.rates import around, caller, lines
from sitebench.report.suite import RateFigure, ReportSuite, ops_per_s
from sitebench.runs.repeats import Series
from sitebench.units import format_rate
from sitebench.verdict.verdict import Quoted

_MOST_BARS = 24
"""More would push what follows off a screen: then each operation has its highest alone."""

_FEW_BARS, _TALL, _LOW = 9, 22, 13
"""So many bars are tall, in pixels; more of them are low."""

_WORDS = 112
"""Room for a rate in words to the right of the longest bar, in pixels."""

_Bar = tuple[str, str, Series]
"""Its series, its label, and what was measured."""


def figures(report: Report, suite: ReportSuite) -> list[RateFigure]:
    """Return one figure per operation: the first that the papers have of it."""
    found: dict[str, RateFigure] = {}
    for figure in suite.figures(report.specs(suite)):
        found.setdefault(figure.operation, figure)
    return list(found.values())


def chart(report: Report) -> Chart:
    """Return every operation's rate by size; of many, the highest of each operation."""
    found = [bar for each in _operations(report) for bar in each]
    title = "Operations per second"
    if len(found) > _MOST_BARS:
        found = [max(each, key=_rate) for each in _operations(report)]
        title += ": the highest of each operation"
    series = list(dict.fromkeys(bar[0] for bar in found))
    spans = [around(each, ops_per_s) for _, _, each in found]
    return Chart(
        id="overview",
        title=title,
        description="A bar for each operation and size: operations per second, from zero.",
        spec=_spec(series, len(found)),
        choices={
            "": {
                "bars": {
                    "series": names(bar[0] for bar in found),
                    "label": names(bar[1] for bar in found),
                    "rate": [short(_rate(bar), 5) for bar in found],
                    "low": [short(low, 5) for low, _ in spans],
                    "high": [short(high, 5) for _, high in spans],
                    "said": [_said(each) for _, _, each in found],
                    "invalid": names(why(each) for _, _, each in found),
                    "grade": names(each.grade for _, _, each in found),
                }
            }
        },
    )


def _operations(report: Report) -> list[list[_Bar]]:
    """Return the bars of each operation, by line and size."""
    made = []
    for suite in report.present:
        for figure in figures(report, suite):
            found = lines(report, suite.name, figure.operation)
            name, title = caller(report, found), suite.title_of(figure.operation)
            bars: list[_Bar] = []
            for line in found:
                for each in line.series:
                    words = [title, suite.sized(each.spec)]
                    words += [name(line)] if len(found) > 1 else []
                    series = line.run.label if len(report.runs) > 1 else title
                    bars.append((series, ", ".join(filter(None, words)), each))
            made.append(bars)
    return made


def _rate(bar: _Bar) -> float:
    """Return how long a bar is: one that is not usable has no length."""
    _, _, each = bar
    return (each.median(ops_per_s) or 0.0) if each.usable else 0.0


def _said(each: Series) -> str:
    rate = each.median(ops_per_s)
    if not each.usable or rate is None:
        return Quoted.NOT_USABLE
    bound = "" if each.valid else "at least "
    return f"{bound}{format_rate(rate)}/s"


def _spec(series: Sequence[str], bars: int) -> Spec:
    y: Spec = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "axis": {
            "title": None,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
            "labelLimit": {"expr": "max(170, containerSize()[0] * 0.4)"},
            "minExtent": 0,
            "maxExtent": 1_000,
        },
    }
    x = quantity(
        "rate",
        scale={"zero": True, "nice": False, "rangeMax": {"expr": f"max(40, width - {_WORDS})"}},
        # Each bar has its rate in words.
        axis=None,
    )
    colour = {**tell_apart("color", series), "legend": None}
    tooltip = [
        {"field": "label", "title": "point"},
        {"field": "said", "title": "rate"},
        quantity("low", title="from", format=",.4~r"),
        quantity("high", title="to", format=",.4~r"),
        {"field": "invalid", "title": "limited by"},
    ]
    bound = f"datum.grade === '{Quoted.AT_LEAST}'"
    return {
        "data": {"name": "bars"},
        "width": "container",
        "height": bars * (_TALL if bars <= _FEW_BARS else _LOW),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"y": y, "x": x},
        "layer": [
            {
                "mark": {"type": "bar", "strokeWidth": 1.5, "height": {"band": 0.72}},
                "encoding": {
                    "color": colour,
                    "stroke": colour,
                    # A lower bound is open towards what is not known.
                    "fillOpacity": {"condition": {"test": bound, "value": 0.2}, "value": 0.85},
                    "strokeDash": {"condition": {"test": bound, "value": [4, 3]}, "value": [1, 0]},
                    "tooltip": tooltip,
                },
            },
            {
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rule", "strokeWidth": 2, "style": "ink"},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 12},
                "encoding": {"text": {"field": "said"}},
            },
        ],
    }

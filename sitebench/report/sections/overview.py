"""The chart at the top: a bar from zero for each operation and size, with its rate in words."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from sitebench.report.charts import Chart, Spec, names, quantity, short, tell_apart
from sitebench.report.model import Report
from sitebench.report.sections import answers
from sitebench.report.sections.rates import around, caller, lines
from sitebench.report.suite import RateFigure, ReportSuite, ops_per_s
from sitebench.runs.repeats import Series
from sitebench.tables.tables import why
from sitebench.units import format_rate
from sitebench.verdict.verdict import Quoted

_MOST_BARS = 24
"""More would push what follows off a screen: then each operation has its highest alone."""

_FEW_BARS, _TALL, _LOW = 9, 22, 13
"""So many bars are tall, in pixels; more of them are low."""

_WORDS = 112
"""Room for a rate in words to the right of the longest bar, in pixels."""

_Span = tuple[float | None, float | None]

_Bar = tuple[str, str, Series, float, str, str, _Span]
"""Its series, its label, what was measured, how long it is, its rate in words, its grade, and how
far repeats lie apart, if that is known."""


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
        found = [max(each, key=itemgetter(3)) for each in _operations(report) if each]
        title += ": the highest of each operation"
    series = list(dict.fromkeys(bar[0] for bar in found))
    spans = [bar[6] for bar in found]
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
                    "rate": [short(bar[3], 5) for bar in found],
                    "low": [short(low, 5) for low, _ in spans],
                    "high": [short(high, 5) for _, high in spans],
                    "end": [
                        short(max(bar[3], high or 0.0), 5)
                        for bar, (_, high) in zip(found, spans, strict=True)
                    ],
                    "said": [bar[4] for bar in found],
                    "invalid": names(why(bar[2]) for bar in found),
                    "grade": names(bar[5] for bar in found),
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
                    words += [line.objective]
                    series = line.run.label if len(report.runs) > 1 else title
                    peak = line.run.found_at(each)
                    rate, said = _drawn(each) if peak is None else answers.rate_of(peak)
                    grade = Quoted.AT_LEAST if answers.is_open(peak) else each.grade
                    # What was asked for is the same in every repeat.
                    span: _Span = around(each, ops_per_s) if peak is None else (None, None)
                    label = ", ".join(filter(None, words))
                    bars.append((series, label, each, rate, said, grade, span))
            made.append(bars)
    return made


def _drawn(each: Series) -> tuple[float, str]:
    """Return how long a bar is, and its rate: one that is not usable has no length."""
    rate = each.median(ops_per_s)
    if not each.usable or rate is None:
        return 0.0, Quoted.NOT_USABLE
    bound = "" if each.valid else "at least "
    return rate, f"{bound}{format_rate(rate)}/s"


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
                # After the line of the interval, which would strike it through.
                "encoding": {"text": {"field": "said"}, "x": {**x, "field": "end"}},
            },
        ],
    }

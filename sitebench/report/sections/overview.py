"""The chart at the top: a bar from zero for each operation and size, with its rate in words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sitebench.report import charts
from sitebench.report.charts import Chart, Spec
from sitebench.report.model import Report, Run, is_open, rate_of
from sitebench.report.sections.rates import around, lines
from sitebench.runs.repeats import Series
from sitebench.tables.tables import ops_per_s, why
from sitebench.units import format_rate
from sitebench.verdict.verdict import Quoted

_MOST_BARS = 24
"""With more bars, only the highest of each operation is drawn, so that the chart stays low."""

_FEW_BARS, _TALL, _LOW = 9, 22, 13
"""The height of a bar is `_TALL` pixels for up to `_FEW_BARS` bars, and `_LOW` for more."""

_WORDS = 112
"""Pixels for a rate in words, right of the longest bar."""


class _Bar(msgspec.Struct, frozen=True):
    colour: str
    label: str
    series: Series
    rate: float
    words: str
    grade: str
    low: float | None = None
    high: float | None = None
    """The interval of repeats, if known."""

    @property
    def end(self) -> float:
        return max(self.rate, self.high or 0.0)


def rate(series: Series) -> float:
    return series.median(ops_per_s) or 0.0


def chart(report: Report) -> Chart:
    """Return every operation's rate by size; with many bars, only each operation's highest rate.

    Operations with several sizes have scales of their own: their rates are not compared.
    """
    operations = [bars for bars in _operations(report) if bars]
    title = "Operations per second"
    if sum(map(len, operations)) > _MOST_BARS:
        operations = [[max(bars, key=lambda bar: bar.rate)] for bars in operations]
        title += ": the highest of each operation"
    several = any(len(bars) > 1 for bars in operations)
    if several and len(operations) > 1:
        title += ", each operation on its own scale"
    bars = [bar for group in operations for bar in group]
    highest = max((bar.end for bar in bars), default=0.0)
    scales = [
        max(b.end for b in group) if several else highest for group in operations for _ in group
    ]
    lengths = [1.0 / scale if scale else 0.0 for scale in scales]
    return Chart(
        id="overview",
        title=title,
        description="A bar for each operation and size: operations per second, from zero.",
        spec=_spec(list(dict.fromkeys(bar.colour for bar in bars)), len(bars)),
        choices={
            "": {
                "bars": charts.dataset(
                    (
                        *("series", "label", "rate", "low", "high"),
                        *("unit", "end", "words", "invalid", "grade"),
                    ),
                    (
                        (
                            *(bar.colour, bar.label, bar.rate, bar.low, bar.high),
                            *(length, bar.end, bar.words, why(bar.series), bar.grade),
                        )
                        for bar, length in zip(bars, lengths, strict=True)
                    ),
                )
            }
        },
    )


def _operations(report: Report) -> list[list[_Bar]]:
    operations = []
    for suite in report.present:
        for operation in report.operations(suite):
            measured, title = lines(report, suite.name, operation), suite.title_of(operation)
            bars: list[_Bar] = []
            for line in measured:
                colour = line.run.label if len(report.runs) > 1 else title
                for series in line.series:
                    words = [title, suite.size_of(series.spec)]
                    words += [line.name] if len(measured) > 1 else []
                    label = ", ".join(filter(None, [*words, line.objective]))
                    bars.append(_Bar(colour, label, series, *_rate_row(line.run, series)))
            operations.append(bars)
    return operations


def _rate_row(run: Run, series: Series) -> tuple[float, str, str, float | None, float | None]:
    """Return a rate as a number and in words, its grade, and the interval of repeats."""
    peak = run.found_at(series)
    if peak is not None:
        grade = Quoted.AT_LEAST if is_open(peak) else series.grade
        # All repeats of a search have the same requested rate.
        return *rate_of(peak), grade, None, None
    if not series.usable:
        return 0.0, Quoted.NOT_USABLE, Quoted.NOT_USABLE, None, None
    bound = "" if series.valid else "at least "
    words = f"{bound}{format_rate(rate(series))}/s"
    return rate(series), words, series.grade, *around(series, ops_per_s)


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
    x = charts.quantity(
        "length",
        scale={"domain": [0, 1], "nice": False, "rangeMax": {"expr": f"max(40, width - {_WORDS})"}},
        # The text of each bar replaces the axis.
        axis=None,
    )
    colour = {**charts.tell_apart("color", series), "legend": None}
    tooltip = [
        {"field": "label", "title": "point"},
        {"field": "words", "title": "rate"},
        charts.quantity("low", title="from", format=",.4~r"),
        charts.quantity("high", title="to", format=",.4~r"),
        {"field": "invalid", "title": "limited by"},
    ]
    bound = f"datum.grade === '{Quoted.AT_LEAST}'"
    return {
        "data": {"name": "bars"},
        "transform": [
            {"calculate": f"datum.{name} * datum.unit", "as": length}
            for name, length in (
                ("rate", "length"),
                ("low", "least"),
                ("high", "most"),
                ("end", "after"),
            )
        ],
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
                    # A lower bound has a hollow bar, which shows that the true rate is higher.
                    "fillOpacity": {"condition": {"test": bound, "value": 0.2}, "value": 0.85},
                    "strokeDash": {"condition": {"test": bound, "value": [4, 3]}, "value": [1, 0]},
                    "tooltip": tooltip,
                },
            },
            {
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rule", "strokeWidth": 2, "style": "ink"},
                "encoding": {"x": {**x, "field": "least"}, "x2": {"field": "most"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 12},
                # The words are right of the interval, whose line would strike them through.
                "encoding": {"text": {"field": "words"}, "x": {**x, "field": "after"}},
            },
        ],
    }

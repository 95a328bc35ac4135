"""Rates and latencies against size; the papers' section adds the papers' machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from sitebench.report import charts
from sitebench.report.charts import Chart, Columns, Spec
from sitebench.report.model import Report, Run, distinguishing_label, load_key, variant_name
from sitebench.report.page import Section, figure
from sitebench.report.suite import RateFigure, ReportSuite
from sitebench.runs.repeats import Of, Series
from sitebench.tables.tables import ops_per_s, why
from sitebench.units import format_size


class _Line(msgspec.Struct, frozen=True):
    """One line of a chart: the sizes of one run, target and load."""

    name: str
    """The run, if there are several, and the settings that distinguish the line."""
    run: Run
    series: Sequence[Series]

    @property
    def objective(self) -> str:
        """The objective of the search that found the rate; empty without a search."""
        return str((self.run.found_at(self.series[0]) or {}).get("objective") or "")


def lines(report: Report, suite: str, operation: str) -> list[_Line]:
    """Return a line per run and target, at the load that has most sizes.

    If several loads have most sizes, the line is at the load with the highest rate, as in the
    papers. If a search with an objective was made, the line has the rates that it found.
    """
    best: list[tuple[Run, list[Series]]] = []
    for run in report.runs:
        groups: dict[tuple[str, str], dict[str, list[Series]]] = {}
        for series in run.series:
            spec = series.spec
            if (spec.suite, spec.operation) == (suite, operation) and not run.probes(series):
                objective = (run.found_at(series) or {}).get("objective", "")
                loads = groups.setdefault((variant_name(spec), objective), {})
                loads.setdefault("" if objective else load_key(spec), []).append(series)
        for loads in groups.values():
            group = max(loads.values(), key=_worth)
            best.append((run, sorted(group, key=lambda series: series.spec.size)))
    call = distinguishing_label(group[0].spec for _, group in best)
    drawn = []
    for run, group in best:
        words = [run.label if len(report.runs) > 1 else "", call(group[0].spec)]
        name = ", ".join(filter(None, words)) or f"today: {group[0].spec.target}"
        drawn.append(_Line(name, run, group))
    return drawn


def _worth(group: list[Series]) -> tuple[int, bool, float]:
    rates = [series.median(ops_per_s) or 0.0 for series in group]
    return len({series.spec.size for series in group}), all(e.valid for e in group), max(rates)


def section(report: Report) -> Section | None:
    drawings = [
        _chart(report, suite, _today(suite, drawing), f"rate-{suite.name}-{drawing.name}")
        for suite in report.present
        for drawing in suite.figures(report.specs(suite))
        if _sizes(report, suite, drawing) > 1
    ]
    if not drawings:
        return None
    note = (
        '<p class="note">Both axes are logarithmic. A bar at a point shows how far its '
        'repeats lie apart. A hollow mark says "at least" (of a latency "at most") or "not '
        'usable". A click on a name in a legend, or the arrow keys on a figure, show one series '
        "alone.</p>"
    )
    body = f'<div class="grid">{"".join(map(figure, drawings))}</div>{note}'
    return Section("rates", "Rates", body, tuple(drawings), short="Rates")


def _today(suite: ReportSuite, figure: RateFigure) -> RateFigure:
    """Return a figure without the papers' machines; the title of a rate is its operation."""
    title = suite.title_of(figure.operation) if figure.of is ops_per_s else figure.title
    return replace(figure, printed=(), title=title)


def printed_figures(report: Report, suite: ReportSuite) -> list[Chart]:
    return [
        _chart(report, suite, figure, f"printed-{suite.name}-{figure.name}")
        for figure in suite.figures(report.specs(suite))
        if figure.printed
    ]


def _sizes(report: Report, suite: ReportSuite, figure: RateFigure) -> int:
    drawn = lines(report, suite.name, figure.operation)
    return len({series.spec.size for line in drawn for series in line.series})


def _chart(report: Report, suite: ReportSuite, figure: RateFigure, identity: str) -> Chart:
    drawn = lines(report, suite.name, figure.operation)
    machines = [printed.machine for printed in figure.printed]
    points = _columns(drawn, figure)
    peopled = not drawn or any(series.spec.entries for line in drawn for series in line.series)
    sizes = suite.size_title if peopled else "Clients"
    suffix = f", beside {' and '.join(machines)}" if machines else ""
    return Chart(
        id=identity,
        title=figure.title,
        description=(
            f"{figure.title}: {figure.unit} against {sizes.lower()}, both axes logarithmic{suffix}."
        ),
        spec=_spec(
            figure, list(dict.fromkeys(line.name for line in drawn)), machines, points, sizes
        ),
        choices={"": {"points": points}},
    )


def around(series: Series, metric: Of) -> tuple[float | None, float | None]:
    """Return the interval of repeats; (None, None) without repeats."""
    return (series.n > 1 and series.bounds(metric)) or (None, None)


def _columns(drawn: Sequence[_Line], figure: RateFigure) -> Columns:
    rows: list[tuple[Any, ...]] = []
    for line in drawn:
        for series in line.series:
            rate = series.median(figure.of)
            if rate is not None:
                low, high = around(series, figure.of)
                grade = series.latency_grade if figure.axis == "us" else series.grade
                n, size = series.n, series.spec.size
                people = format_size(size)
                rows.append((line.name, size, people, rate, low, high, n, why(series), grade))
    for printed in figure.printed:
        pairs = zip(printed.sizes, printed.rates, strict=True)
        rows += [
            (printed.machine, size, format_size(size), rate, None, None, None, "", "")
            for size, rate in pairs
        ]
    names = ("series", "size", "people", "rate", "low", "high", "repeats", "invalid", "grade")
    return charts.dataset(names, rows)


def _spec(
    figure: RateFigure, today: Sequence[str], machines: Sequence[str], columns: Columns, sizes: str
) -> Spec:
    points = charts.rows(columns)
    x = charts.quantity(
        "size",
        scale={"type": "log", "nice": False, "padding": 34},
        axis={
            "title": sizes,
            "labelExpr": "lower(format(datum.value, '~s'))",
            "grid": False,
            "values": sorted({row["size"] for row in points}),
            "labelOverlap": True,
        },
    )
    rates = [row[name] for row in points for name in ("rate", "low", "high") if row[name]] or [1.0]
    middle = math.sqrt(min(rates) * max(rates))
    # A narrower axis would make chance look like a slope.
    ends = [min(*rates, middle / 2), max(*rates, middle * 2)]
    y = charts.quantity(
        "rate",
        scale={"type": "log", "nice": False, "padding": 22, "domain": ends},
        axis=charts.log_axis(figure.axis, ends) | {"title": figure.unit},
    )
    in_us = ", us" if figure.axis == "us" else ""
    tooltip = [
        {"field": "series", "title": "machine"},
        {"field": "people", "title": sizes.lower()},
        charts.quantity("rate", title=f"{figure.unit}{in_us}", format=",.4~r"),
        charts.quantity("low", title="from", format=",.4~r"),
        charts.quantity("high", title="to", format=",.4~r"),
        charts.quantity("repeats", title="repeats"),
        {"field": "invalid", "title": "limited by"},
    ]

    def series_channel(channel: str) -> Spec:
        series = charts.tell_apart(channel, today, machines)
        # A single line needs no legend, as the title names it.
        return series if len(today) + len(machines) > 1 else series | {"legend": None}

    return charts.drawing(
        200,
        data={"name": "points"},
        usermeta={"series": "series"},
        encoding={"x": x, "y": y, "color": series_channel("color"), "opacity": charts.FADED},
        layer=[
            {
                "params": [charts.SHOWN],
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"strokeDash": series_channel("strokeDash")},
            },
            {
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            *charts.marks(series_channel("shape"), tooltip),
        ],
    )

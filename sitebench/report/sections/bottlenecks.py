"""The bottleneck of every point: Tables 10, 11, 15 and 16 of the paper, with today's figures."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series
from sitebench.tables.bottlenecks import comments, overview
from sitebench.tables.html import to_html
from sitebench.tables.table import Row, Table
from sitebench.tables.tables import medians, show_micros
from sitebench.units import format_bytes


def tables(report: Report) -> list[Table]:
    return [
        table
        for run in report.runs
        for table in (_overview(report, run), _costs(report, run), *_costs_of_suites(report, run))
    ]


def section(report: Report) -> Section | None:
    parts = []
    for run in report.runs:
        parts.append(to_html(_overview(report, run)))
        named_series = ((report.distinct_name(series.spec, run), series) for series in run.series)
        inside = "".join(to_html(comments(name, series)) for name, series in named_series)
        parts.append(f"<details><summary>Evidence for each point</summary>{inside}</details>")
        parts += map(to_html, (_costs(report, run), *_costs_of_suites(report, run)))
    for suite in report.present:
        printed = "".join(map(to_html, suite.bottlenecks_1997))
        if printed:
            title = f"The paper's findings of 1997 ({suite.title.lower()})"
            parts.append(f"<details><summary>{title}</summary>{printed}</details>")
    return Section("bottlenecks", "What limited it", "".join(parts), short="Bottlenecks")


def _overview(report: Report, run: Run) -> Table:
    points = [(report.distinct_name(series.spec, run), series) for series in run.series]
    return overview(report.title_for("Bottlenecks", run), points)


def _costs(report: Report, run: Run) -> Table:
    rows: list[Row] = [
        [report.distinct_name(series.spec, run), *(_cost(series, *c) for c in _COSTS.values())]
        for series in run.series
    ]
    notes = ["Per operation that succeeded; medians over repeats. n/a: not monitored."]
    title = report.title_for("What one operation costs your server", run)
    return Table(title, ("Point", *_COSTS), rows, notes=notes)


def _costs_of_suites(report: Report, run: Run) -> list[Table]:
    tables = []
    for suite in report.present:
        points = [
            (report.distinct_name(series.spec, run), series)
            for series in run.series
            if series.spec.suite == suite.name
        ]
        table = None if suite.costs is None else suite.costs(points)
        if table is not None:
            tables.append(structs.replace(table, title=report.title_for(table.title, run)))
    return tables


def _cost(series: Series, name: str, show: Callable[[float], str]) -> str:
    def of(result: PointResult) -> float | None:
        return None if result.demand is None else getattr(result.demand, name)

    return medians([series], of, show)[0]


_COSTS: dict[str, tuple[str, Callable[[float], str]]] = {
    "CPU": ("cpu_us", show_micros),
    "read from disk": ("read_bytes", format_bytes),
    "written to disk": ("written_bytes", format_bytes),
    "received": ("received_bytes", format_bytes),
    "sent": ("sent_bytes", format_bytes),
}
"""The fields of `Demand` by the columns of the table, and their formats."""

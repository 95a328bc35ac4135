"""Report of the site suite: Figures 3 and 4 and Tables 13 to 16 of the paper.

Figures are drawn from Tables 13 and 14. Bottlenecks are from pages 16 and 17, with comments in our
words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from ps_bench.paper.figures import figure_of
from ps_bench.paper.printed import PAPER, machine_of
from ps_bench.suite import SUITE
from sitebench.http.mix import off_by
from sitebench.report.paper import PaperTable, compare_with_paper
from sitebench.report.suite import (
    Folded,
    Printed,
    RateFigure,
    ReportSuite,
    besides_1997,
    bottlenecks,
)
from sitebench.runs.repeats import Series
from sitebench.tables.table import Cell, Mark, Table
from sitebench.tables.tables import measurement_rows, medians, rate_mark, repeat_rows
from sitebench.units import format_ns, format_size

_TITLES = {
    "scenario": "User scenario",
    "page": "Page alone",
    "create": "Create alone",
    "update": "Update alone",
    "image": "Image alone",
}

_COUNTED = {
    "web-pages": ("Web pages requested", "Web pages requested/sec", "web_pages_per_s"),
    "asp-requests": ("ASP requests", "ASP requests/sec", "asp_requests_per_s"),
    "upd-reads": ("UPD reads", "UPD reads/sec", "upd_reads_per_s"),
}
"""Curves of Figures 3 and 4: title, row in Tables 13 and 14, and name of the measured figure."""

_MAPPED = "Files mapped into memory; the disks read four times as much as they write"


def _bottlenecks(memory: str) -> Sequence[tuple[str, Cell, str]]:
    return (
        ("CPU", Cell("No", Mark.NO), "Used less as the database grows"),
        ("Network", Cell("No", Mark.NO), "Less than 15 % of the bandwidth used"),
        ("Memory", Cell("No", Mark.NO), f"{memory} available; many page faults with big databases"),
        ("Operating system", Cell("No", Mark.NO), ""),
        ("Web server software", Cell("Possible", Mark.POSSIBLE), "With more ASP requests"),
        ("PS software", Cell("Possible", Mark.POSSIBLE), "With more users at a time"),
        ("Disk subsystem", Cell("Yes", Mark.PRIMARY), _MAPPED),
    )


def _figure(name: str) -> RateFigure:
    title, row, figure = _COUNTED[name]
    printed = [
        Printed(f"{machine_of(table)}, 1997", PAPER.sizes, [float(cell) for cell in rows[row]])
        for table, rows in PAPER.tables.items()
    ]
    return RateFigure(
        name, title, "scenario", figure_of(figure), printed, ours=lambda s: not s.of_a_file
    )


def _paper_table(points: Sequence[Series]) -> Table:
    operation = points[0].spec.operation
    rows = measurements(points) | repeat_rows(points, _counted_as(points))
    printed_tables = [
        PaperTable(f"{machine_of(name)}, {name.partition(':')[0]}", PAPER.sizes, printed)
        for name, printed in PAPER.tables.items()
    ]
    comparable = operation == "scenario" and not any(point.spec.of_a_file for point in points)
    title = _TITLES.get(operation, operation)
    table = compare_with_paper(title, points, rows, printed_tables if comparable else ())
    by_user = points[0].spec.settings.get("keepalive") == "true"
    note = f"One connection per {'user' if by_user else 'request'}."
    return structs.replace(table, notes=[*table.notes, note])


def _counted_as(points: Sequence[Series]) -> str:
    of_file = any(point.spec.of_a_file for point in points)
    return "Operations/sec" if of_file else "ASP requests/sec"


def measurements(points: Sequence[Series]) -> dict[str, list[str]]:
    """Return the eight rows of Tables 13 and 14, or fewer rows for a scenario file."""
    rate = _counted_as(points)
    rows = measurement_rows(points, rate)
    rows["Average Connect Time"] = medians(
        points, figure_of("connect_s"), lambda seconds: format_ns(seconds * 1e9)
    )
    if rate != "ASP requests/sec":
        return rows
    for _, row, figure in _COUNTED.values():
        rows[row] = [rate_mark(point, figure_of(figure)) for point in points]
    return {name: rows[name] for name in PAPER.tables["Table 13: ProLiant 2500"]}


def _mixes(points: Sequence[Series]) -> list[Folded]:
    """Return the mix of operations, and its largest gap to the scenario's mix.

    Every deck has the exact mix (100 operations in the paper), but each edge of the window cuts one
    deck per thread. Of several repeats the repeat with the largest gap is shown.
    """
    rows = [
        [
            point.spec.operation,
            format_size(point.spec.entries),
            ", ".join(_share(name, counted) for name, counted in mix.items()),
            f"{off_by(mix):.1f} operations",
        ]
        for point in points
        for mix in max(
            (result.figures.get("mix", {}) for result in point.results),
            key=lambda mixes: max(map(off_by, mixes.values()), default=0.0),
        ).values()
    ]
    columns = ("Operation", "Size", "Mix", "off by")
    table = Table("Request mix, exact in every deck of its shares", columns, rows, left=3)
    return [Folded("Request mix", [table])] if rows else []


def _share(name: str, mix: Mapping[str, Any]) -> str:
    return f"{name} {mix['percent']:.2f}% of {mix['asked_percent']:g}% ({mix['count']:,})"


REPORT = ReportSuite(
    name=SUITE.name,
    title=SUITE.title,
    size_title="People in the user property database",
    people="people",
    rates=[_figure(name) for name in _COUNTED],
    operations=_TITLES,
    paper_table=_paper_table,
    tables=_mixes,
    printed_1997=[besides_1997(PAPER)],
    bottlenecks_1997=[
        bottlenecks(
            15,
            "ProLiant 2500",
            _bottlenecks("87 to 96 MB"),
            "Table 13 has 83 MB available with a million people.",
        ),
        bottlenecks(
            16,
            "ProLiant 7000",
            _bottlenecks("Over 200 MB"),
            "By Table 14 the CPU is used more with 10,000 people (96.4 %) than 1,000 (93.9 %).",
        ),
    ],
)

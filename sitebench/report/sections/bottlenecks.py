"""What was the bottleneck: Tables 10, 11, 15 and 16 of the paper, for every point of today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.report.paper import marked
from sitebench.report.table import Cell, Mark, ReportTable, Row
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series
from sitebench.tables.bottlenecks import TITLES, WORDS, findings_of
from sitebench.tables.tables import medians, show_micros
from sitebench.units import format_bytes
from sitebench.verdict.finding import Finding, Grade

_MARKS = {
    Grade.PRIMARY: Mark.PRIMARY,
    Grade.TAKEN: Mark.TAKEN,
    Grade.POSSIBLE: Mark.POSSIBLE,
    Grade.NO: Mark.NO,
    Grade.UNKNOWN: Mark.UNKNOWN,
}


def tables(report: Report) -> list[ReportTable]:
    """Return the tables of each run: resources of its points, and what their operations cost."""
    return [
        table
        for run in report.runs
        for table in (_overview(report, run), _costs(report, run), *_costs_of_suites(report, run))
    ]


def section(report: Report) -> Section | None:
    """Return the tables, the evidence of every point, and what 1997 found."""
    parts = []
    for run in report.runs:
        parts.append(_overview(report, run).to_html())
        inside = "".join(_comments(report, run, each).to_html() for each in run.series)
        parts.append(f"<details><summary>Evidence for each point</summary>{inside}</details>")
        parts += [each.to_html() for each in (_costs(report, run), *_costs_of_suites(report, run))]
    for suite in report.present:
        printed = "".join(each.to_html() for each in suite.bottlenecks_1997)
        if printed:
            title = f"What the paper found in 1997 ({suite.title.lower()})"
            parts.append(f"<details><summary>{title}</summary>{printed}</details>")
    return Section("bottlenecks", "What limited it", "".join(parts), short="Bottlenecks")


def _overview(report: Report, run: Run) -> ReportTable:
    rows: list[Row] = [
        [report.distinct_name(each.spec, run), *_grades(each), _bound(each)] for each in run.series
    ]
    columns = ("Point", *TITLES.values(), "Verdict")
    return ReportTable(report.titled("Bottlenecks", run), columns, rows, left=len(columns))


def _costs(report: Report, run: Run) -> ReportTable:
    """Return what one operation of each point costs the target."""
    rows: list[Row] = [
        [report.distinct_name(each.spec, run), *(_cost(each, *shown) for shown in _COSTS.values())]
        for each in run.series
    ]
    notes = ["Per operation that succeeded; medians over repeats. n/a: not monitored."]
    title = report.titled("What one operation costs your server", run)
    return ReportTable(title, ("Point", *_COSTS), rows, notes=notes)


def _costs_of_suites(report: Report, run: Run) -> list[ReportTable]:
    """Return what only a suite knows of its operations' costs."""
    tables = []
    for suite in report.present:
        points = [
            (report.distinct_name(each.spec, run), each)
            for each in run.series
            if each.spec.suite == suite.name
        ]
        table = None if suite.costs is None else suite.costs(points)
        if table is not None:
            tables.append(replace(table, title=report.titled(table.title, run)))
    return tables


def _cost(each: Series, name: str, show: Callable[[float], str]) -> str:
    def of(result: PointResult) -> float | None:
        return None if result.demand is None else getattr(result.demand, name)

    return medians([each], of, show)[0]


_COSTS: dict[str, tuple[str, Callable[[float], str]]] = {
    "CPU": ("cpu_us", show_micros),
    "read from disk": ("read_bytes", format_bytes),
    "written to disk": ("written_bytes", format_bytes),
    "received": ("received_bytes", format_bytes),
    "sent": ("sent_bytes", format_bytes),
}
"""What an operation costs, by the columns of the table, and how it is shown."""


def _grades(each: Series) -> list[Cell]:
    found = findings_of(each)
    return [_cell(found.get(resource)) for resource in TITLES]


def _cell(finding: Finding | None) -> Cell:
    if finding is None:
        return Cell(WORDS[Grade.UNKNOWN], Mark.UNKNOWN, "this run file does not say")
    grade = Grade(finding.grade)
    return Cell(WORDS[grade], _MARKS[grade], finding.evidence)


def _bound(each: Series) -> Cell:
    verdicts = {r.verdict.bound: r.verdict for r in each.results}
    evidence = "; ".join(dict.fromkeys(v.evidence for v in verdicts.values()))
    cell = marked(each, ", ".join(verdicts))
    return cell if isinstance(cell, Cell) else Cell(cell, Mark.PLAIN, evidence)


def _comments(report: Report, run: Run, each: Series) -> ReportTable:
    """Return the paper's table of one point: resource, bottleneck, comment."""
    found = findings_of(each)
    rows = []
    for resource, title in TITLES.items():
        finding = found.get(resource)
        cell = _cell(finding)
        rows.append((title, Cell(cell.text, cell.mark), finding.evidence if finding else cell.why))
    evidence = "; ".join(dict.fromkeys(r.verdict.evidence for r in each.results))
    return ReportTable(
        report.distinct_name(each.spec, run),
        ("Resource", "Bottleneck", "Comment"),
        rows,
        left=3,
        notes=[f"Verdict: {_bound(each).text}: {evidence}"],
    )

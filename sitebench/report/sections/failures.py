"""What failed, by kind, and points that came to no result."""

from __future__ import annotations

from sitebench.report.model import Report, Run, display_name
from sitebench.report.page import Section
from sitebench.report.table import Row, Table


def tables(report: Report) -> list[Table]:
    """Return operations that failed by kind, and points without a result."""
    made = [_by_kind(report, run) for run in report.runs] + [
        _points(report, run) for run in report.runs
    ]
    return [table for table in made if table.rows]


def section(report: Report) -> Section | None:
    """Return the tables, or that nothing failed: that is an answer too."""
    found = tables(report)
    body = "".join(table.to_html() for table in found)
    return Section("failures", "Failures", body or "<p>No operation failed, and no point.</p>")


def _title(report: Report, run: Run, title: str) -> str:
    return title if len(report.runs) == 1 else f"{title}: {run.label}"


def _by_kind(report: Report, run: Run) -> Table:
    rows: list[Row] = []
    for point in run.points:
        suite = report.suite(point.spec.half)
        name = display_name(point.spec, suite.people, suite.title_of(point.spec.operation))
        done = point.result.operations
        for kind, n in sorted(point.result.failures_by_kind.items()):
            share = n / (done + point.result.failures)
            rows.append([name, kind, f"{n:,}", f"{share:.3%}"])
    title = _title(report, run, "Failed operations by kind")
    return Table(title, ("Point", "Kind", "count", "share"), rows, left=2)


def _points(report: Report, run: Run) -> Table:
    rows: list[Row] = []
    for each in run.missing:
        suite = report.suite(each.spec.half)
        name = display_name(each.spec, suite.people, suite.title_of(each.spec.operation))
        why = each.error or {"message": "", "remedy": "the same command goes on with the run"}
        rows.append([name, each.status, why.get("message", ""), why.get("remedy", "")])
    title = _title(report, run, "Points without a result")
    return Table(title, ("Point", "Status", "What happened", "What to do"), rows, left=4)

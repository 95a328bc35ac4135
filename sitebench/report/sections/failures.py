"""Failed operations by kind, and points without a result."""

from __future__ import annotations

from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.tables.html import to_html
from sitebench.tables.table import NOTHING, Row, Table


def tables(report: Report) -> list[Table]:
    pairs = ((make, run) for make in (_by_kind, _points) for run in report.runs)
    return [table for make, run in pairs if (table := make(report, run)).rows]


def section(report: Report) -> Section | None:
    """Return the tables; without failures, a sentence says that no operation failed."""
    body = "".join(map(to_html, tables(report)))
    return Section("failures", "Failures", body or "<p>No failures.</p>")


def _by_kind(report: Report, run: Run) -> Table:
    rows: list[Row] = []
    failed = [stored.result for stored in run.missing if stored.result is not None]
    for result in (*run.results, *failed):
        attempts = result.attempts
        for kind, n in sorted(result.failures_by_kind.items()):
            example = result.examples.get(kind, "")
            share = f"{n / attempts:.3%}" if attempts else NOTHING
            rows.append([report.distinct_name(result.spec, run), kind, example, f"{n:,}", share])
    title = report.title_for("Failed operations by kind", run)
    return Table(title, ("Point", "Kind", "The first of them", "count", "share"), rows, left=3)


def _points(report: Report, run: Run) -> Table:
    rows: list[Row] = []
    for stored in run.missing:
        error = stored.error or {"message": "", "remedy": "the same command continues the run"}
        cells = (stored.status, error.get("message", ""), error.get("remedy", ""))
        rows.append([report.distinct_name(stored.spec, run), *cells])
    title = report.title_for("Points without a result", run)
    return Table(title, ("Point", "Status", "What happened", "What to do"), rows, left=4)

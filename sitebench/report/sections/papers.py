"""The papers' tables with today's figures, and the papers' other tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from msgspec import structs

from sitebench.report.charts import Chart
from sitebench.report.model import Report, Run
from sitebench.report.page import Section, figure
from sitebench.report.sections.rates import lines, printed_figures
from sitebench.report.suite import Folded, ReportSuite
from sitebench.tables.html import to_html
from sitebench.tables.table import Table

_OF_A_PART = frozenset(("arrivals", "threads", "until"))
"""Settings that may differ between the parts of one sweep."""


def tables(report: Report) -> list[Table]:
    """Return a table per operation, run and target, and the suites' other tables."""
    folded = (table for group in _groups(report) for table in group.tables)
    return [*_of_operations(report), *folded]


def _of_operations(report: Report) -> list[Table]:
    paper_tables = []
    for suite in report.present:
        if suite.paper_table is None:
            continue
        for operation in report.operations(suite):
            for line in lines(report, suite.name, operation):
                table = suite.paper_table(line.series)
                title = f"{table.title} ({line.name})"
                paper_tables.append(structs.replace(table, title=title))
    return paper_tables


def _groups(report: Report) -> Iterator[Folded]:
    for suite in report.present:
        for runs in _sweeps(report, suite):
            measured = [
                series for run in runs for series in run.series if series.spec.suite == suite.name
            ]
            for tables_of in filter(None, (suite.tables, suite.printed_beside)):
                for group in tables_of(measured) if measured else ():
                    title = report.title_for(group.title, *runs)
                    yield Folded(title, group.tables, group.folded)
        yield from suite.printed_1997


def _sweeps(report: Report, suite: ReportSuite) -> list[Sequence[Run]]:
    """Return the runs of each sweep; all runs together if they are parts of one sweep.

    Parts of a sweep have no point in common, and have equal conditions except the load.
    """
    alone: list[Sequence[Run]] = [[run] for run in report.runs]
    pairs = [(run, series.spec) for run in report.runs for series in run.series]
    suite_pairs = [(run, spec) for run, spec in pairs if spec.suite == suite.name]
    loads = [(spec.operation, spec.users, spec.rate) for _, spec in suite_pairs]
    conditions = {
        (
            *(spec.target, spec.client, spec.entries),
            str(run.manifest.get("cpu")),
            *sorted(setting for setting in spec.settings.items() if setting[0] not in _OF_A_PART),
        )
        for run, spec in suite_pairs
    }
    one_sweep = len(set(loads)) == len(loads) and len(conditions) == 1
    return [report.runs] if one_sweep else alone


def _charts(report: Report) -> Iterator[Chart]:
    for suite in report.present:
        yield from printed_figures(report, suite)
        for n, runs in enumerate(_sweeps(report, suite)):
            measured = [
                series for run in runs for series in run.series if series.spec.suite == suite.name
            ]
            if suite.charts is not None and measured:
                for chart in suite.charts(measured):
                    yield _of_runs(report, runs, n, chart)


def _of_runs(report: Report, runs: Sequence[Run], n: int, chart: Chart) -> Chart:
    title = report.title_for(chart.title, *runs)
    return Chart(f"{chart.id}-{n}", title, chart.description, chart.spec, chart.choices)


def section(report: Report) -> Section | None:
    per_operation, groups = _of_operations(report), list(_groups(report))
    charts = tuple(_charts(report))
    if not per_operation and not groups:
        return None
    note = (
        '<p class="note">Sent and received are the target\'s. Available memory is the value at the '
        "end of the window, as the paper has it.</p>"
    )
    drawings = "".join(figure(chart) for chart in charts)
    body = f'<div class="grid">{drawings}</div>' if charts else ""
    body += "".join(map(to_html, per_operation)) + note if per_operation else ""
    body += "".join(_group(group) for group in groups)
    body = f"<details><summary>Tables and figures</summary>{body}</details>"
    return Section("papers", "The papers' tables with these results", body, charts, short="Paper")


def _group(group: Folded) -> str:
    inside = "".join(map(to_html, group.tables))
    title = escape(group.title)
    if group.folded:
        return f"<details><summary>{title}</summary>{inside}</details>"
    return f"<h3>{title}</h3>{inside}"

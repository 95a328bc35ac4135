"""The papers' tables with today's figures, and what they printed."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from sitebench.report.charts import Chart
from sitebench.report.model import Report, Run
from sitebench.report.page import Section, figure
from sitebench.report.sections.rates import caller, lines, printed_figures
from sitebench.report.suite import Folded
from sitebench.report.table import ReportTable


def tables(report: Report) -> list[ReportTable]:
    """Return a table per operation, run and target, and the suites' others."""
    found = _of_operations(report)
    return [*found, *(table for group in _others(report) for table in group.tables)]


def _of_operations(report: Report) -> list[ReportTable]:
    found = []
    for suite in report.present:
        if suite.paper_table is None:
            continue
        for operation in report.operations(suite):
            measured = lines(report, suite.name, operation)
            name = caller(report, measured)
            for line in measured:
                table = suite.paper_table(line.series)
                title = f"{table.title} ({name(line)})"
                found.append(ReportTable(title, table.columns, table.rows, table.left, table.notes))
    return found


def _others(report: Report) -> Iterator[Folded]:
    for suite in report.present:
        for run in report.runs:
            measured = [each for each in run.series if each.spec.suite == suite.name]
            if suite.tables is not None and measured:
                for group in suite.tables(measured):
                    yield Folded(report.titled(group.title, run), group.tables, group.folded)


def _charts(report: Report) -> Iterator[Chart]:
    for suite in report.present:
        yield from printed_figures(report, suite)
        for n, run in enumerate(report.runs):
            measured = [each for each in run.series if each.spec.suite == suite.name]
            if suite.charts is not None and measured:
                for chart in suite.charts(measured):
                    yield _of_run(report, run, n, chart)


def _of_run(report: Report, run: Run, n: int, chart: Chart) -> Chart:
    title = report.titled(chart.title, run)
    return Chart(f"{chart.id}-{n}", title, chart.description, chart.spec, chart.choices)


def section(report: Report) -> Section | None:
    found, others, charts = _of_operations(report), list(_others(report)), tuple(_charts(report))
    if not found and not others:
        return None
    note = (
        '<p class="note">Sent and received are the target\'s. Available memory is the value at the '
        "end of the window, as the paper has it.</p>"
    )
    drawings = "".join(figure(chart) for chart in charts)
    body = f'<div class="grid">{drawings}</div>' if charts else ""
    body += "".join(table.to_html() for table in found) + note if found else ""
    body += "".join(_group(each) for each in others)
    body = f"<details><summary>Tables and figures</summary>{body}</details>"
    return Section("papers", "The papers' tables with these results", body, charts, short="Paper")


def _group(group: Folded) -> str:
    inside = "".join(table.to_html() for table in group.tables)
    title = escape(group.title)
    if group.folded:
        return f"<details><summary>{title}</summary>{inside}</details>"
    return f"<h3>{title}</h3>{inside}"

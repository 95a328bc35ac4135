"""The paper's tables with today's figures, and those of 1997 below."""

from __future__ import annotations

from sitebench.report.model import Report
from sitebench.report.page import Section
from sitebench.report.sections.rates import caller, lines
from sitebench.report.table import Table


def tables(report: Report) -> list[Table]:
    """Return a table per operation, run and target."""
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
                found.append(Table(title, table.columns, table.rows, table.left, table.notes))
    return found


def section(report: Report) -> Section | None:
    found = tables(report)
    if not found:
        return None
    note = (
        '<p class="note">Sent and received are the target\'s. Available memory is the value at the '
        "end of the window, as the paper has it.</p>"
    )
    body = "".join(table.to_html() for table in found)
    return Section("papers", "The paper's tables with these results", body + note, short="Paper")

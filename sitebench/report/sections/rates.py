"""Operations per second against size."""

from __future__ import annotations

from sitebench.report.figures.rates import rate_chart
from sitebench.report.model import Report
from sitebench.report.page import Section, figure


def section(report: Report) -> Section | None:
    """Return a figure per operation, a row of them per suite."""
    parts, charts = [], []
    for suite in report.present:
        operations = dict.fromkeys(
            each.spec.operation for _, each in report.measured if each.spec.half == suite.name
        )
        found = [rate_chart(report, suite, each) for each in suite.figures(list(operations))]
        drawings = "".join(figure(chart) for chart in found)
        parts.append(f'<h3>{suite.title}</h3><div class="grid">{drawings}</div>')
        charts += found
    note = (
        '<p class="note">Both axes are logarithmic. A bar at a point is its interval over repeats; '
        "a hollow mark is a point that is not valid. A click on a name in a legend, "
        "or the arrow keys on a figure, show one series alone.</p>"
    )
    return Section(
        "rates",
        "Operations per second by size",
        "".join(parts) + note,
        tuple(charts),
        short="Rates",
    )

"""The percentile spectrum of every operation."""

from __future__ import annotations

from sitebench.report.figures.spectrum import CHOOSER, spectrum_chart
from sitebench.report.model import Report
from sitebench.report.page import Section, chooser, figure


def section(report: Report) -> Section | None:
    """Return the figure, with a list of groups to draw."""
    chart = spectrum_chart(report)
    if chart is None:
        return None
    body = chooser(CHOOSER, "Points", [("", list(chart.titles.items()))]) + figure(chart)
    return Section("spectrum", "Percentile spectrum", body, (chart,), short="Percentiles")

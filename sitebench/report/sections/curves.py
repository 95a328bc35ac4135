"""Latency against operations per second, where more than one load was measured."""

from __future__ import annotations

from html import escape

from sitebench.report.figures.curves import CHOOSER, curve_chart, curves
from sitebench.report.model import Report
from sitebench.report.page import Section, chooser, figure


def section(report: Report) -> Section | None:
    """Return the curve of each group, and the answer of the search for its peak."""
    chart = curve_chart(report)
    if chart is None:
        return None
    answers = "".join(
        f'<p data-chosen-by="{CHOOSER}" data-choice="{curve.id}" hidden>{escape(peak["said"])}</p>'
        for curve in curves(report)
        for peak in curve.peaks
    )
    body = chooser(CHOOSER, "Points", [("", list(chart.titles.items()))]) + answers + figure(chart)
    note = (
        '<p class="note">One mark per load, joined from the least to the greatest. A hollow mark '
        "is a point that is not valid.</p>"
    )
    return Section("curve", "Latency against load", body + note, (chart,), short="Load")

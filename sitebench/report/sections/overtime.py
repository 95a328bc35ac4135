"""One point over time."""

from __future__ import annotations

from sitebench.report.figures.overtime import CHOOSER, overtime_chart
from sitebench.report.model import Point, Report, Run, distinguishing_label
from sitebench.report.page import Section, chooser, figure
from sitebench.units import format_size


def section(report: Report) -> Section | None:
    """Return the figure, with a list of all points."""
    options = [
        (run.label, [(p.id, _name(report, run, p)) for p in run.points]) for run in report.runs
    ]
    titles = {identity: title for _, each in options for identity, title in each}
    chart = overtime_chart(report, titles)
    note = (
        '<p class="note screen-only">Drag moves in time, Shift and the wheel zoom, a double click '
        "goes back. The warm-up, before the measured window, is shaded: it is in no figure. In a "
        "long point neighbouring drains are merged, bucket by bucket.</p>"
    )
    body = chooser(CHOOSER, "Point", options) + figure(chart) + note
    return Section("over-time", "Over time", body, (chart,))


def _name(report: Report, run: Run, point: Point) -> str:
    spec = point.spec
    suite = report.suite(spec.half)
    call = distinguishing_label(p.spec for p in run.points if p.spec.operation == spec.operation)
    words = [
        suite.title_of(spec.operation),
        f"{format_size(spec.entries)} {suite.people}",
        call(spec),
        f"repeat {spec.repeat + 1}" if any(p.spec.repeat for p in run.points) else "",
    ]
    mark = "" if point.result.verdict.valid else " (invalid)"
    return ", ".join(filter(None, words)) + mark

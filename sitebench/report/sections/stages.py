"""Tests in stages, minute by minute: requested rate, answered rate, and latency."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sitebench.counts.durations import OVER_TIME
from sitebench.counts.spans import Span
from sitebench.counts.stages import WITHIN_MINUTES_S, Stages
from sitebench.report import charts
from sitebench.report.charts import Chart, Columns, Spec
from sitebench.report.model import Point, Report, Run
from sitebench.report.page import Section, chooser, figure
from sitebench.tables.html import to_html
from sitebench.tables.spans import spans_table
from sitebench.tables.table import Table
from sitebench.units import format_clock

ASKED, ANSWERED, FAILED = "asked for", "answered", "failed"
_LATENCIES = (*OVER_TIME, "max")
_MOST_DOTS = 120
"""With more points a line is drawn without dots."""


def _staged_points(report: Report) -> list[tuple[Run, Point, Stages]]:
    return [
        (run, point, stages)
        for run in report.runs
        for point in run.points
        if point.result.spans and (stages := point.spec.stages) is not None
    ]


def tables(report: Report) -> list[Table]:
    return [
        spans_table(report.measurement_name(point.spec, run), stages, point.result.spans)
        for run, point, stages in _staged_points(report)
    ]


def section(report: Report) -> Section | None:
    staged = _staged_points(report)
    if not staged:
        return None
    titles = {
        point.id: report.title_for(report.measurement_name(point.spec, run), run)
        for run, point, _ in staged
    }
    minutes = max(stages.lasts_s for _, _, stages in staged) >= WITHIN_MINUTES_S
    users = any(stages.of_users for _, _, stages in staged)
    chart = Chart(
        id="stages",
        title="Rate and latency by stages",
        description=(
            "Above, the requested operations per second as a line, and answered and failed "
            "operations as bars; below, latencies. Operations are placed at the time when they "
            "were due"
            + (
                ", or, with stages of users, when they began; the line between shows the users."
                if users
                else "."
            )
        ),
        spec=_spec(
            "minutes" if minutes else "seconds",
            dotted=max(len(point.result.spans) for _, point, _ in staged) <= _MOST_DOTS,
            users=users,
        ),
        choices={
            point.id: _datasets(point.result.spans, stages, 60.0 if minutes else 1.0)
            for _, point, stages in staged
        },
        titles=titles,
    )
    details = "".join(
        f"<details><summary>{escape(table.title)}</summary>{to_html(table)}</details>"
        for table in tables(report)
    )
    body = chooser(chart, "Point") + figure(chart) + details
    return Section("stages", "Stages", body, (chart,))


def _datasets(spans: Sequence[Span], stages: Stages, unit_s: float) -> dict[str, Columns]:
    edges = [(ASKED, at_s / unit_s, level) for at_s, level in stages.edges]
    rates, latencies = [], []
    for span in spans:
        begin, end = span.begin_s / unit_s, (span.begin_s + span.seconds) / unit_s
        answered, failed = span.answered_per_s, span.failures / span.seconds
        clock = format_clock(span.begin_s)
        rates.append((ANSWERED, clock, begin, end, 0.0, answered, answered))
        rates.append((FAILED, clock, begin, end, answered, answered + failed, failed))
        latencies += [
            (name, clock, (begin + end) / 2, getattr(span.latency_us, name)) for name in _LATENCIES
        ]
    present = {name for name, _, _, us in latencies if us is not None}
    line = ("series", "t", "v")
    return {
        "asked": charts.dataset(line, [] if stages.of_users else edges),
        "users": charts.dataset(line, edges if stages.of_users else []),
        "rates": charts.dataset(("series", "from", "t", "u", "low", "high", "v"), rates),
        "latencies": charts.dataset(
            ("series", "from", "t", "v"), (row for row in latencies if row[0] in present)
        ),
    }


def _spec(unit: str, *, dotted: bool, users: bool) -> Spec:
    middle = [_users(unit)] if users else []
    return {
        "spacing": 10,
        "resolve": {"scale": {"x": "shared", "color": "independent", "strokeDash": "independent"}},
        "vconcat": [_rates(unit), *middle, _latencies(unit, dotted=dotted)],
    }


def _x(unit: str) -> Spec:
    axis = {"title": unit, "grid": False, "tickCount": 10}
    return charts.quantity("t", scale={"nice": False, "zero": True}, axis=axis)


def _rates(unit: str) -> Spec:
    axis = charts.AXES["count"] | {"title": "operations/s", "tickCount": 5}
    color = charts.tell_apart("color", (ANSWERED, FAILED, ASKED))
    color |= {"legend": charts.LEGEND_BESIDE | {"symbolOpacity": 1}}
    tooltip = [
        {"field": "from"},
        {"field": "series", "title": "operations"},
        charts.quantity("v", title="per second", format=",.4~r"),
    ]
    return charts.drawing(
        190,
        layer=[
            {
                "data": {"name": "rates"},
                "mark": {"type": "rect", "opacity": 0.55},
                "encoding": {
                    "x": _x(unit),
                    "x2": {"field": "u"},
                    "y": charts.quantity("low", scale={"zero": True}, axis=axis),
                    "y2": {"field": "high"},
                    "color": color,
                    "tooltip": tooltip,
                },
            },
            {
                "data": {"name": "asked"},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": _x(unit),
                    "y": charts.quantity("v", scale={"zero": True}, axis=axis),
                    "color": color,
                },
            },
        ],
    )


def _users(unit: str) -> Spec:
    return charts.drawing(
        80,
        data={"name": "users"},
        mark={"type": "line", "strokeWidth": 2},
        encoding={
            "x": _x(unit),
            "y": charts.quantity(
                "v",
                scale={"zero": True},
                axis=charts.AXES["count"] | {"title": "users", "tickCount": 3},
            ),
        },
    )


def _latencies(unit: str, *, dotted: bool) -> Spec:
    color, dash = (
        charts.tell_apart(name, _LATENCIES) | {"legend": charts.LEGEND_BESIDE}
        for name in ("color", "strokeDash")
    )
    tooltip = [
        {"field": "from"},
        {"field": "series", "title": "latency"},
        charts.quantity("v", title="us", format=",.4~r"),
    ]
    return charts.drawing(
        190,
        data={"name": "latencies"},
        mark={"type": "line", **({"point": {"size": 20}} if dotted else {})},
        encoding={
            "x": _x(unit),
            "y": charts.quantity(
                "v",
                scale={"type": "log", "nice": False, "padding": 8},
                axis=charts.AXES["us"] | {"title": "latency"},
            ),
            "color": color,
            "strokeDash": dash,
            "tooltip": tooltip,
        },
    )

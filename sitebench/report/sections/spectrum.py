"""The percentile spectrum: latency up to the percentile with 100 samples beyond it.

The axis is 1 / (1 - p), logarithmic, so that each decade of the tail has equal room. Repeats are
merged bucket by bucket; no percentile is averaged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sitebench._engine import Histogram
from sitebench.counts.durations import LEAST_BEYOND
from sitebench.report import charts
from sitebench.report.charts import Chart, Columns, Spec
from sitebench.report.model import Point, Report, Run, distinguishing_label, load_key, variant_name
from sitebench.report.page import Section, chooser, figure
from sitebench.runs.repeats import Series
from sitebench.tables.tables import load_name
from sitebench.verdict.verdict import Quoted

_PER_DECADE = 16
_LATENCY, _SERVICE = "latency", "service time"


class _Group(msgspec.Struct, frozen=True):
    """Points in one drawing: one operation at several sizes, or at several loads."""

    title: str
    series: Mapping[str, Sequence[Point]]
    """Repeats by the name of the series."""

    @property
    def points(self) -> list[Point]:
        return [point for points in self.series.values() for point in points]


def _groups(report: Report) -> dict[str, _Group]:
    """Return the choices by id: operations by size, then sizes by load."""
    drawn: list[_Group] = []
    for run in report.runs:
        groups: dict[tuple[str, ...], list[Point]] = {}
        for point in run.points:
            spec = point.spec
            if spec.entries:
                groups.setdefault(("sizes", variant_name(spec), load_key(spec)), []).append(point)
            loads = json.dumps([spec.entries, spec.rate is None])
            groups.setdefault(("loads", variant_name(spec), loads), []).append(point)
        for (kind, *_), points in groups.items():
            group = _group(report, run, kind, points)
            if len(group.series) > 1 or kind == "sizes" or not points[0].spec.entries:
                drawn.append(group)
    compared = {p.id for group in drawn if len(group.series) > 1 for p in group.points}
    distinct = [
        g for g in drawn if len(g.series) > 1 or any(p.id not in compared for p in g.points)
    ]
    return {f"s{n}": group for n, group in enumerate(distinct)}


def _group(report: Report, run: Run, kind: str, points: Sequence[Point]) -> _Group:
    spec = points[0].spec
    suite = report.suite(spec.suite)
    call = distinguishing_label(
        point.spec for point in report.points if point.spec.operation == spec.operation
    )
    series: dict[str, list[Point]] = {}
    for point in sorted(points, key=lambda p: (p.spec.entries, p.spec.rate or 0, p.spec.users)):
        name = suite.size_of(point.spec) if kind == "sizes" else load_name(point.spec)
        series.setdefault(name, []).append(point)
    suffix = "by size" if kind == "sizes" else "by users" if spec.rate is None else "by rate"
    words = [
        suite.title_of(spec.operation),
        call(spec) if kind == "sizes" else suite.size_of(spec) if spec.entries else "",
        suffix if len(series) > 1 else "",
    ]
    return _Group(report.title_for(", ".join(filter(None, words)), run), series)


def section(report: Report) -> Section | None:
    """Return the figure, which shows one group at a time."""
    groups = _groups(report)
    if not groups:
        return None
    chart = Chart(
        id="spectrum",
        title="Percentile spectrum",
        description=(
            "Latency at each percentile; the axis is logarithmic in the share that was slower. "
            "Solid: latency, dashed: service time."
        ),
        spec=_spec(),
        choices={choice: {"spectrum": _columns(group)} for choice, group in groups.items()},
        titles={choice: group.title for choice, group in groups.items()},
        key={
            "solid": "latency, from the intended start; in a closed schedule the two are one",
            "dashed": "service time, from the request's first byte sent",
            "end": f"a line ends where fewer than {LEAST_BEYOND} samples remain beyond it",
        },
    )
    body = chooser(chart, "Points") + figure(chart)
    return Section("spectrum", "Percentile spectrum", body, (chart,), short="Percentiles")


def _columns(group: _Group) -> Columns:
    rows: list[tuple[Any, ...]] = []
    for name, points in group.series.items():
        latency, service = Histogram(), Histogram()
        for point in points:
            latency.add(point.latency)
            service.add(point.service)
        grade = Series(points[0].spec, tuple(point.result for point in points)).latency_grade
        marked = name if grade == Quoted.MEASURED else f"{name} ({grade})"
        rows += [(marked, _LATENCY, x, value) for x, value in levels(latency)]
        if service != latency:
            rows += [(marked, _SERVICE, x, value) for x, value in levels(service)]
    return charts.dataset(("series", "clock", "x", "latency"), rows)


def levels(histogram: Histogram) -> list[tuple[float, float]]:
    """Return (1 / (1 - p), microseconds) up to the last p with 100 samples beyond it."""
    furthest = histogram.count / LEAST_BEYOND
    if furthest < 1.0:
        return []
    last = math.log10(furthest) * _PER_DECADE
    steps = [10 ** (n / _PER_DECADE) for n in range(math.floor(last) + 1)]
    if steps[-1] < furthest * 0.999:
        steps.append(furthest)
    points = [(x, histogram.percentile(100.0 * (1.0 - 1.0 / x)) / 1e3) for x in steps]
    return [(x, value) for x, value in points if value > 0]


def _spec() -> Spec:
    clock = {
        "field": "clock",
        "type": "nominal",
        "scale": {"domain": [_LATENCY, _SERVICE], "range": [[1, 0], [6, 4]]},
        "legend": None,
    }
    tooltip = [{"field": "series", "title": "point"}, {"field": "clock", "title": "clock"}]
    colour = charts.series_scale(charts.ALL_SERIES)
    return spectrum_spec("spectrum", tooltip, colour=colour, dash=clock, shape=colour)


def spectrum_spec(
    dataset: str, tooltip: Sequence[Spec], *, colour: Spec, dash: Spec, shape: Spec
) -> Spec:
    """Return a drawing of `levels`, latency over 1 / (1 - p); `tooltip` begins with the series."""
    label = "format(100 - 100 / datum.value, '.10~f') + '%'"
    x = charts.quantity(
        "x",
        scale={"type": "log", "nice": False, "domainMin": 1},
        axis={
            "title": "percentile",
            "labelExpr": label,
            "values": [1, 2, 4, 10, 20, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000],
            "labelOverlap": True,
        },
    )
    y = charts.quantity(
        "latency",
        scale={"type": "log", "nice": False, "padding": 12},
        axis=charts.AXES["us"] | {"title": "latency"},
    )
    values = [
        {"field": "share", "title": "percentile"},
        charts.quantity("latency", title="us", format=",.4~r"),
    ]
    return charts.drawing(
        340,
        data={"name": dataset},
        transform=[{"calculate": label.replace("datum.value", "datum.x"), "as": "share"}],
        usermeta={"series": "series"},
        encoding={"x": x, "y": y, "color": colour, "opacity": charts.FADED},
        layer=[
            {
                "params": [charts.SHOWN],
                "mark": {"type": "line", "strokeWidth": 2, "interpolate": "monotone"},
                "encoding": {"strokeDash": dash},
            },
            {
                "mark": {"type": "point", "size": 34, "filled": True},
                "encoding": {"shape": shape, "tooltip": [*tooltip, *values]},
            },
        ],
    )

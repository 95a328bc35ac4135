"""Throughput against latency: points that differ in load only, and the knee of their curve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sitebench.report.charts import AXES, Chart, Columns, Spec, names, short
from sitebench.report.figures.rates import Order, marks, shown
from sitebench.report.model import HOW_HARD, Report, Run, distinguishing_label, variant_name
from sitebench.report.paper import why
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Series
from sitebench.units import format_rate, format_size

_QUANTILES = {"p50": "median", "p99": "99 %", "p99_9": "99.9 %"}
CHOOSER = "choose-curve"


@dataclass(frozen=True)
class _Curve:
    """One run's points of one operation, size, target and schedule, least load first."""

    id: str
    run: Run
    series: Sequence[Series]
    peaks: Sequence[Mapping[str, Any]]
    """What searches for this group's peak said, one per objective."""

    @property
    def spec(self) -> PointSpec:
        """The first of its points."""
        return self.series[0].spec


def curves(report: Report) -> list[_Curve]:
    """Return every group of points that were measured at more than one load."""
    found: dict[tuple[str, str], list[Series]] = {}
    runs = {run.label: run for run in report.runs}
    for run, each in report.measured:
        closed = each.spec.rate is None
        key = json.dumps([variant_name(each.spec), each.spec.entries, closed])
        found.setdefault((run.label, key), []).append(each)
    chosen = [(runs[label], group) for (label, _), group in found.items() if len(group) > 1]
    return [
        _Curve(f"c{n}", run, sorted(group, key=_load), _peaks(run, group[0].spec))
        for n, (run, group) in enumerate(chosen)
    ]


def _load(each: Series) -> tuple[float, int]:
    return each.spec.rate or 0.0, each.spec.users


def _peaks(run: Run, spec: PointSpec) -> list[Mapping[str, Any]]:
    """Return what the manifest has of this group: clients are swept closed, objectives open."""
    same = ("half", "operation", "entries", "target", "client")
    return [
        peak
        for peak in run.manifest.get("peaks", ())
        if all(peak.get(name) == getattr(spec, name) for name in same)
        and (peak.get("objective") is None) == (spec.rate is None)
    ]


def titles(report: Report, found: Sequence[_Curve]) -> dict[str, str]:
    """Return what each curve is called in the list."""
    call = distinguishing_label((curve.spec for curve in found), ignoring=HOW_HARD)
    called = {}
    for curve in found:
        suite = report.suite(curve.spec.half)
        words = [
            suite.title_of(curve.spec.operation),
            f"{format_size(curve.spec.entries)} {suite.people}",
            call(curve.spec),
            "" if curve.spec.rate is None else "at set rates",
            curve.run.label if len(report.runs) > 1 else "",
        ]
        called[curve.id] = ", ".join(filter(None, words))
    return called


def curve_chart(report: Report) -> Chart | None:
    """Return the figure, a curve to choose from each group; None where loads do not differ."""
    found = curves(report)
    if not found:
        return None
    return Chart(
        id="curve",
        title="Latency against operations per second",
        description=(
            "Latency, median and high percentiles, on a logarithmic axis against the operations "
            "per second reached, one mark per load, joined in the order of the loads."
        ),
        spec=_spec(),
        choices={curve.id: _datasets(curve) for curve in found},
        chooser=CHOOSER,
        titles=titles(report, found),
    )


def _datasets(curve: _Curve) -> dict[str, Columns]:
    rows = []
    for turn, each in enumerate(curve.series):
        rate = each.median(lambda r: r.ops_per_s)
        for name, title in _QUANTILES.items():
            latency = each.median(lambda r, name=name: r.latency.percentiles[name])  # type: ignore[misc]
            if latency is not None:
                rows.append((title, turn, load_of(each.spec), rate, latency, each.n, why(each)))
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    return {
        "curve": {
            "series": names(columns[0]),
            "turn": list(columns[1]),
            "load": names(columns[2]),
            "rate": [short(rate, 5) for rate in columns[3]],
            "latency": [short(latency) for latency in columns[4]],
            "repeats": list(columns[5]),
            "invalid": names(columns[6]),
        },
        "knee": _knee(curve),
    }


def _knee(curve: _Curve) -> Columns:
    knees = {(each["knee"]["load"], each["knee"]["rate"]) for each in curve.peaks if each["knee"]}
    closed = curve.spec.rate is None
    return {
        "rate": [short(rate, 5) for _, rate in knees],
        "label": [
            f"knee: {format_rate(rate)}/s{f' with {load:,.0f} clients' if closed else ''}"
            for load, rate in knees
        ],
    }


def load_of(spec: PointSpec) -> str:
    """Return a point's load in words."""
    if spec.rate is None:
        return f"{spec.users:,}\u00a0user{'s' if spec.users > 1 else ''}"
    return f"{format_rate(spec.rate)}/s asked for"


def _spec() -> Spec:
    tell = Order([], list(_QUANTILES.values())).scale
    x = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"zero": True, "nice": True},
        "axis": AXES["count"] | {"title": "operations/s", "tickCount": 6},
    }
    y = {
        "field": "latency",
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": AXES["us"] | {"title": "latency"},
    }
    tooltip = [
        {"field": "load", "title": "load"},
        {"field": "series", "title": "percentile"},
        {"field": "latency", "title": "latency, us", "format": ",.4~r", "type": "quantitative"},
        {"field": "rate", "title": "operations/s", "format": ",.4~r", "type": "quantitative"},
        {"field": "repeats", "title": "repeats", "type": "quantitative"},
        {"field": "invalid", "title": "invalid"},
    ]
    faded = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
    places = {"x": x, "y": y, "color": tell("color"), "opacity": faded}
    symbols = marks(tell("shape"), tooltip)
    curve: Spec = {"data": {"name": "curve"}, "encoding": places}
    return {
        "width": "container",
        "height": 320,
        "usermeta": {"series": "series"},
        "layer": [
            {
                **curve,
                "params": [shown("series")],
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": places
                | {
                    "order": {"field": "turn", "type": "quantitative"},
                    "strokeDash": tell("strokeDash"),
                },
            },
            *({**curve, **layer, "encoding": places | layer["encoding"]} for layer in symbols),
            {
                "data": {"name": "knee"},
                "mark": {"type": "rule", "strokeDash": [6, 4], "style": "ink"},
                "encoding": {"x": x},
            },
            {
                "data": {"name": "knee"},
                "mark": {"type": "text", "align": "right", "dx": -6, "baseline": "top"},
                "encoding": {"x": x, "y": {"value": 4}, "text": {"field": "label"}},
            },
        ],
    }

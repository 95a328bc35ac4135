"""Latency against throughput: points that differ in load only, and the knee of their curve."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from sitebench.counts.durations import FAR_OUT, PERCENTILES
from sitebench.report import charts
from sitebench.report.charts import Chart, Columns, Spec
from sitebench.report.model import HOW_HARD, Peak, Report, Run, distinguishing_label, variant_name
from sitebench.report.page import Section, chooser, figure, text_of_choice
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Series
from sitebench.tables.tables import load_name, ops_per_s, percentile, why
from sitebench.units import format_rate

_QUANTILES = {
    name: "median" if q == 50 else f"{q:g} %"
    for name, q in PERCENTILES.items()
    if q in (50, *FAR_OUT)
}


class _Curve(msgspec.Struct, frozen=True):
    """Points of one run, operation, size, target and kind of schedule, least load first."""

    id: str
    run: Run
    series: Sequence[Series]
    peaks: Sequence[Peak]
    """The answers of `peak` for this group, one per objective."""

    @property
    def spec(self) -> PointSpec:
        return self.series[0].spec


def _curves(report: Report) -> list[_Curve]:
    """Return every group of points with more than one load."""
    curves: list[_Curve] = []
    for run in report.runs:
        groups: dict[str, list[Series]] = {}
        for series in run.series:
            if series.spec.stages is None:  # The mean of stages is no load of its own.
                closed = series.spec.rate is None
                key = json.dumps([variant_name(series.spec), series.spec.entries, closed])
                groups.setdefault(key, []).append(series)
        for group in groups.values():
            if len(group) > 1:
                by_load = sorted(
                    group, key=lambda series: (series.spec.rate or 0.0, series.spec.users)
                )
                peaks = run.peaks_of(group[0].spec)
                curves.append(_Curve(f"c{len(curves)}", run, by_load, peaks))
    return curves


def _titles(report: Report, curves: Sequence[_Curve]) -> dict[str, str]:
    call = distinguishing_label((curve.spec for curve in curves), ignoring=HOW_HARD)
    titles = {}
    for curve in curves:
        words = [
            report.name_without_load(curve.spec),
            call(curve.spec),
            "" if curve.spec.rate is None else "at set rates",
        ]
        titles[curve.id] = report.title_for(", ".join(filter(None, words)), curve.run)
    return titles


def section(report: Report) -> Section | None:
    curves = _curves(report)
    if not curves:
        return None
    chart = Chart(
        id="curve",
        title="Latency against operations per second",
        description=(
            "Latency, median and high percentiles, on a logarithmic axis against the operations "
            "per second reached, one mark per load, joined in the order of the loads."
        ),
        spec=_spec(),
        choices={curve.id: _datasets(curve) for curve in curves},
        titles=_titles(report, curves),
    )
    answers = "".join(
        text_of_choice(chart, curve.id, peak["said"]) for curve in curves for peak in curve.peaks
    )
    body = chooser(chart, "Points") + answers + figure(chart)
    note = (
        '<p class="note">One mark per load, joined from the least to the greatest. A hollow mark '
        "is an upper bound of the latency, or a point that is not usable.</p>"
    )
    return Section("curve", "Latency against load", body + note, (chart,), short="Load")


def _datasets(curve: _Curve) -> dict[str, Columns]:
    rows = []
    for turn, series in enumerate(curve.series):
        rate = series.median(ops_per_s)
        for name, title in _QUANTILES.items():
            latency = series.median(percentile(name))
            if latency is not None:
                load = load_name(series.spec)
                grade = series.latency_grade
                rows.append((title, turn, load, rate, latency, series.n, why(series), grade))
    names = ("series", "turn", "load", "rate", "latency", "repeats", "invalid", "grade")
    return {"curve": charts.dataset(names, rows), "knee": _knee(curve)}


def _knee(curve: _Curve) -> Columns:
    knees = {(peak["knee"]["load"], peak["knee"]["rate"]) for peak in curve.peaks if peak["knee"]}
    closed = curve.spec.rate is None
    rows = [
        (rate, f"knee: {format_rate(rate)}/s{f' with {load:,.0f} clients' if closed else ''}")
        for load, rate in knees
    ]
    return charts.dataset(("rate", "label"), rows)


def _dashes(series: Sequence[str]) -> Spec:
    """Return dashes without a scale: a scale's legend would draw dashes around its symbols."""
    ranges = charts.tell_apart("strokeDash", series)["scale"]["range"]
    conditions = [
        {"test": f"datum.series === '{name}'", "value": dash}
        for name, dash in zip(series, ranges, strict=True)
    ]
    return {"condition": conditions, "value": [1, 0]}


def _spec() -> Spec:
    series = list(_QUANTILES.values())
    x = charts.quantity(
        "rate",
        scale={"zero": True, "nice": True},
        axis=charts.AXES["count"] | {"title": "operations/s", "tickCount": 6},
    )
    y = charts.quantity(
        "latency", scale={"type": "log"}, axis=charts.AXES["us"] | {"title": "latency"}
    )
    tooltip = [
        {"field": "load", "title": "load"},
        {"field": "series", "title": "percentile"},
        charts.quantity("latency", title="latency, us", format=",.4~r"),
        charts.quantity("rate", title="operations/s", format=",.4~r"),
        charts.quantity("repeats", title="repeats"),
        {"field": "invalid", "title": "limited by"},
    ]
    places = {"x": x, "y": y, "color": charts.tell_apart("color", series), "opacity": charts.FADED}
    symbols = charts.marks(charts.tell_apart("shape", series), tooltip)
    curve: Spec = {"data": {"name": "curve"}, "encoding": places}
    return charts.drawing(
        320,
        usermeta={"series": "series"},
        layer=[
            {
                **curve,
                "params": [charts.SHOWN],
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": places
                | {"order": charts.quantity("turn"), "strokeDash": _dashes(series)},
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
    )

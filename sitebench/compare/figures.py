"""Three charts of a comparison: every ratio, every repeat, every percentile."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from sitebench._engine import Histogram
from sitebench.compare.comparison import Compared, Row
from sitebench.compare.runs import Comparison, Run
from sitebench.counts.metrics import LATENCY
from sitebench.report import charts
from sitebench.report.charts import Chart, Columns, Spec
from sitebench.report.sections.spectrum import levels, spectrum_spec
from sitebench.runs.repeats import Series, median_interval
from sitebench.runs.runfile import RunFile
from sitebench.runs.timeline import merge_clocks

_SIDES = ("A", "B")
_ANSWER, _NULL = "B/A", "A/A null"
_PERCENT = "datum.value ? format(datum.value, '+~r') + '%' : '0%'"


def ratio_chart(points: Sequence[Compared]) -> Chart:
    """Return a forest plot: every ratio with its interval, and its A/A null."""
    rows, several = [], len(points) > 1
    for point in points:
        for row in point.rows:
            label = f"{point.title}: {row.measure.title}" if several else row.measure.title
            for series, effect in ((_ANSWER, row.effect), (_NULL, row.null)):
                if effect is not None:
                    marks = map(_change, (effect.ratio, effect.low, effect.high))
                    answer = row.verdict if series == _ANSWER else "one side with itself"
                    rows.append((label, series, *marks, answer))
    names = ("label", "series", "change", "low", "high", "answer")
    return Chart(
        id="ratios",
        title="B against A, with its interval",
        description=(
            "One row per point and measure: the difference of B from A, with its interval; below "
            "it, lighter, the A/A null. An interval that includes zero is no detectable "
            "difference."
        ),
        spec=_ratio_spec(),
        choices={"": {"ratios": charts.dataset(names, rows)}},
    )


def _change(ratio: float | None) -> float | None:
    return None if ratio is None else (ratio - 1) * 100


def _ratio_spec() -> Spec:
    order = [_ANSWER, _NULL]
    axis = {"title": "B's value beside A's", "labelExpr": _PERCENT, "tickCount": 7}
    x = charts.quantity("change", axis=axis)
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelLimit": 320, "minExtent": 58, "maxExtent": 320},
    }
    offset = {"field": "series", "sort": order, "scale": {"paddingOuter": 0.4}}
    tooltip = [
        {"field": "label", "title": "of"},
        {"field": "series", "title": "is"},
        charts.quantity("change", title="change, %", format="+.3~r"),
        charts.quantity("low", title="from, %", format="+.3~r"),
        charts.quantity("high", title="to, %", format="+.3~r"),
        {"field": "answer", "title": "B is"},
    ]
    places = {"y": y, "yOffset": offset, "color": charts.tell_apart("color", order)}
    data = {"data": {"name": "ratios"}}
    return {
        "width": "container",
        "height": {"step": 17},
        # Without `autosize`, long names of points would make the drawing wider than the page.
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": [
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "style": "ink", "strokeDash": [4, 3]},
                "encoding": {"x": {"datum": 0, "type": "quantitative"}},
            },
            {
                **data,
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55},
                "encoding": {**places, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                **data,
                "mark": {"type": "point", "size": 70, "filled": True, "opacity": 1},
                "encoding": {
                    **places,
                    "x": x,
                    "shape": charts.tell_apart("shape", order),
                    "tooltip": tooltip,
                },
            },
        ],
    }


def repeats_chart(points: Sequence[Compared]) -> Chart:
    choices, titles = {}, {}
    for n, point in enumerate(points):
        for row in point.rows:
            choice = f"p{n}-{row.measure.key}"
            choices[choice] = {"repeats": _repeats(row), "middle": _middle(row)}
            titles[choice] = f"{point.title}: {row.measure.title} ({row.measure.unit})"
    return Chart(
        id="repeats",
        title="Every repeat",
        description=(
            "Each mark is one repeat, from the first on the left to the last; the line is a "
            "side's median, the band its 95 % interval."
        ),
        spec=_repeats_spec(),
        choices=choices,
        titles=titles,
        key={
            "line": "the median of a side",
            "band": "the median's 95 % interval, if there are six repeats or more",
        },
    )


def _repeats(row: Row) -> Columns:
    repeats = [(name, n + 1, v) for name, s in _sides(row) for n, v in enumerate(s)]
    return charts.dataset(("series", "repeat", "value"), repeats)


def _middle(row: Row) -> Columns:
    rows = []
    for name, values in _sides(row):
        interval = median_interval(values)
        ends = (None, None) if interval is None else (interval.low, interval.high)
        rows.append((name, statistics.median(values), *ends))
    return charts.dataset(("series", "median", "low", "high"), rows)


def _sides(row: Row) -> list[tuple[str, tuple[float, ...]]]:
    return list(zip(_SIDES, (row.a, row.b), strict=True))


def _repeats_spec() -> Spec:
    x = charts.quantity(
        "repeat",
        scale={"padding": 12, "zero": False, "nice": False},
        axis={"title": "repeat", "grid": False, "tickMinStep": 1, "format": "d"},
    )
    y = charts.quantity(
        "value", scale={"zero": False, "padding": 12}, axis={"title": None, "format": "~s"}
    )
    tooltip = [
        {"field": "series", "title": "side"},
        charts.quantity("repeat", title="repeat"),
        charts.quantity("value", title="value", format=",.5~r"),
    ]
    color = charts.tell_apart("color", _SIDES)
    color["legend"] |= {"symbolOpacity": 1}
    middle = {"data": {"name": "middle"}}
    return charts.drawing(
        280,
        layer=[
            {
                **middle,
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rect", "opacity": 0.16},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color},
            },
            {
                **middle,
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "y": {**y, "field": "median"},
                    "color": color,
                    "strokeDash": {**charts.tell_apart("strokeDash", _SIDES), "legend": None},
                },
            },
            {
                "data": {"name": "repeats"},
                "mark": {"type": "point", "size": 70, "filled": True, "opacity": 0.9},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": color,
                    "shape": charts.tell_apart("shape", _SIDES),
                    "tooltip": tooltip,
                },
            },
        ],
    )


def spectra_chart(comparison: Comparison) -> Chart:
    choices, titles = {}, {}
    with RunFile(comparison.a.path) as a, RunFile(comparison.b.path) as b:
        for n, point in enumerate(comparison.analysis.points):
            matched = point.matched
            sides = ((comparison.a, a, matched.a), (comparison.b, b, matched.b))
            merged = [_merge_latency(run, file, series) for run, file, series in sides]
            choices[f"p{n}"] = {"spectra": _spectra(merged)}
            titles[f"p{n}"] = point.title
    return Chart(
        id="spectra",
        title="Percentile spectra",
        description=(
            "Latency of all repeats together against the share of operations that were at most "
            "as slow, on a logarithmic axis of one over the share that was slower."
        ),
        spec=spectrum_spec(
            "spectra",
            [{"field": "series", "title": "side"}],
            colour=charts.tell_apart("color", _SIDES),
            dash=charts.tell_apart("strokeDash", _SIDES),
            shape=charts.tell_apart("shape", _SIDES),
        ),
        choices=choices,
        titles=titles,
        key={"end": "a line ends where fewer than 100 samples remain beyond it"},
    )


def _merge_latency(run: Run, file: RunFile, series: Series) -> Histogram:
    """Merge a point's valid repeats, bucket by bucket."""
    latency = Histogram()
    results = {result.spec.key: result for result in series.results}
    for point in run.points:
        result = results.get(point.spec.key)
        if result is None or not result.verdict.valid:
            continue
        latency.add(*merge_clocks(file, point, LATENCY))
    return latency


def _spectra(merged: Sequence[Histogram]) -> Columns:
    rows: list[tuple[Any, ...]] = [
        (name, x, value)
        for name, histogram in zip(_SIDES, merged, strict=True)
        for x, value in levels(histogram)
    ]
    return charts.dataset(("series", "x", "latency"), rows)

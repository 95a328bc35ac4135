"""A comparison in three figures: every ratio, every repeat, every percentile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sitebench._engine import Histogram
from sitebench.compare.comparison import Compared, Row
from sitebench.compare.runs import Comparison, Run
from sitebench.report.charts import AXES, DASHES, Chart, Columns, Spec, names, short
from sitebench.report.figures.rates import series_scale, shown
from sitebench.report.figures.spectrum import levels
from sitebench.runs.repeats import median_interval
from sitebench.runs.runfile import RunFile
from sitebench.runs.timeline import counted_steps

REPEATS_CHOOSER, SPECTRA_CHOOSER = "choose-repeats", "choose-spectra"
SIDES = ("A", "B")
ANSWER, NULL = "B/A", "A/A null"
PERCENT = "datum.value ? format(datum.value, '+~r') + '%' : '0%'"


def ratio_chart(points: Sequence[Compared]) -> Chart:
    """Return every ratio with its interval, its A/A null beside it: a forest plot."""
    rows, several = [], len(points) > 1
    for point in points:
        for row in point.rows:
            label = f"{point.title}: {row.measure.title}" if several else row.measure.title
            for series, effect in ((ANSWER, row.effect), (NULL, row.null)):
                if effect is not None:
                    ratio = effect.ratio
                    marks = (_change(ratio.value), _change(ratio.low), _change(ratio.high))
                    said = row.verdict if series == ANSWER else "the same side twice"
                    rows.append((label, series, *marks, said))
    columns = list(zip(*rows, strict=True))
    dataset = {
        "label": names(columns[0]),
        "series": names(columns[1]),
        "change": list(columns[2]),
        "low": list(columns[3]),
        "high": list(columns[4]),
        "said": names(columns[5]),
    }
    return Chart(
        id="ratios",
        title="B against A, with the interval that holds it",
        description=(
            "One row per point and measure: by how much B's value is above or below A's, with its "
            "interval; below each, lighter, the A/A null. An interval that crosses zero is no "
            "detectable difference."
        ),
        spec=_ratio_spec(),
        choices={"": {"ratios": dataset}},
    )


def _scale(channel: str, order: Sequence[str]) -> Spec:
    """Return a channel that tells series apart: colour, shape and dash go together."""
    found = series_scale(list(order))
    if channel == "strokeDash":
        found["scale"] |= {"range": [list(dash) for dash in DASHES[: len(order)]]}
    return found


def _change(ratio: float | None) -> float | None:
    return None if ratio is None else short((ratio - 1) * 100)


def _ratio_spec() -> Spec:
    order = [ANSWER, NULL]
    x = {
        "field": "change",
        "type": "quantitative",
        "axis": {"title": "B's value against A's", "labelExpr": PERCENT, "tickCount": 7},
    }
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
        {"field": "change", "title": "change, %", "format": "+.3~r", "type": "quantitative"},
        {"field": "low", "title": "from, %", "format": "+.3~r", "type": "quantitative"},
        {"field": "high", "title": "to, %", "format": "+.3~r", "type": "quantitative"},
        {"field": "said", "title": "B is"},
    ]
    places = {"y": y, "yOffset": offset, "color": _scale("color", order)}
    data = {"data": {"name": "ratios"}}
    return {
        "width": "container",
        "height": {"step": 17},
        # Labels as long as a point's name must not make the drawing wider than the page.
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
                    "shape": _scale("shape", order),
                    "tooltip": tooltip,
                },
            },
        ],
    }


def repeats_chart(points: Sequence[Compared]) -> Chart:
    """Return every repeat of both sides in the order they were measured, one measure at a time."""
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
        chooser=REPEATS_CHOOSER,
        titles=titles,
        key={
            "line": "the median of a side",
            "band": "the interval that holds it with 95 %; of fewer than six repeats there is none",
        },
    )


def _repeats(row: Row) -> Columns:
    found = [(name, n + 1, v) for name, s in _sides(row) for n, v in enumerate(s)]
    columns = list(zip(*found, strict=True))
    return {
        "series": names(columns[0]),
        "repeat": list(columns[1]),
        "value": [short(value, 5) for value in columns[2]],
    }


def _middle(row: Row) -> Columns:
    around = [median_interval(values) for _, values in _sides(row)]
    return {
        "series": names(SIDES),
        "median": [short(row.median_a, 5), short(row.median_b, 5)],
        "low": [None if each is None else short(each.low, 5) for each in around],
        "high": [None if each is None else short(each.high, 5) for each in around],
    }


def _sides(row: Row) -> list[tuple[str, tuple[float, ...]]]:
    return list(zip(SIDES, (row.a, row.b), strict=True))


def _repeats_spec() -> Spec:
    turn = {
        "field": "repeat",
        "type": "quantitative",
        "scale": {"padding": 12, "zero": False, "nice": False},
    }
    x = {**turn, "axis": {"title": "repeat", "grid": False, "tickMinStep": 1, "format": "d"}}
    y: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {"zero": False, "padding": 12},
        "axis": {"title": None, "format": "~s"},
    }
    tooltip = [
        {"field": "series", "title": "side"},
        {"field": "repeat", "title": "repeat", "type": "quantitative"},
        {"field": "value", "title": "value", "format": ",.5~r", "type": "quantitative"},
    ]
    color = _scale("color", SIDES)
    color["legend"] |= {"symbolOpacity": 1}
    middle = {"data": {"name": "middle"}}
    return {
        "width": "container",
        "height": 280,
        "layer": [
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
                    "strokeDash": {**_scale("strokeDash", SIDES), "legend": None},
                },
            },
            {
                "data": {"name": "repeats"},
                "mark": {"type": "point", "size": 70, "filled": True, "opacity": 0.9},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": color,
                    "shape": _scale("shape", SIDES),
                    "tooltip": tooltip,
                },
            },
        ],
    }


def spectra_chart(comparison: Comparison) -> Chart:
    """Return the percentile spectra of both sides on one axis, one point at a time."""
    choices, titles = {}, {}
    with RunFile(comparison.a.path) as a, RunFile(comparison.b.path) as b:
        for n, point in enumerate(comparison.analysis.points):
            matched = point.matched
            sides = ((comparison.a, a, matched.a), (comparison.b, b, matched.b))
            keys = [{result.spec.key for result in series.results} for *_, series in sides]
            merged = [_merged(run, file, k) for (run, file, _), k in zip(sides, keys, strict=True)]
            choices[f"p{n}"] = {"spectra": _spectra(merged)}
            titles[f"p{n}"] = point.title
    return Chart(
        id="spectra",
        title="Percentile spectra",
        description=(
            "Latency of all repeats together against the share of operations that were at most "
            "as slow, on a logarithmic axis of one over the share that was slower."
        ),
        spec=_spectra_spec(),
        choices=choices,
        chooser=SPECTRA_CHOOSER,
        titles=titles,
        key={"end": "a line ends where fewer than 100 samples remain beyond it"},
    )


def _merged(run: Run, file: RunFile, keys: set[str]) -> Histogram:
    """Merge a point's valid repeats, bucket by bucket."""
    latency = Histogram()
    for point in run.points:
        result = point.result
        if result is None or point.spec.key not in keys or not result.verdict.valid:
            continue
        counted = counted_steps(result)
        for step in file.histograms(point.id):
            if (step.program, step.step) in counted:
                latency.add(step.latency)
    return latency


def _spectra(merged: Sequence[Histogram]) -> Columns:
    rows: list[tuple[Any, ...]] = [
        (name, x, value)
        for name, histogram in zip(SIDES, merged, strict=True)
        for x, value in levels(histogram)
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 3
    return {
        "series": names(columns[0]),
        "x": [short(x, 5) for x in columns[1]],
        "latency": [short(value) for value in columns[2]],
    }


def _spectra_spec() -> Spec:
    label = "format(100 - 100 / datum.value, '.10~f') + '%'"
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "domainMin": 1},
        "axis": {
            "title": "share of operations at most as slow",
            "labelExpr": label,
            "values": [1, 2, 4, 10, 20, 100, 1_000, 10_000, 100_000, 1_000_000],
            "labelOverlap": True,
        },
    }
    y = {
        "field": "latency",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 8},
        "axis": AXES["us"] | {"title": "latency"},
    }
    tooltip = [
        {"field": "series", "title": "side"},
        {"field": "share", "title": "at most as slow"},
        {"field": "latency", "title": "us", "format": ",.4~r", "type": "quantitative"},
    ]
    faded = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
    return {
        "data": {"name": "spectra"},
        "transform": [{"calculate": label.replace("datum.value", "datum.x"), "as": "share"}],
        "width": "container",
        "height": 320,
        "usermeta": {"series": "series"},
        "encoding": {"x": x, "y": y, "color": _scale("color", SIDES), "opacity": faded},
        "layer": [
            {
                "params": [shown("series")],
                "mark": {"type": "line", "strokeWidth": 2, "interpolate": "monotone"},
                "encoding": {"strokeDash": _scale("strokeDash", SIDES)},
            },
            {
                "mark": {"type": "point", "size": 34, "filled": True},
                "encoding": {"shape": _scale("shape", SIDES), "tooltip": tooltip},
            },
        ],
    }

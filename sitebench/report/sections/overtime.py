"""One point over time: latencies, operations per second, and use of resources.

All drawings have one axis of time, with the warm-up shaded. A cell of the heat map is a count of
merged histograms; a track is a mean of the monitor's rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sitebench.counts.durations import LEAST_BEYOND, OVER_TIME, PERCENTILES
from sitebench.report import charts
from sitebench.report.charts import Chart, Columns, Spec
from sitebench.report.model import Point, Report, Run
from sitebench.report.page import Section, chooser, figure, text_of_choice
from sitebench.report.sections.strips import STRIPS, Strip, thin
from sitebench.runs.timeline import MEASURED, PER_DECADE, Slot, cells, seconds
from sitebench.verdict.verdict import Quoted

_WIDTHS_S = (1, 2, 3, 4, 5, 10, 20, 30)
"""Widths of the parts of a line, in seconds: the least width with which p95 has a line is used."""

_NO_LINE = "no line"
"""Name in the legend where no percentile is known."""

_LEAST_PARTS = 5
"""The least number of parts of a line."""


def section(report: Report) -> Section | None:
    chart = Chart(
        id="over-time",
        title="One point over time",
        description=(
            "Latencies as a heat map and as percentiles, operations per second, and tracks of CPU, "
            "run queue, pressure, disk, network and memory, on one axis of seconds; warm-up is "
            "shaded."
        ),
        spec=_spec([s for s in STRIPS if any(s.take(point.tracks) for point in report.points)]),
        choices={point.id: _datasets(point) for point in report.points},
        titles={
            point.id: report.title_for(_name(report, run, point), run)
            for run in report.runs
            for point in run.points
        },
    )
    paragraphs = "".join(text_of_choice(chart, point.id, _note(point)) for point in report.points)
    note = (
        '<p class="note screen-only">Drag to pan, Shift and wheel to zoom, double-click to reset. '
        "The shaded warm-up is shown, but not counted. In a long point neighbouring half seconds "
        "are merged.</p>"
    )
    body = chooser(chart, "Point") + paragraphs + figure(chart) + note
    return Section("over-time", "Over time", body, (chart,))


def _name(report: Report, run: Run, point: Point) -> str:
    name = report.measurement_name(point.spec, run)
    grade = point.result.verdict.grade
    if grade == Quoted.AT_LEAST:
        return f"{name} (rate: at least)"
    return name if grade == Quoted.MEASURED else f"{name} ({grade})"


def _datasets(point: Point) -> dict[str, Columns]:
    slots = [slot for slot in point.slots if slot.seconds > 0]
    origin = slots[0].t0_ns if slots else 0
    places = [((slot.t0_ns - origin) / 1e9, (slot.t1_ns - origin) / 1e9) for slot in slots]
    heat = [
        (*place, cell, count, slot.phase != MEASURED)
        for place, slot in zip(places, slots, strict=True)
        for cell, count in sorted(cells(slot.latency).items())
    ]
    rates = [
        (*place, slot.phase, slot.ops_per_s, slot.failures / slot.seconds)
        for place, slot in zip(places, slots, strict=True)
    ]
    return {
        "heat": charts.dataset(("t", "u", "cell", "n", "apart"), heat),
        "slots": charts.dataset(("t", "u", "phase", "rate", "failed"), rates),
        **_percentiles(point, origin),
        "shade": _shade(point, origin),
        "tracks": _tracks(point, origin),
    }


def _parts(point: Point) -> tuple[int, list[Slot]]:
    """Return the least width with which p95 has a line, and the slots of this width."""
    slots_by_width = {every_s: _merge_slots(point, every_s) for every_s in _WIDTHS_S}
    for every_s, slots in slots_by_width.items():
        measured = [slot for slot in slots if slot.phase == MEASURED]
        n_known = sum(slot.percentile(PERCENTILES["p95"]) is not None for slot in measured)
        if n_known > len(measured) / 2 and len(measured) >= _LEAST_PARTS:
            return every_s, slots
    return _WIDTHS_S[0], slots_by_width[_WIDTHS_S[0]]


def _merge_slots(point: Point, every_s: int) -> list[Slot]:
    return [slot for slot in seconds(point.slots, every_s) if slot.seconds > 0]


def _lines_of(slots: Sequence[Slot]) -> dict[str, list[float | None]]:
    """Return the values of each percentile for which at least one slot has enough samples."""
    values = {name: [s.percentile(PERCENTILES[name]) for s in slots] for name in OVER_TIME}
    return {name: line for name, line in values.items() if set(line) != {None} and line}


def _note(point: Point) -> str:
    """Return the note on the percentiles: their samples, and the reason of each missing line."""
    every_s, slots = _parts(point)
    lines = _lines_of(slots)
    # In a long point, neighbouring slots are merged to longer slots.
    usual_s = max(every_s, round(median([slot.seconds for slot in slots] or [0.0])))
    period = "a second" if usual_s == 1 else f"{usual_s} s"
    text = f"Percentiles are of the right answers in {period}."
    if lines:
        text += f" A line has a gap where fewer than {LEAST_BEYOND} were slower."
    needs = [
        f"{_display_name(name)} needs about {LEAST_BEYOND * 100 / (100 - PERCENTILES[name]):,.0f}"
        for name in OVER_TIME
        if name not in lines
    ]
    if needs:
        needs[0] += " answers"
        text += f" {', '.join(needs)} in {period}; see the table."
    return text


def _percentiles(point: Point, origin: int) -> dict[str, Columns]:
    """Return a line per percentile, with a gap where a slot has too few samples."""
    _, slots = _parts(point)
    rows = [
        (_display_name(name), slot.phase, ((slot.t0_ns + slot.t1_ns) / 2 - origin) / 1e9, value)
        for name, line in _lines_of(slots).items()
        for slot, value in zip(slots, line, strict=True)
    ]
    # Vega would give the figure an infinite size if one of its legends were empty.
    drawn = rows or [(_NO_LINE, MEASURED, 0.0, None)]
    message = [] if rows else [("no second has enough answers for a percentile",)]
    return {
        "percentiles": charts.dataset(("series", "phase", "t", "v"), drawn),
        "unknown": charts.dataset(("said",), message),
    }


def _display_name(name: str) -> str:
    return name.replace("_", ".")


def _shade(point: Point, origin: int) -> Columns:
    blocks: list[tuple[str, float, float]] = []
    for slot in point.slots:
        t0, t1 = (slot.t0_ns - origin) / 1e9, (slot.t1_ns - origin) / 1e9
        if slot.phase == MEASURED:
            continue
        if blocks and blocks[-1][0] == slot.phase:
            t0 = blocks.pop()[1]
        blocks.append((slot.phase, t0, t1))
    return charts.dataset(("phase", "t", "u"), blocks)


def _tracks(point: Point, origin: int) -> Columns:
    rows = [
        (strip.id, called, (t_ns - origin) / 1e9, strip.clip(value))
        for strip in STRIPS
        for called, track in strip.take(point.tracks).items()
        for t_ns, value in thin(track)
    ]
    return charts.dataset(("track", "series", "t", "v"), rows)


_ZOOM: Spec = {
    "name": "zoom",
    "select": {
        "type": "interval",
        "encodings": ["x"],
        "zoom": "wheel![event.shiftKey]",
        "clear": "dblclick",
    },
    "bind": "scales",
}
"""Dragging moves in time; the wheel zooms with Shift only, as it also scrolls the page."""


def _x() -> Spec:
    # The unit stands left of zero, beside the numbers, so that the axis needs no second row.
    unit = {"title": "seconds", "titleAnchor": "start", "titleAlign": "right", "titleX": -10}
    axis = {"titleY": 11, "titleBaseline": "middle", "titleFontWeight": "normal"}
    return charts.quantity(
        "t",
        scale={"nice": False, "zero": True},
        axis={**unit, **axis, "titleFontSize": 11, "grid": False, "tickCount": 10},
    )


def _spec(strips: Sequence[Strip]) -> Spec:
    return {
        "spacing": 6,
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
        "vconcat": [_heat(), _lines(), _throughput(), *map(_strip, strips)],
    }


def _drawing(height: int, *layers: Spec) -> Spec:
    """Return a drawing of these layers above the shade of the warm-up."""
    shade = {
        "data": {"name": "shade"},
        "mark": {"type": "rect", "clip": True, "style": "shade"},
        "encoding": {"x": _x(), "x2": {"field": "u"}, "tooltip": {"field": "phase"}},
    }
    return charts.drawing(height, layer=[shade, *layers])


def _heat() -> Spec:
    y = charts.quantity(
        "low",
        scale={"type": "log", "nice": False},
        axis=charts.AXES["us"] | {"title": "latency", "grid": False},
    )
    legend = {"title": "operations in a cell", "format": "~s"}
    color = charts.quantity(
        "n",
        scale={"type": "log", "scheme": "viridis"},
        legend=legend | {"gradientLength": 160, "tickCount": 3},
    )
    tooltip = [
        charts.quantity("t", title="from, s"),
        charts.quantity("u", title="to, s"),
        charts.quantity("low", title="latency from, us", format=",.3~r"),
        charts.quantity("high", title="to, us", format=",.3~r"),
        charts.quantity("n", title="operations", format=","),
    ]
    return _drawing(
        210,
        {
            "data": {"name": "heat"},
            "params": [_ZOOM],
            "transform": [
                {"calculate": f"pow(10, datum.cell / {PER_DECADE} - 3)", "as": "low"},
                {"calculate": f"pow(10, (datum.cell + 1) / {PER_DECADE} - 3)", "as": "high"},
            ],
            "mark": {"type": "rect", "clip": True},
            "encoding": {
                "x": _x(),
                "x2": {"field": "u"},
                "y": y,
                "y2": {"field": "high"},
                "color": color,
                "opacity": {"condition": {"test": "datum.apart", "value": 0.4}, "value": 1},
                "tooltip": tooltip,
            },
        },
    )


def _lines() -> Spec:
    percentiles = [_display_name(name) for name in OVER_TIME]
    channels = {name: charts.tell_apart(name, percentiles) for name in ("color", "strokeDash")}
    for channel in channels.values():
        # With the scale's domain, the legend would also have lines without values.
        del channel["scale"]["domain"]
        channel |= {"legend": charts.LEGEND_BESIDE, "sort": None}
    axis = charts.AXES["us"] | {"title": "percentiles", "grid": False, "titleAnchor": "middle"}
    tooltip = [
        {"field": "series", "title": "percentile"},
        charts.quantity("t", title="at, s"),
        charts.quantity("v", title="latency, us", format=",.4~r"),
    ]
    return _drawing(
        110,
        {
            "data": {"name": "percentiles"},
            "mark": {"type": "line", "clip": True, "point": {"size": 12}},
            "encoding": {
                "x": _x(),
                "y": charts.quantity(
                    "v", scale={"type": "log", "nice": False, "padding": 8}, axis=axis
                ),
                **channels,
                # No line joins the warm-up with the measured window.
                "detail": {"field": "phase"},
                "tooltip": tooltip,
            },
        },
        {
            "data": {"name": "unknown"},
            "mark": {"type": "text", "align": "left", "fontSize": 12},
            "encoding": {"text": {"field": "said"}, "x": {"value": 12}, "y": {"value": 55}},
        },
    )


def _throughput() -> Spec:
    tooltip = [
        {"field": "phase"},
        charts.quantity("t", title="from, s"),
        charts.quantity("u", title="to, s"),
        charts.quantity("rate", title="operations/s", format=",.4~r"),
        charts.quantity("failed", title="failed/s", format=",.3~r"),
    ]
    axis = charts.AXES["count"] | {"title": "ops/s", "tickCount": 3}
    rate, failed = (
        charts.quantity(name, scale={"zero": True}, axis=axis) for name in ("rate", "failed")
    )
    return _drawing(
        90,
        {
            "data": {"name": "slots"},
            "mark": {"type": "line", "interpolate": "step-after", "clip": True},
            "encoding": {"x": _x(), "y": rate, "tooltip": tooltip},
        },
        {
            "data": {"name": "slots"},
            "transform": [{"filter": "datum.failed > 0"}],
            "mark": {"type": "point", "shape": "cross", "filled": True, "style": "failed"},
            "encoding": {"x": _x(), "y": failed},
        },
    )


def _strip(strip: Strip) -> Spec:
    series = {"field": "series", "type": "nominal", "sort": None, "legend": charts.LEGEND_BESIDE}
    scale: Spec = {"zero": strip.id != "available"}
    if strip.most is not None:
        scale["domain"] = [0, strip.most]
    labels = {"format": strip.format} if strip.format != "~s" else charts.AXES["count"]
    axis = {"title": strip.title, **labels, "tickCount": 3, "titleAnchor": "middle"}
    tooltip = [
        {"field": "series", "title": strip.title},
        charts.quantity("t", title="at, s"),
        charts.quantity("v", title="value", format=strip.format),
    ]
    return _drawing(
        62,
        {
            "data": {"name": "tracks"},
            "transform": [{"filter": f"datum.track === '{strip.id}'"}],
            "mark": {"type": "line", "strokeWidth": 1.5, "clip": True, "point": {"size": 8}},
            "encoding": {
                "x": _x(),
                "y": charts.quantity("v", scale=scale, axis=axis),
                "color": series,
                "strokeDash": series,
                "tooltip": tooltip,
            },
        },
    )

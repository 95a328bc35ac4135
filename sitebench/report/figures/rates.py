"""Operations per second against size: Figures 1 to 4, with 1997's machines beside today's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sitebench.report.charts import AXES, BESIDE, DASHES, SHAPES, Chart, Columns, Spec, names, short
from sitebench.report.model import Report, Run, distinguishing_label, variant_name
from sitebench.report.paper import why
from sitebench.report.suite import RateFigure, ReportSuite
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Series
from sitebench.units import format_size

TODAY = "today"
SIZES = "size"


@dataclass(frozen=True)
class Line:
    """One series of the figure: the sizes of one run, target and load."""

    run: Run
    series: Sequence[Series]

    @property
    def spec(self) -> PointSpec:
        """The first of its points."""
        return self.series[0].spec


def lines(report: Report, suite: str, operation: str) -> list[Line]:
    """Return what was measured over sizes: per run and target, at the load that has most sizes.

    Of loads that have as many, the one that did most: the papers raised the number of clients
    until the server did no more, and printed that.
    """
    found: dict[tuple[str, str], dict[str, list[Series]]] = {}
    runs = {run.label: run for run in report.runs}
    for run, each in report.measured:
        if (each.spec.half, each.spec.operation) == (suite, operation):
            loads = found.setdefault((run.label, variant_name(each.spec)), {})
            loads.setdefault(load_key(each.spec), []).append(each)
    best = {key: max(loads.values(), key=_worth) for key, loads in found.items()}
    return [
        Line(runs[label], sorted(chosen, key=lambda each: each.spec.entries))
        for (label, _), chosen in best.items()
    ]


def load_key(spec: PointSpec) -> str:
    """Return what the points of one line have in common: how hard and how long it was tried."""
    return json.dumps([spec.users, spec.rate, spec.warmup_s, spec.measure_s])


def _worth(found: list[Series]) -> tuple[int, bool, float]:
    rates = [each.median(lambda r: r.ops_per_s) or 0.0 for each in found]
    return len({each.spec.entries for each in found}), all(e.valid for e in found), max(rates)


def caller(report: Report, found: Sequence[Line]) -> Callable[[Line], str]:
    """Return how to call each line: today's machine, and what tells it from the others."""
    call = distinguishing_label(line.spec for line in found)

    def name(line: Line) -> str:
        words = [line.run.label] if len(report.runs) > 1 else []
        words += [call(line.spec)] if call(line.spec) else []
        return ", ".join(words) or f"{TODAY}: {line.spec.target}"

    return name


def rate_chart(report: Report, suite: ReportSuite, figure: RateFigure) -> Chart:
    """Return the figure of one operation."""
    found = lines(report, suite.name, figure.operation)
    name = caller(report, found)
    today = [name(line) for line in found]
    order = Order([each.machine for each in figure.printed], list(dict.fromkeys(today)))
    points = _columns(found, name, figure)
    machines = " and ".join(each.machine for each in figure.printed)
    return Chart(
        id=f"rate-{suite.name}-{figure.name}",
        title=figure.title,
        description=(
            f"{figure.title}: operations per second against {suite.size_title.lower()}, both axes "
            f"logarithmic{f', beside {machines}' if machines else ''}."
        ),
        spec=_spec(suite, order, sorted(set(points["size"]))),
        choices={"": {"points": points}},
    )


def _columns(found: Sequence[Line], name: Callable[[Line], str], figure: RateFigure) -> Columns:
    rows: list[tuple[Any, ...]] = []
    for line in found:
        for each in line.series:
            rate = each.median(figure.of)
            if rate is not None:
                around = each.interval(figure.of)
                bounds = (around.low, around.high) if around else each.spread(figure.of)
                low, high = bounds if bounds and each.n > 1 else (None, None)
                rows.append((name(line), each.spec.entries, rate, low, high, each.n, why(each)))
    for printed in figure.printed:
        pairs = zip(printed.sizes, printed.rates, strict=True)
        rows += [(printed.machine, size, rate, None, None, None, "") for size, rate in pairs]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    return {
        "series": names(columns[0]),
        "size": list(columns[1]),
        "people": names(format_size(size) for size in columns[1]),
        "rate": [short(rate, 5) for rate in columns[2]],
        "low": [short(low, 5) for low in columns[3]],
        "high": [short(high, 5) for high in columns[4]],
        "repeats": list(columns[5]),
        "invalid": names(columns[6]),
    }


def _spec(suite: ReportSuite, order: Order, sizes: Sequence[int]) -> Spec:
    x = {
        "field": "size",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 14},
        "axis": {
            "title": suite.size_title,
            "labelExpr": "lower(format(datum.value, '~s'))",
            "grid": False,
            "values": list(sizes),
        },
    }
    y = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 22},
        "axis": AXES["count, log"] | {"title": "operations/s"},
    }
    color = order.scale("color")
    faded = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
    tooltip = [
        {"field": "series", "title": "machine"},
        {"field": "people", "title": suite.people},
        {"field": "rate", "title": "operations/s", "format": ",.4~r", "type": "quantitative"},
        {"field": "low", "title": "from", "format": ",.4~r", "type": "quantitative"},
        {"field": "high", "title": "to", "format": ",.4~r", "type": "quantitative"},
        {"field": "repeats", "title": "repeats", "type": "quantitative"},
        {"field": "invalid", "title": "invalid"},
    ]
    return {
        "data": {"name": "points"},
        "width": "container",
        "height": 250,
        "usermeta": {"series": "series"},
        "encoding": {"x": x, "y": y, "color": color, "opacity": faded},
        "layer": [
            {
                "params": [shown("series")],
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"strokeDash": order.scale("strokeDash")},
            },
            {
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            *marks(order.scale("shape"), tooltip),
        ],
    }


def marks(shape: Spec, tooltip: Sequence[Spec]) -> list[Spec]:
    """Return the layers of marks: filled where a point is sound, hollow with a word where not."""
    encoding = {"shape": shape, "tooltip": list(tooltip)}
    return [
        {
            "transform": [{"filter": "datum.invalid === ''"}],
            "mark": {"type": "point", "size": 70, "filled": True, "opacity": 1},
            "encoding": encoding,
        },
        {
            "transform": [{"filter": "datum.invalid !== ''"}],
            "mark": {"type": "point", "size": 80, "filled": False, "style": "hollow"},
            "encoding": encoding,
        },
        {
            "transform": [{"filter": "datum.invalid !== ''"}],
            "mark": {"type": "text", "dy": -13, "fontSize": 11, "fontWeight": "bold"},
            "encoding": {"text": {"value": "invalid"}},
        },
    ]


def shown(series: str) -> Spec:
    """Return the parameter that a click in the legend sets: the series to be seen."""
    return {"name": "shown", "select": {"type": "point", "fields": [series]}, "bind": "legend"}


@dataclass(frozen=True)
class Order:
    """The series of a figure: 1997's look the same in every figure, today's follow."""

    then: Sequence[str]
    today: Sequence[str]

    def scale(self, channel: str) -> Spec:
        """Return a channel that tells series apart: colour, dash and shape go together."""
        n, kept = len(self.today), len(self.then)
        ranges: dict[str, Any] = {
            "color": BESIDE if self.then else "category",
            "strokeDash": [list(dash) for dash in _after(DASHES, kept, n)],
            "shape": _after(SHAPES, kept, n),
        }
        made = series_scale([*self.then, *self.today])
        made["scale"]["range"] = ranges[channel]
        made["legend"]["values"] = [*self.today, *self.then]
        return made


def _after(all_of_them: Sequence[Any], kept: int, n: int) -> list[Any]:
    """Return what the kept ones have, the second and so on, then `n` that they have not."""
    others = [all_of_them[0], *all_of_them[1 + kept :]]
    return [*all_of_them[1 : 1 + kept], *(others[k % len(others)] for k in range(n))]


def series_scale(domain: Any) -> Spec:
    """Return a channel that tells series apart by colour, dash or shape; a legend names them."""
    return {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": domain},
        "legend": {"title": None, "columns": 1, "symbolStrokeWidth": 2},
    }

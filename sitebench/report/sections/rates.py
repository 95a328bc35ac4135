"""Rates and latencies against size; for the papers' section also with their machines beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from sitebench.report.charts import (
    FADED,
    SHOWN,
    Chart,
    Columns,
    Spec,
    log_axis,
    marks,
    names,
    quantity,
    short,
    tell_apart,
    transposed,
)
from sitebench.report.model import Report, Run, distinguishing_label, load_key, variant_name
from sitebench.report.page import Section, figure
from sitebench.report.suite import RateFigure, ReportSuite, ops_per_s
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Of, Series
from sitebench.tables.tables import why
from sitebench.units import format_size


class _Line(msgspec.Struct, frozen=True):
    """One series of the figure: the sizes of one run, target and load."""

    run: Run
    series: Sequence[Series]

    @property
    def spec(self) -> PointSpec:
        """The first of its points."""
        return self.series[0].spec

    @property
    def objective(self) -> str:
        """What a search for the highest rate held here; empty where it is none."""
        return str((self.run.found_at(self.series[0]) or {}).get("objective") or "")


def lines(report: Report, suite: str, operation: str) -> list[_Line]:
    """Return what was measured over sizes: per run and target, at the load that has most sizes.

    Of loads that have as many, the one that did most: the papers raised the number of clients
    until the server did no more, and printed that. Of a search to an objective, what it found.
    """
    found: dict[tuple[str, str, str], dict[str, list[Series]]] = {}
    runs = {run.label: run for run in report.runs}
    for run, each in report.measured:
        if (each.spec.suite, each.spec.operation) == (suite, operation) and not run.probes(each):
            held = (run.found_at(each) or {}).get("objective", "")
            loads = found.setdefault((run.label, variant_name(each.spec), held), {})
            loads.setdefault("" if held else load_key(each.spec), []).append(each)
    best = {key: max(loads.values(), key=_worth) for key, loads in found.items()}
    return [
        _Line(runs[label], sorted(chosen, key=lambda each: each.spec.size))
        for (label, _, _), chosen in best.items()
    ]


def _worth(found: list[Series]) -> tuple[int, bool, float]:
    rates = [each.median(lambda r: r.ops_per_s) or 0.0 for each in found]
    return len({each.spec.size for each in found}), all(e.valid for e in found), max(rates)


def caller(report: Report, found: Sequence[_Line]) -> Callable[[_Line], str]:
    """Return how to call each line: today's machine, and what tells it from the others."""
    call = distinguishing_label(line.spec for line in found)

    def name(line: _Line) -> str:
        words = [line.run.label] if len(report.runs) > 1 else []
        words += [call(line.spec)] if call(line.spec) else []
        return ", ".join(words) or f"today: {line.spec.target}"

    return name


def section(report: Report) -> Section | None:
    """Return the figure of each operation measured at several sizes."""
    charts = [
        _chart(report, suite, _today(suite, each), f"rate-{suite.name}-{each.name}")
        for suite in report.present
        for each in suite.figures(report.specs(suite))
        if _sizes(report, suite, each) > 1
    ]
    if not charts:
        return None
    note = (
        '<p class="note">Both axes are logarithmic. A bar at a point shows how far its '
        'repeats lie apart. A hollow mark says "at least" (of a latency "at most") or "not '
        'usable". A click on a name in a legend, or the arrow keys on a figure, show one series '
        "alone.</p>"
    )
    body = f'<div class="grid">{"".join(map(figure, charts))}</div>{note}'
    return Section("rates", "Rates", body, tuple(charts), short="Rates")


def _today(suite: ReportSuite, shown: RateFigure) -> RateFigure:
    """Return a figure without the papers' machines; a rate has the name of its operation."""
    title = suite.title_of(shown.operation) if shown.of is ops_per_s else shown.title
    return replace(shown, printed=(), title=title)


def printed_figures(report: Report, suite: ReportSuite) -> list[Chart]:
    """Return the papers' figures of a suite, their machines beside today's."""
    return [
        _chart(report, suite, each, f"printed-{suite.name}-{each.name}")
        for each in suite.figures(report.specs(suite))
        if each.printed
    ]


def _sizes(report: Report, suite: ReportSuite, shown: RateFigure) -> int:
    found = lines(report, suite.name, shown.operation)
    return len({each.spec.size for line in found for each in line.series})


def _chart(report: Report, suite: ReportSuite, shown: RateFigure, identity: str) -> Chart:
    found = lines(report, suite.name, shown.operation)
    name = caller(report, found)
    then = [each.machine for each in shown.printed]
    points = _columns(found, name, shown)
    peopled = not found or any(each.spec.entries for line in found for each in line.series)
    over = suite.size_title if peopled else "Clients"
    beside = f", beside {' and '.join(then)}" if then else ""
    return Chart(
        id=identity,
        title=shown.title,
        description=(
            f"{shown.title}: {shown.unit} against {over.lower()}, both axes logarithmic{beside}."
        ),
        spec=_spec(shown, list(dict.fromkeys(map(name, found))), then, points, over),
        choices={"": {"points": points}},
    )


def around(each: Series, of: Of) -> tuple[float | None, float | None]:
    """Return the interval of repeats; of few, the least and the greatest; none of one."""
    found = each.interval(of)
    bounds = (found.low, found.high) if found else each.spread(of)
    return bounds if bounds and each.n > 1 else (None, None)


def _columns(found: Sequence[_Line], name: Callable[[_Line], str], figure: RateFigure) -> Columns:
    rows: list[tuple[Any, ...]] = []
    for line in found:
        for each in line.series:
            rate = each.median(figure.of)
            if rate is not None:
                low, high = around(each, figure.of)
                grade = each.latency_grade if figure.axis == "us" else each.grade
                rows.append((name(line), each.spec.size, rate, low, high, each.n, why(each), grade))
    for printed in figure.printed:
        pairs = zip(printed.sizes, printed.rates, strict=True)
        rows += [(printed.machine, size, rate, None, None, None, "", "") for size, rate in pairs]
    columns = transposed(rows, 8)
    return {
        "series": names(columns[0]),
        "size": list(columns[1]),
        "people": names(format_size(size) for size in columns[1]),
        "rate": [short(rate, 5) for rate in columns[2]],
        "low": [short(low, 5) for low in columns[3]],
        "high": [short(high, 5) for high in columns[4]],
        "repeats": list(columns[5]),
        "invalid": names(columns[6]),
        "grade": names(columns[7]),
    }


def _spec(
    shown: RateFigure,
    today: Sequence[str],
    then: Sequence[str],
    points: Columns,
    over: str,
) -> Spec:
    x = quantity(
        "size",
        scale={"type": "log", "nice": False, "padding": 34},
        axis={
            "title": over,
            "labelExpr": "lower(format(datum.value, '~s'))",
            "grid": False,
            "values": sorted(set(points["size"])),
            "labelOverlap": True,
        },
    )
    seen = [rate for name in ("rate", "low", "high") for rate in points[name] if rate] or [1.0]
    middle = math.sqrt(min(seen) * max(seen))
    # Else an axis of 10 % makes chance look like a slope.
    ends = [min(*seen, middle / 2), max(*seen, middle * 2)]
    y = quantity(
        "rate",
        scale={"type": "log", "nice": False, "padding": 22, "domain": ends},
        axis=log_axis(shown.axis, ends) | {"title": shown.unit},
    )
    in_us = ", us" if shown.axis == "us" else ""
    tooltip = [
        {"field": "series", "title": "machine"},
        {"field": "people", "title": over.lower()},
        quantity("rate", title=f"{shown.unit}{in_us}", format=",.4~r"),
        quantity("low", title="from", format=",.4~r"),
        quantity("high", title="to", format=",.4~r"),
        quantity("repeats", title="repeats"),
        {"field": "invalid", "title": "limited by"},
    ]

    def named(channel: str) -> Spec:
        series = tell_apart(channel, today, then)
        # The title says what a single line is.
        return series if len(today) + len(then) > 1 else series | {"legend": None}

    return {
        "data": {"name": "points"},
        "width": "container",
        "height": 200,
        "usermeta": {"series": "series"},
        "encoding": {"x": x, "y": y, "color": named("color"), "opacity": FADED},
        "layer": [
            {
                "params": [SHOWN],
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"strokeDash": named("strokeDash")},
            },
            {
                "transform": [{"filter": "datum.low !== null"}],
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            *marks(named("shape"), tooltip),
        ],
    }

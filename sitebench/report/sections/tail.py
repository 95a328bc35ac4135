"""The tail of the latency, and the number of samples beyond each percentile."""

from __future__ import annotations

from collections.abc import Sequence

from sitebench._engine import Histogram
from sitebench.counts.durations import FAR_OUT, LEAST_BEYOND, percentile_ns, with_censored
from sitebench.report.model import LOAD, Point, Report, Run
from sitebench.runs.repeats import Series
from sitebench.tables.table import NOTHING, Row, Table
from sitebench.tables.tables import load_name
from sitebench.units import format_ns


def table(report: Report, run: Run) -> Table:
    columns = ("Point", "Load", "samples", *(f"p{q:g}" for q in FAR_OUT), "max")
    rows = [_row(report, run, series) for series in run.series]
    notes = [
        "In brackets: how many samples were slower. n/a: they are fewer than "
        f"{LEAST_BEYOND}. Repeats are merged."
    ]
    return Table(report.title_for("Tail of the latency", run), columns, rows, left=2, notes=notes)


def _row(report: Report, run: Run, series: Series) -> Row:
    keys = {result.spec.key for result in series.results}
    points = [point for point in run.points if point.spec.key in keys]
    answered, censored = _merge_points(points)
    merged = with_censored(answered, censored)
    # From the shortest timed-out wait on, a percentile is a lower bound.
    bound = censored.min if censored.count else None
    star = "" if series.valid else " *"

    def format_bound(ns: int) -> str:
        least = ">= " if bound is not None and ns >= bound else ""
        return f"{least}{format_ns(ns)}{star}"

    cells = []
    for q in FAR_OUT:
        ns = percentile_ns(merged, q)
        beyond = merged.count * (100_000 - round(q * 1_000)) // 100_000
        cells.append(f"{NOTHING if ns is None else format_bound(ns)} ({beyond:,})")
    maximum = format_bound(merged.max) if merged.count else NOTHING
    name = report.distinct_name(series.spec, run, ignoring=LOAD)
    return [name, load_name(series.spec), f"{merged.count:,}", *cells, maximum]


def _merge_points(points: Sequence[Point]) -> tuple[Histogram, Histogram]:
    answered, censored = Histogram(), Histogram()
    for point in points:
        answered.add(point.latency)
        censored.add(point.censored)
    return answered, censored

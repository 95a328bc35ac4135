"""The results: objectives, a row per operation, the tail of the latency, and downloads."""

from __future__ import annotations

import shlex
from html import escape

from msgspec.structs import replace

from sitebench._engine import Histogram
from sitebench.counts import metrics
from sitebench.counts.durations import (
    FAR_OUT,
    LEAST_BEYOND,
    OVER_TIME,
    PERCENTILES,
    heading,
    percentile_ns,
    with_censored,
)
from sitebench.counts.metrics import LATENCY, SERVICE
from sitebench.report.model import LOAD, Report, Run, distinguishing_label
from sitebench.report.page import Section
from sitebench.report.sections import objectives
from sitebench.runs.repeats import Series
from sitebench.tables.html import to_html, typeset
from sitebench.tables.table import NOTHING, Cell, Row, Table, explain_signs
from sitebench.tables.tables import (
    around,
    attempts,
    cost_table,
    duration_text,
    latency_mark,
    load_name,
    marked,
    ops_per_s,
    rate_mark,
)
from sitebench.units import format_ns, format_rate, format_size

_LOWER_BOUND = "operations that timed out are in the percentile, so it is a lower bound."


def tables(report: Report) -> list[Table]:
    """Return four tables per run; the page folds the last three."""
    makers = (_operations, tail, _cost, _steps)
    return [make(report, run) for run in report.runs for make in makers]


def section(report: Report) -> Section | None:
    parts = list(map(to_html, objectives.tables(report)))
    for run in report.runs:
        parts.append(to_html(_operations(report, run)))
        parts.append(_downloads(run))
        for title, table in (
            ("Tail of the latency", tail(report, run)),
            ("Cost of the load generator", _cost(report, run)),
            ("Every step of every program", _steps(report, run)),
            ("All timings of every step", _clocks(report, run)),
        ):
            parts.append(f"<details><summary>{title}</summary>{to_html(table)}</details>")
    notes = "".join(f'<p class="note">{typeset(note)}</p>' for note in _notes(report))
    return Section("results", "Results", "".join(parts) + notes)


def _notes(report: Report) -> list[str]:
    """Return the meaning of the signs in the tables of all runs."""
    latencies = [
        latency_mark(series, name)
        for _, run_series in report.all_series
        for series in (run_series, *run_series.parts)
        for name in PERCENTILES
    ]
    notes = ["Latencies are those of right answers."]
    if any(series.n > 1 for _, series in report.all_series):
        notes[0] += " n: repeats. Rates and percentiles of latency are medians over repeats."
        notes[0] += (
            " The interval is the 95 % interval of the median; with few repeats, the smallest and "
            "the largest value."
        )
    signs = {
        NOTHING: "fewer than 100 samples beyond the percentile.",
        ">=": _LOWER_BOUND,
        "<=": (
            "the latency includes waits for cores that other programs used, so it is an upper "
            "bound."
        ),
        " *": "includes delays of the load generator, or is not usable: see its verdict.",
    }
    return [" ".join([*notes, *explain_signs([latencies], signs)])]


def _downloads(run: Run) -> str:
    links = [
        f'<a download="{name}" data-file="{name}">{name}</a>' for name in map(escape, run.downloads)
    ]
    command = escape(shlex.join(["sitebench", "export", str(run.path)]))
    formats = " (a row per point; HdrHistogram log, an interval per step). " if links else ""
    return (
        f'<p class="screen-only">Download: {", ".join(links)}{formats}'
        f"Every half second: <code>{command}</code></p>"
    )


def _operations(report: Report, run: Run) -> Table:
    repeated = any(series.n > 1 for series in run.series)
    columns = (
        *("Operation", "Size", "Load", "Verdict", "operations/s"),
        *(("n", "interval") if repeated else ()),
        *map(heading, PERCENTILES),
        "failed",
    )
    rows = []
    for series in run.series:
        rows.append(_row(report, run, series, repeated=repeated))
        rows += [
            [part.spec.operation, "", *_figures(part, "", repeated=repeated)]
            for part in series.parts
        ]
    results = [stored.result for stored in run.stored if stored.status == "done"]
    notes = attempts([result for result in results if result is not None])
    return Table(report.title_for("Operations", run), columns, rows, left=4, notes=notes)


def _row(report: Report, run: Run, series: Series, *, repeated: bool) -> Row:
    suite = report.suite(series.spec.suite)
    specs = (s.spec for s in run.series if s.spec.operation == series.spec.operation)
    label = distinguishing_label(specs, ignoring=LOAD)(series.spec)
    bounds = ", ".join(dict.fromkeys(r.verdict.bound for r in series.results))
    name = ", ".join(filter(None, (suite.title_of(series.spec.operation), label)))
    size = format_size(series.spec.entries) if series.spec.entries else ""
    return [name, size, *_figures(series, marked(series, bounds), repeated=repeated)]


def _figures(series: Series, verdict: str | Cell, *, repeated: bool) -> Row:
    interval = around(series, ops_per_s, format_rate) if series.n > 1 else ""
    return [
        *(load_name(series.spec), verdict),
        marked(series, rate_mark(series)),
        *((f"{series.n}", interval) if repeated else ()),
        *(_latency(series, name) for name in PERCENTILES),
        f"{series.failures:,}",
    ]


def _cost(report: Report, run: Run) -> Table:
    points = [(report.distinct_name(s.spec, run, ignoring=LOAD), s) for s in run.series]
    table = cost_table(points)
    return replace(table, title=report.title_for(table.title, run))


def tail(report: Report, run: Run) -> Table:
    columns = ("Point", "Load", "samples", *(f"p{q:g}" for q in FAR_OUT), "max")
    rows = [_tail_row(report, run, series) for series in run.series]
    signs = {NOTHING: f"fewer than {LEAST_BEYOND}.", ">=": _LOWER_BOUND}
    notes = [
        "In brackets: the number of slower samples. Repeats are merged.",
        *explain_signs(rows, signs),
    ]
    return Table(report.title_for("Tail of the latency", run), columns, rows, left=2, notes=notes)


def _tail_row(report: Report, run: Run, series: Series) -> Row:
    keys = {result.spec.key for result in series.results}
    answered, censored = Histogram(), Histogram()
    for point in run.points:
        if point.spec.key in keys:
            answered.add(point.latency)
            censored.add(point.censored)
    merged = with_censored(answered, censored)
    # A percentile that is longer than the shortest timed-out wait is a lower bound.
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


def _latency(series: Series, name: str) -> str | Cell:
    text = latency_mark(series, name)
    if text == NOTHING:
        n = min(result.clocks[LATENCY].n for result in series.results)
        return Cell(NOTHING, why=f"n={n:,}: fewer than 100 samples beyond it")
    return text


def _steps(report: Report, run: Run) -> Table:
    service = [f"service {name}" for name in OVER_TIME]
    columns = ("Point", "Program", "Step", "count", "failed", "per s", *service)
    rows: list[Row] = []
    for point in run.points:
        for step in point.result.steps:
            took = replace(point.result, clocks={LATENCY: step.clocks[SERVICE]})
            latencies = [latency_mark(Series(point.spec, (took,)), name) for name in OVER_TIME]
            counts = (f"{step.count:,}", f"{step.failures:,}", format_rate(step.per_s))
            name = report.measurement_name(point.spec, run)
            rows.append([name, step.program, step.step, *counts, *latencies])
    return Table(report.title_for("Steps", run), columns, rows, left=3)


def _clocks(report: Report, run: Run) -> Table:
    columns = ("Point", "Step", "Clock", "n", "p50", "p99", "max", "mean")
    rows: list[Row] = [
        [
            report.measurement_name(point.spec, run),
            *(f"{step.program}/{step.step}", clock.heading, f"{took.n:,}"),
            *(duration_text(took, name) for name in ("p50", "p99", "max", "mean")),
        ]
        for point in run.points
        for step in point.result.steps
        for clock in metrics.CLOCKS
        if (took := step.clocks[clock]).n
    ]
    notes = [f"{clock.heading}: {clock.meaning}." for clock in metrics.CLOCKS]
    return Table(report.title_for("Clocks", run), columns, rows, left=3, notes=notes)

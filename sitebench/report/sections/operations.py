"""Every operation in a row: repeats, median, interval, percentiles."""

from __future__ import annotations

from dataclasses import replace

from sitebench.report.model import Report, Run, distinguishing_label, load_name
from sitebench.report.page import Section
from sitebench.report.paper import marked
from sitebench.report.table import NOTHING, Cell, Row, Table
from sitebench.runs.repeats import Series
from sitebench.tables.tables import (
    around,
    latency_mark,
    rate_mark,
    rate_of,
    tries,
    unread_p99,
    waiting,
)
from sitebench.units import format_ns, format_rate, format_size

_PERCENTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9"}


def tables(report: Report) -> list[Table]:
    """Return two tables per run: its operations, and every step of its sequences."""
    return [made for run in report.runs for made in (_operations(report, run), _steps(report, run))]


def section(report: Report) -> Section | None:
    parts = []
    for run in report.runs:
        parts.append(_operations(report, run).to_html())
        steps = _steps(report, run).to_html()
        parts.append(f"<details><summary>Every step of every sequence</summary>{steps}</details>")
    return Section("operations", "Operation by operation", "".join(parts), short="Operations")


def _operations(report: Report, run: Run) -> Table:
    columns = (
        *("Operation", "Size", "Load", "Verdict", "n", "operations/s", "interval"),
        *_PERCENTILES.values(),
        *("failed", "waiting", "unread", "us/op", "headroom"),
    )
    rows = [_row(report, run, each) for each in run.series]
    repeats = {each.n for each in run.series}
    notes = ["n: repeats. Rates and percentiles of latency are medians over repeats."]
    notes[0] += " Latencies are those of right answers."
    if max(repeats) > 1:
        notes[0] += " The interval is 95 % of the median; with few repeats, least and greatest."
    notes += ["n/a: fewer than 100 samples beyond the percentile. us/op: the generator's own CPU."]
    notes.append(">=: the percentile is of operations that were never answered: it is at least so.")
    notes.append("* not the target's alone: the verdict says why.")
    notes.append("Waiting: due and not answered when the window began and when it ended (medians).")
    notes.append("Unread: how long answers lay in the kernel at most; service time includes it.")
    notes.append("Headroom: share of time that the busiest thread of the tester had left.")
    done = [each.result for each in run.stored if each.status == "done"]
    notes += tries([each for each in done if each is not None])
    return Table(report.titled("Operations", run), columns, rows, left=4, notes=notes)


def _row(report: Report, run: Run, each: Series) -> Row:
    suite = report.suite(each.spec.half)
    others = (s.spec for s in run.series if s.spec.operation == each.spec.operation)
    how = distinguishing_label(others, ignoring=("load", "lanes"))(each.spec)
    bounds = ", ".join(dict.fromkeys(r.verdict.bound for r in each.results))
    unread = each.median(unread_p99)
    cpu = each.median(lambda r: r.cpu_us_per_op)
    headroom = each.median(lambda r: r.headroom)
    return [
        ", ".join(filter(None, (suite.title_of(each.spec.operation), how))),
        format_size(each.spec.entries) if each.spec.entries else NOTHING,
        load_name(each.spec),
        marked(each, bounds),
        f"{each.n}",
        marked(each, rate_mark(each)),
        around(each, rate_of, format_rate) if each.n > 1 else "",
        *(_latency(each, name) for name in _PERCENTILES),
        f"{each.failures:,}",
        waiting(each),
        NOTHING if unread is None else format_ns(unread * 1e3),
        NOTHING if cpu is None else f"{cpu:.3g}",
        NOTHING if headroom is None else f"{headroom:.0%}",
    ]


def _latency(each: Series, name: str) -> str | Cell:
    text = latency_mark(each, name)
    if text == NOTHING:
        n = min(result.latency.n for result in each.results)
        return Cell(NOTHING, why=f"n={n:,}: fewer than 100 samples beyond it")
    return text


def _steps(report: Report, run: Run) -> Table:
    columns = ("Point", "Program", "Step", "count", "failed", "per s", "service p50", "service p99")
    rows: list[Row] = []
    for point in run.points:
        name = report.name(point.spec)
        if point.spec.repeat:
            name += f", repeat {point.spec.repeat + 1}"
        for step in point.result.steps:
            took = replace(point.result, latency=step.service)
            shown = [latency_mark(Series(point.spec, (took,)), name) for name in ("p50", "p99")]
            rows.append(
                [
                    *(name, step.program, step.step, f"{step.count:,}", f"{step.failures:,}"),
                    *(format_rate(step.per_s), *shown),
                ]
            )
    return Table(report.titled("Steps", run), columns, rows, left=3)

"""Every operation in a row: repeats, median, interval, percentiles."""

from __future__ import annotations

from sitebench.report.model import Report, Run, distinguishing_label, load_name
from sitebench.report.page import Section
from sitebench.report.paper import why
from sitebench.report.table import NOTHING, Cell, Mark, Row, Table
from sitebench.runs.repeats import Of, Series
from sitebench.tables.tables import around, percentile, rate_of
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
        *("failed", "us/op", "headroom"),
    )
    rows = [_row(report, run, each) for each in run.series]
    repeats = {each.n for each in run.series}
    notes = ["n: repeats. Rates and percentiles of latency are medians over repeats."]
    if max(repeats) > 1:
        notes[0] += " The interval is 95 % of the median; with few repeats, least and greatest."
    notes += ["n/a: fewer than 100 samples beyond the percentile. us/op: the generator's own CPU."]
    notes.append("Headroom: share of time that the busiest thread of the tester had left.")
    return Table(report.titled("Operations", run), columns, rows, left=4, notes=notes)


def _row(report: Report, run: Run, each: Series) -> Row:
    suite = report.suite(each.spec.half)
    others = (s.spec for s in run.series if s.spec.operation == each.spec.operation)
    how = distinguishing_label(others, ignoring=("load", "lanes"))(each.spec)
    rate = each.median(rate_of)
    bounds = ", ".join(dict.fromkeys(r.verdict.bound for r in each.results))
    spoiled = why(each)
    shown = NOTHING if rate is None else format_rate(rate)
    cpu = each.median(lambda r: r.cpu_us_per_op)
    headroom = each.median(lambda r: r.headroom)
    return [
        ", ".join(filter(None, (suite.title_of(each.spec.operation), how))),
        format_size(each.spec.entries) if each.spec.entries else NOTHING,
        load_name(each.spec),
        Cell(bounds, Mark.INVALID, spoiled) if spoiled else bounds,
        f"{each.n}",
        Cell(shown, Mark.INVALID, spoiled) if spoiled else shown,
        around(each, rate_of, format_rate) if each.n > 1 else "",
        *(_micros(each, percentile(name)) for name in _PERCENTILES),
        f"{each.failures:,}",
        NOTHING if cpu is None else f"{cpu:.3g}",
        NOTHING if headroom is None else f"{headroom:.0%}",
    ]


def _micros(each: Series, of: Of) -> str | Cell:
    value = each.median(of)
    if value is None:
        n = min(result.latency.n for result in each.results)
        return Cell(NOTHING, why=f"n={n:,}: fewer than 100 samples beyond it")
    return format_ns(value * 1e3)


def _steps(report: Report, run: Run) -> Table:
    columns = ("Point", "Program", "Step", "count", "failed", "per s", "service p50", "service p99")
    rows: list[Row] = []
    for point in run.points:
        name = report.name(point.spec)
        if point.spec.repeat:
            name += f", repeat {point.spec.repeat + 1}"
        for step in point.result.steps:
            marks = step.service.percentiles
            shown = [
                NOTHING if v is None else format_ns(v * 1e3) for v in (marks["p50"], marks["p99"])
            ]
            rows.append(
                [
                    *(name, step.program, step.step, f"{step.count:,}", f"{step.failures:,}"),
                    *(format_rate(step.per_s), *shown),
                ]
            )
    return Table(report.titled("Steps", run), columns, rows, left=3)

"""Tables in the shape of the papers: one measurement per row, one size per column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Of, Series, least_repeats, series
from sitebench.units import format_bytes, format_ns, format_rate, format_size

_NOTHING = "n/a"


def rate_of(result: PointResult) -> float:
    return result.ops_per_s


def of_operation(results: Sequence[PointResult], operation: str) -> list[Series]:
    """Return the repeats of one operation, smallest size first."""
    chosen = [result for result in results if result.spec.operation == operation]
    return sorted(series(chosen), key=lambda each: each.spec.size)


def titled(title: str, table: Table) -> Group:
    """Put a title above a table; rich would wrap its own title to the table's width."""
    return Group(Text(title, style="bold"), table)


def new_table(*columns: str, left: int = 1) -> Table:
    """Make a table with right-justified columns, except for the first `left`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for n, name in enumerate(columns):
        # Words may wrap on a narrow screen; figures must not.
        table.add_column(name, justify="left" if n < left else "right", no_wrap=n >= left)
    return table


def by_size(
    title: str, sizes: Sequence[int], rows: Mapping[str, Sequence[str]], unit: str = "Users"
) -> Group:
    """Lay out rows under one column per size."""
    names = [f"{format_size(size)} {unit}" for size in sizes]
    table = new_table("Average measurement", *names)
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return titled(title, table)


def measurement_rows(found: Sequence[Series], rate_name: str) -> dict[str, list[str]]:
    """Return the five rows of the papers' measurement tables, each the median over repeats.

    "Sent" and "received" are the target's, as perfmon counted them on the server; available
    memory is the value at the end.
    """
    return {
        "CPU Utilization": medians(
            found, lambda r: r.use.target_cpu_percent, lambda value: f"{value:.1f}%"
        ),
        rate_name: medians(found, rate_of, format_rate),
        "Bytes sent/sec": medians(found, lambda r: r.bytes_in / r.seconds, format_bytes),
        "Bytes received/sec": medians(found, lambda r: r.bytes_out / r.seconds, format_bytes),
        "Available memory": medians(found, lambda r: r.use.available, format_bytes),
    }


def medians(found: Sequence[Series], of: Of, show: Callable[[float], str]) -> list[str]:
    """Return a row of medians, with `n/a` where one is not known."""
    values = [each.median(of) for each in found]
    return [_NOTHING if value is None else show(value) for value in values]


def repeat_rows(found: Sequence[Series], rate_name: str) -> dict[str, list[str]]:
    """Return the interval of the operations per second; nothing without repeats."""
    if all(each.n == 1 for each in found):
        return {}
    sure = all(each.n >= least_repeats() for each in found)
    title = "95% interval" if sure else "least and greatest"
    return {
        f"{rate_name}, {title}": [around(each, rate_of, format_rate) for each in found],
        "Repeats": [f"{each.n}" for each in found],
    }


def around(each: Series, of: Of, show: Callable[[float], str]) -> str:
    """Return the interval of a median; least and greatest if there are too few values for one."""
    interval = each.interval(of)
    bounds = each.spread(of) if interval is None else (interval.low, interval.high)
    return _NOTHING if bounds is None else f"{show(bounds[0])}..{show(bounds[1])}"


def _repeat_notes(results: Sequence[PointResult]) -> list[str]:
    """Explain the figures of repeats, and that few repeats have no interval."""
    counts = sorted({each.n for each in series(results)})
    if not counts or counts[-1] == 1:
        return []
    if counts[0] >= least_repeats():
        return ["Figures are medians over repeats, with exact 95% intervals of the median."]
    return [
        "Figures are medians over repeats; a 95% interval needs "
        f"{least_repeats()} repeats and there are {counts[0]}, so least and greatest are shown."
    ]


def latency_table(results: Sequence[PointResult]) -> Group:
    """Lay out latencies and the tester's own cost: one point per row, medians over repeats.

    A percentile of too few samples is `n/a`; `n` counts all samples. Headroom is the share of time
    that the busiest thread of the tester had left.
    """
    columns = ("Point", "n", "p50", "p99", "p99.9", "fails", "us/op", "headroom")
    table = new_table(*columns)
    for each in series(results):
        table.add_row(
            f"{each.spec.operation} {format_size(each.spec.size)}",
            f"{sum(result.latency.n for result in each.results):,}",
            *(medians([each], percentile(q), show_micros)[0] for q in ("p50", "p99", "p99_9")),
            f"{each.failures:,}",
            *medians([each], lambda r: r.cpu_us_per_op, lambda value: f"{value:.1f}"),
            *medians([each], lambda r: r.headroom, lambda value: f"{value:.0%}"),
        )
    return titled("Latency, and the tester's own cost", table)


def footnotes(results: Sequence[PointResult]) -> list[str]:
    """Explain every invalid or failing point in a line, and the figures of repeats."""
    return _repeat_notes(results) + [
        f"* {point_name(result.spec)}: {result.verdict.bound}: {result.verdict.evidence}"
        for result in results
        if needs_footnote(result)
    ]


def needs_footnote(result: PointResult) -> bool:
    return not result.verdict.valid or result.failures > 0


def point_name(spec: PointSpec) -> str:
    """Return the name that distinguishes a point from the others of its run."""
    parts = [spec.title]
    if limits := spec.settings.get("target_limits"):
        parts.append(limits)
    if spec.rate is not None:
        parts.append(f"{format_rate(spec.rate)}/s")
    if spec.entries:
        parts.append(spec.clients)
    if spec.repeat:
        parts.append(f"repeat {spec.repeat + 1}")
    return ", ".join(parts)


def percentile(name: str) -> Of:
    """Return a getter for a percentile of the latency, in microseconds."""
    return lambda result: result.latency.percentiles[name]


def bounds(each: Series) -> str:
    """Return the verdicts of all repeats, invalid ones in red."""
    found = {r.verdict.bound: r.verdict.valid for r in each.results}
    return ", ".join(bound if valid else f"[red]{bound}[/]" for bound, valid in found.items())


def show_micros(value: float) -> str:
    return format_ns(value * 1e3)

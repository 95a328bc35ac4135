"""Tables in the shape of the papers: one measurement per row, one size per column."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from sitebench.counts.metrics import BYTES_IN, BYTES_OUT, LATENCY, UNREAD, WRONG, Counter
from sitebench.counts.percentile_interval import too_alike_to_tell
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Of, Series, counted, least_repeats, series
from sitebench.targets.limits import Limits
from sitebench.units import (
    format_bytes,
    format_interval,
    format_ns,
    format_people,
    format_rate,
    format_size,
    plural,
)
from sitebench.verdict.verdict import Quoted

_NOTHING = "n/a"
_ANY = 100_000
"""A width that is enough for any text."""
_COLOURS = {Quoted.MEASURED: "", Quoted.AT_LEAST: "yellow", Quoted.NOT_USABLE: "red"}


def rate_of(result: PointResult) -> float:
    return result.ops_per_s


def of_operation(results: Sequence[PointResult], operation: str) -> list[Series]:
    """Return the repeats of one operation, smallest size first."""
    chosen = [result for result in results if result.spec.operation == operation]
    return sorted(series(chosen), key=lambda each: each.spec.size)


def titled(title: str, table: Table) -> Group:
    """Put a title above a table; rich would wrap its own title to the table's width."""
    return Group(Text(title, style="bold"), table)


class _Whole(Table):
    """A table that is wider than the terminal if its figures need that: none is ever cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        least = 2 + sum(3 + _least_width(console, options, column) for column in self.columns)
        wider = options.update(width=least) if options.max_width < least else options
        yield from super().__rich_console__(console, wider)


def _least_width(console: Console, options: ConsoleOptions, column: Column) -> int:
    """Return the width of the longest cell, or of the longest word where words may wrap."""
    unlimited = options.update(width=_ANY)
    cells = (column.header, *column.cells)
    sizes = [Measurement.get(console, unlimited, each) for each in cells]
    return max(size.maximum if column.no_wrap else size.minimum for size in sizes)


def new_table(*columns: str, left: int = 1) -> Table:
    """Make a table with right-justified columns, except for the first `left`."""
    table = _Whole(box=box.SIMPLE_HEAD, pad_edge=False)
    for n, name in enumerate(columns):
        # Words may wrap on a narrow screen; figures must not.
        table.add_column(name, justify="left" if n < left else "right", no_wrap=n >= left)
    return table


def by_size(
    title: str,
    sizes: Sequence[int],
    rows: Mapping[str, Sequence[str]],
    unit: str = "Users",
    variants: Sequence[str] = (),
) -> Group:
    """Lay out rows under one column per size, or per size and variant."""
    names = [format_people(size, unit) for size in sizes]
    names = [name + more for name, more in zip(names, variants or [""] * len(names), strict=True)]
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
        rate_name: [rate_mark(each) for each in found],
        "Bytes sent/sec": medians(found, _per_second(BYTES_IN), format_bytes),
        "Bytes received/sec": medians(found, _per_second(BYTES_OUT), format_bytes),
        "Available memory": medians(found, lambda r: r.use.available, format_bytes),
    }


def _per_second(counter: Counter) -> Of:
    return lambda result: result.per_second(result.counters.get(counter))


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
    return _NOTHING if bounds is None else format_interval(*bounds, show)


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

    A percentile of too few samples is `n/a`; `n` counts all samples. Waiting: operations due and
    not answered when the window began and when it ended. Unread: how long answers lay in the kernel
    at most (p99). Headroom is the share of time that the busiest thread of the tester had left. The
    95 % intervals of p99 stand below, and wrong answers, which are not among the latencies.
    """
    table = new_table("Point", "n", "p50", "p95", "p99", "p99.9", "fails")
    cost = new_table("Point", "waiting", UNREAD, "us/op", "headroom")
    for each in series(results):
        called = f"{each.spec.operation} {format_size(each.spec.size)}{each.spec.variant}"
        table.add_row(
            called,
            f"{sum(result.clocks[LATENCY].n for result in each.results):,}",
            *(latency_mark(each, name) for name in ("p50", "p95", "p99", "p99_9")),
            f"{each.failures:,}",
        )
        cost.add_row(
            called,
            waiting(each),
            *medians([each], unread_p99, show_micros),
            *medians([each], lambda r: r.cpu_us_per_op, lambda value: f"{value:.1f}"),
            *medians([each], lambda r: r.headroom, lambda value: f"{value:.0%}"),
        )
    lines = [
        Text(
            f"{each.spec.operation} {format_size(each.spec.size)}{each.spec.variant}: {sure}",
            style="dim",
        )
        for each in series(results)
        if (sure := "; ".join(filter(None, (_p99_interval(each), _wrong(each)))))
    ]
    own = titled("The tester's own cost", cost)
    return Group(titled("Latency", table), *lines, Text(), own)


def unread_p99(result: PointResult) -> float | None:
    """Return how long answers lay unread at most, in microseconds."""
    return result.clocks[UNREAD].p99


def _wrong(each: Series) -> str:
    wrong = [found for result in each.results if (found := result.clocks[WRONG]).n]
    if not wrong:
        return ""
    most = max(found.max or 0.0 for found in wrong)
    return f"{sum(found.n for found in wrong):,} wrong answers, within {show_micros(most)}"


def waiting(each: Series) -> str:
    """Return how many operations were due and not answered at both edges of the window."""
    edges: tuple[Of, Of] = (
        lambda r: None if r.queue_start is None else r.queue_start.length,
        lambda r: None if r.queue_end is None else r.queue_end.length,
    )
    return ", ".join(medians([each], of, lambda value: f"{value:,.0f}")[0] for of in edges)


def footnotes(results: Sequence[PointResult]) -> list[str]:
    """Explain every invalid or failing point in a line, and the figures of repeats."""
    return _repeat_notes(results) + [
        f"* {point_name(result.spec)}: {result.verdict.bound}: {result.verdict.evidence}"
        for result in results
        if needs_footnote(result)
    ]


def attempts(results: Sequence[PointResult]) -> list[str]:
    """Say in a line of each point that was tried twice what both tries gave, and which counts."""
    chosen = {id(each) for each in counted(results)}
    lines = []
    for second in (each for each in results if each.spec.threads is not None):
        spec = dataclasses.replace(second.spec, threads=None)
        pair = [*(each for each in results if each.spec == spec), second]
        said = [
            f"{each.verdict.grade} {format_rate(each.ops_per_s)}/s with "
            f"--threads {len(each.generator_cpu_s)}{', which counts' if id(each) in chosen else ''}"
            for each in pair
        ]
        lines.append(f"{point_name(spec)}: {'; '.join(said)}.")
    return lines


def needs_footnote(result: PointResult) -> bool:
    return not result.verdict.valid or result.failures > 0


def processors(each: Series) -> int | None:
    """Return how many processors the target had: its limit, or its machine's; None elsewhere."""
    limited = Limits.parse(each.spec.settings.get("target_limits", "")).processors
    cores = {len(r.use.machine.busy_per_core) for r in each.results if r.use.target_is_local}
    return limited or (cores.pop() if len(cores) == 1 else None)


def setup(found: Sequence[Series]) -> str:
    """Return what stood where a paper names its machine: target, clients, processors."""
    targets = dict.fromkeys(each.spec.target for each in found)
    users = dict.fromkeys(f"{each.spec.users:,}" for each in found)
    clients = found[0].spec.clients if len(users) == 1 else f"{' and '.join(users)} clients"
    return ", ".join([" and ".join(targets), clients, *_processors(found)])


def _processors(found: Sequence[Series]) -> list[str]:
    had = {processors(each) for each in found}
    return [in_processors(n) for n in sorted(each for each in had if each)]


def in_processors(n: int) -> str:
    return plural(n, "processor")


def point_name(spec: PointSpec) -> str:
    """Return the name that distinguishes a point from the others of its run."""
    parts = [spec.title]
    if limits := spec.settings.get("target_limits"):
        parts.append(limits)
    if spec.stages is not None:
        parts.append(spec.stages.name)
    elif spec.rate is not None:
        parts.append(f"{format_rate(spec.rate)}/s")
    if spec.entries:
        parts.append(spec.clients)
    if spec.repeat:
        parts.append(f"repeat {spec.repeat + 1}")
    return ", ".join(parts)


def percentile(name: str) -> Of:
    """Return a getter for a percentile of the latency, in microseconds."""
    return lambda result: result.clocks[LATENCY].percentiles[name]


def latency_mark(each: Series, name: str) -> str:
    """Return a figure of the latency; `>= 10 s` or `<= 10 s` where it is a bound.

    Answers that never came leave a lower bound, long waits for other programs an upper one. `name`
    is a field of `Durations`: `p99_9`, which a heading spells `p99.9`.

    Where it is not the target's alone, as the tester was the limit or the rate was not steady, a
    `*` leads to the footnote.
    """
    (text,) = medians([each], lambda result: getattr(result.clocks[LATENCY], name), show_micros)
    if text == _NOTHING:
        return text
    # Of repeats, a lower bound of one weighs more: it is of answers that never came.
    sign = max(result.latency_sign(name) for result in each.results)
    return f"{sign}{text}{'' if each.valid else ' *'}"


def rate_mark(each: Series, of: Of = rate_of) -> str:
    """Return the median of a rate: `>= 17,490` where it is a lower bound."""
    (text,) = medians([each], of, format_rate)
    return f">= {text}" if each.grade == Quoted.AT_LEAST and text != _NOTHING else text


def _p99_interval(each: Series) -> str:
    """Return `p99 1.26 ms (1.19..1.34 ms)`: by half seconds or, of six repeats, by their median."""
    if each.n == 1:
        latency = each.results[0].clocks[LATENCY]
        if (would_do_s := latency.too_alike.get("p99")) is not None:
            return f"p99 {latency_mark(each, 'p99')} ({too_alike_to_tell(would_do_s)})"
        low, high = latency.intervals.get("p99", (None, None))
    else:
        among = each.interval(percentile("p99"))
        low, high = (None, None) if among is None else (among.low, among.high)
    if low is None:
        return ""
    return f"p99 {latency_mark(each, 'p99')} ({format_interval(low, high, show_micros)})"


def bounds(each: Series) -> str:
    """Return the verdicts of all repeats, coloured where the rate is a lower bound or none."""
    found = {r.verdict.bound: _COLOURS[r.verdict.grade] for r in each.results}
    return ", ".join(
        f"[{colour}]{bound}[/]" if colour else bound for bound, colour in found.items()
    )


def show_micros(value: float) -> str:
    return format_ns(value * 1e3)

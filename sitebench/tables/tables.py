"""Figures as text, and the tables of points that all suites share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from sitebench.counts.durations import PERCENTILES, Durations, heading
from sitebench.counts.metrics import BYTES_IN, BYTES_OUT, LATENCY, UNREAD, WRONG, Counter
from sitebench.counts.percentile_interval import too_alike_to_tell
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Of, Series, best_tries, least_repeats, series
from sitebench.tables.table import NOTHING, Cell, Mark, Table
from sitebench.targets.limits import Limits
from sitebench.units import (
    format_bytes,
    format_interval,
    format_ns,
    format_rate,
    format_size,
    plural,
)
from sitebench.verdict.verdict import Quoted

_LIMITS = {Quoted.AT_LEAST: Mark.POSSIBLE, Quoted.NOT_USABLE: Mark.FAIL}


def ops_per_s(result: PointResult) -> float:
    return result.ops_per_s


def of_operation(results: Sequence[PointResult], operation: str) -> list[Series]:
    """Return the repeats of one operation, smallest size first."""
    selected = [result for result in results if result.spec.operation == operation]
    return sorted(series(selected), key=lambda point: point.spec.size)


def measurement_rows(points: Sequence[Series], rate_name: str) -> dict[str, list[str]]:
    """Return the rows of the papers' measurement tables, as medians over repeats.

    "Sent" means sent by the target; the available memory was read at the end of the window.
    """
    return {
        "CPU Utilization": medians(
            points, lambda r: r.use.target_cpu_percent, lambda value: f"{value:.1f}%"
        ),
        rate_name: [rate_mark(point) for point in points],
        "Bytes sent/sec": medians(points, _per_second(BYTES_IN), format_bytes),
        "Bytes received/sec": medians(points, _per_second(BYTES_OUT), format_bytes),
        "Available memory": medians(points, lambda r: r.use.available, format_bytes),
    }


def _per_second(counter: Counter) -> Of:
    return lambda result: result.per_second(result.counters.get(counter))


def medians(points: Sequence[Series], getter: Of, show: Callable[[float], str]) -> list[str]:
    """Return a row of medians; `n/a` where a median is not known."""
    values = [point.median(getter) for point in points]
    return [NOTHING if value is None else show(value) for value in values]


def repeat_rows(points: Sequence[Series], rate_name: str) -> dict[str, list[str]]:
    """Return the interval of the operations per second; nothing without repeats."""
    if all(point.n == 1 for point in points):
        return {}
    sure = all(point.n >= least_repeats() for point in points)
    title = "95% interval" if sure else "least and greatest"
    return {
        f"{rate_name}, {title}": [around(point, ops_per_s, format_rate) for point in points],
        "Repeats": [f"{point.n}" for point in points],
    }


def around(point: Series, getter: Of, show: Callable[[float], str]) -> str:
    bounds = point.bounds(getter)
    return NOTHING if bounds is None else format_interval(*bounds, show)


def _repeat_notes(results: Sequence[PointResult]) -> list[str]:
    counts = sorted({point.n for point in series(results)})
    if not counts or counts[-1] == 1:
        return []
    if counts[0] >= least_repeats():
        return ["Figures are medians over repeats, with exact 95% intervals of the median."]
    return [
        f"Figures are medians over repeats; a 95% interval needs {least_repeats()} repeats and "
        f"there are {counts[0]}, so the smallest and the largest value are shown."
    ]


def latency_tables(results: Sequence[PointResult]) -> list[Table]:
    """Return latencies and the cost of the load generator, as medians over repeats.

    A percentile of too few samples is `n/a`; `n` counts all samples. The notes have the 95 %
    intervals of p99, and wrong answers, which are not among the latencies.
    """
    points = [
        (f"{point.spec.operation} {format_size(point.spec.size)}{point.spec.variant}", point)
        for point in series(results)
    ]
    rows = [
        [
            name,
            f"{sum(result.clocks[LATENCY].n for result in point.results):,}",
            *(latency_mark(point, figure) for figure in PERCENTILES),
            f"{point.failures:,}",
        ]
        for name, point in points
    ]
    notes = [
        f"{name}: {sure}"
        for name, point in points
        if (sure := "; ".join(filter(None, (_p99_interval(point), _wrong(point)))))
    ]
    columns = ("Point", "n", *map(heading, PERCENTILES), "fails")
    return [Table("Latency", columns, rows, notes=notes), cost_table(points)]


def cost_table(points: Iterable[tuple[str, Series]]) -> Table:
    rows = [
        [
            *(name, load_name(point.spec), waiting(point)),
            *medians([point], lambda r: r.clocks[UNREAD].p99, show_micros),
            *medians([point], lambda r: r.cpu_us_per_op, "{:.3g}".format),
            *medians([point], lambda r: r.headroom, "{:.0%}".format),
        ]
        for name, point in points
    ]
    notes = [
        "Waiting: operations due and not answered at the beginning and at the end of the window "
        "(medians).",
        "Unread: upper bound of the time that answers lay in the kernel; service time includes it.",
        "us/op: CPU time of the load generator. Headroom: share of time in which its busiest "
        "thread was idle.",
    ]
    columns = ("Point", "Load", "waiting", UNREAD, "us/op", "headroom")
    return Table("Cost of the load generator", columns, rows, 2, notes)


def load_name(spec: PointSpec) -> str:
    if spec.stages is None and spec.rate is not None:
        return f"{spec.load} asked for"
    return spec.load if spec.stages is not None else spec.load.replace(" ", "\u00a0")


def _wrong(point: Series) -> str:
    wrong = [clock for result in point.results if (clock := result.clocks[WRONG]).n]
    if not wrong:
        return ""
    longest_us = max(clock.max or 0.0 for clock in wrong)
    return f"{sum(clock.n for clock in wrong):,} wrong answers, within {show_micros(longest_us)}"


def waiting(point: Series) -> str:
    """Return the numbers of operations due and not answered at both edges of the window."""
    edges: tuple[Of, Of] = (
        lambda r: None if r.queue_start is None else r.queue_start.length,
        lambda r: None if r.queue_end is None else r.queue_end.length,
    )
    return ", ".join(medians([point], edge, lambda value: f"{value:,.0f}")[0] for edge in edges)


def footnotes(results: Sequence[PointResult]) -> list[str]:
    """Explain the figures of repeats, and each invalid or failing point in a line."""
    return _repeat_notes(results) + [
        f"* {point_name(result.spec)}: {result.verdict.bound}: {result.verdict.evidence}"
        for result in results
        if needs_footnote(result)
    ]


def attempts(results: Sequence[PointResult]) -> list[str]:
    """Describe both tries of each point that was tried twice, and name the try that counts."""
    counting = {id(result) for result in best_tries(results)}
    lines = []
    for second in (result for result in results if result.spec.threads is not None):
        spec = replace(second.spec, threads=None)
        pair = [*(result for result in results if result.spec == spec), second]
        tries = [
            f"{result.verdict.grade} {format_rate(result.ops_per_s)}/s with --threads "
            f"{len(result.generator_cpu_s)}{', which counts' if id(result) in counting else ''}"
            for result in pair
        ]
        lines.append(f"{point_name(spec)}: {'; '.join(tries)}.")
    return lines


def needs_footnote(result: PointResult) -> bool:
    return not result.verdict.valid or result.failures > 0


def processors(point: Series) -> int | None:
    """Return the number of processors that the target may use; None if it is not known."""
    limited = Limits.parse(point.spec.settings.get("target_limits", "")).processors
    cores = {len(r.use.machine.busy_per_core) for r in point.results if r.use.target_is_local}
    return limited or (cores.pop() if len(cores) == 1 else None)


def setup(points: Sequence[Series]) -> str:
    """Return the test bed, as a paper names it: target, clients, processors."""
    targets = dict.fromkeys(point.spec.target for point in points)
    users = dict.fromkeys(f"{point.spec.users:,}" for point in points)
    clients = points[0].spec.clients if len(users) == 1 else f"{' and '.join(users)} clients"
    counts = sorted(filter(None, {processors(point) for point in points}))
    return ", ".join([" and ".join(targets), clients, *(plural(n, "processor") for n in counts)])


def point_name(spec: PointSpec) -> str:
    """Return the name that distinguishes a point from the others of its run."""
    parts = [spec.title]
    if limits := spec.settings.get("target_limits"):
        parts.append(limits)
    if spec.stages is not None or spec.rate is not None:
        parts.append(spec.load)
    if spec.entries:
        parts.append(spec.clients)
    return spec.with_repeat(", ".join(parts))


def percentile(name: str) -> Of:
    """Return a getter for a percentile of the latency, in microseconds."""
    return lambda result: result.clocks[LATENCY].percentiles[name]


def duration_text(durations: Durations, name: str) -> str:
    """Return a figure of a clock; `name` is a field of `Durations`."""
    us: float | None = getattr(durations, name)
    if us is None:
        return NOTHING
    return f"{'>= ' if name in durations.at_least else ''}{show_micros(us)}"


def latency_mark(point: Series, name: str) -> str:
    """Return a figure of the latency; `name` is a field of `Durations`.

    `>= 10 s` is a lower bound (some operations were never answered), `<= 10 s` an upper bound (with
    waits for other programs). The `*` of an invalid point refers to the footnote.
    """
    (text,) = medians([point], lambda result: getattr(result.clocks[LATENCY], name), show_micros)
    if text == NOTHING:
        return text
    # A lower bound of one repeat wins: `max` takes `>=` before `<=`.
    sign = max(result.latency_sign(name) for result in point.results)
    return f"{sign}{text}{'' if point.valid else ' *'}"


def rate_mark(point: Series, getter: Of = ops_per_s) -> str:
    """Return the median of a rate: `>= 17,490` where it is a lower bound."""
    (text,) = medians([point], getter, format_rate)
    return f">= {text}" if point.grade == Quoted.AT_LEAST and text != NOTHING else text


def _p99_interval(point: Series) -> str:
    """Return `p99 1.26 ms (1.19..1.34 ms)`; repeats have the interval of their median."""
    if point.n == 1:
        latency = point.results[0].clocks[LATENCY]
        if (would_do_s := latency.too_alike.get("p99")) is not None:
            return f"p99 {latency_mark(point, 'p99')} ({too_alike_to_tell(would_do_s)})"
        low, high = latency.intervals.get("p99", (None, None))
    else:
        among = point.interval(percentile("p99"))
        low, high = (None, None) if among is None else (among.low, among.high)
    if low is None:
        return ""
    return f"p99 {latency_mark(point, 'p99')} ({format_interval(low, high, show_micros)})"


def limit(point: Series) -> Cell:
    """Return the verdicts of all repeats, marked unless the point is valid."""
    bounds = dict.fromkeys(result.verdict.bound for result in point.results)
    return Cell(", ".join(bounds), _LIMITS.get(point.grade, Mark.PLAIN))


def marked(point: Series, text: str) -> str | Cell:
    if point.valid:
        return text
    return Cell(text, Mark.BOUND if point.usable else Mark.INVALID, why(point))


def why(point: Series) -> str:
    verdicts = (result.verdict for result in point.results if not result.verdict.valid)
    return "; ".join(dict.fromkeys(f"{verdict.bound}: {verdict.evidence}" for verdict in verdicts))


def show_micros(value: float) -> str:
    return format_ns(value * 1e3)

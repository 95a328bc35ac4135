"""The results of a run on the terminal: a row per point, and notes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from sitebench.counts.metrics import THINKING
from sitebench.counts.source import SEQUENCE
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, least_repeats, series
from sitebench.tables.table import Cell
from sitebench.tables.tables import around, latency_mark, limit, load_name, ops_per_s, rate_mark
from sitebench.tables.terminal import to_text
from sitebench.units import format_duration, format_rate, format_size, plural
from sitebench.verdict.verdict import Bound, Quoted

_GAP = "  "
_PERCENTILES = ("p50", "p95", "p99")
_DROPPED = ("p95", "p50")
"""Columns that a narrow terminal leaves out, in this order."""
_LOWER = Quoted.AT_LEAST
_DELAYED_BY = {Bound.GENERATOR: "the load generator", Bound.OTHERS: "other programs"}
"""The causes of too high a latency, in a point whose rate is a lower bound."""
_SEVERAL = 1.5
"""Least ratio of a step's rate to the rate of arrivals at which a note lists both."""
LONGER = 1.5
"""If a window exceeds `--measure` by this factor, the title says that `--until` extended it."""


class _Column(msgspec.Struct, frozen=True):
    name: str
    cells: Sequence[str | Cell]
    right: bool = True

    @property
    def width(self) -> int:
        return max(to_text(cell).cell_len for cell in (self.name, *self.cells))

    def lines(self) -> list[Text]:
        lines = [to_text(cell) for cell in (self.name, *self.cells)]
        for line in lines:
            line.align("right" if self.right else "left", self.width)
        return lines


class PointsTable:
    """A row per point, whose figures are never cut or wrapped."""

    def __init__(self, results: Sequence[PointResult]) -> None:
        points = series(results)
        self._points = [part for point in points for part in (point, *point.parts)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title, columns = _title(self._points), _columns(self._points)
        if _width(columns) > options.max_width and len(set(columns[0].cells)) == 1:
            title, columns = f"{columns[0].cells[0]}, {title}", columns[1:]
        for name in _DROPPED:
            if _width(columns) > options.max_width:
                columns = [column for column in columns if column.name != name]
        yield Text(title, style="bold")
        for n, row in enumerate(zip(*(column.lines() for column in columns), strict=True)):
            line = Text(_GAP, no_wrap=True, overflow="ignore", style="" if n else "dim").join(row)
            line.rstrip()
            yield line
        yield from (Text(note, style="dim") for note in _notes(self._points))


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _title(points: Sequence[Series]) -> str:
    """Return the common settings of all points."""
    first = points[0].spec
    parts = [first.target]
    if len({point.spec.users for point in points}) == 1:
        parts.append(first.clients)
    one_rate = first.rate is not None and len({point.spec.rate for point in points}) == 1
    if first.stages is not None or one_rate:
        parts.append(load_name(first))
    measured = format_duration(first.measure_s)
    seconds = [result.seconds for point in points for result in point.results]
    if min(seconds) > LONGER * first.measure_s:
        measured = f"{min(seconds):.0f}s"
    if max(seconds) > LONGER * min(seconds):
        measured += f" to {max(seconds):.0f}s"
    return ", ".join([*parts, f"{format_duration(first.warmup_s)} warm-up, {measured} measured"])


def _columns(points: Sequence[Series]) -> list[_Column]:
    specs = [point.spec for point in points]
    columns = [_Column("Operation", [spec.operation for spec in specs], right=False)]
    peopled = any(spec.entries for spec in specs)
    if peopled:
        columns.append(_Column("Size", [format_size(spec.entries) for spec in specs]))
    if len({spec.variant for spec in specs}) > 1:
        hashes = [spec.settings.get("hash", "") for spec in specs]
        columns.append(_Column("Hash", hashes, right=False))
    if not peopled or len({spec.users for spec in specs}) > 1:
        columns.append(_Column("Clients", [f"{spec.users:,}" for spec in specs]))
    columns.append(_Column("Rate/s", [_rate(point) for point in points]))
    if any(point.n > 1 for point in points):
        sure = all(point.n >= least_repeats() for point in points)
        title = "95% interval" if sure else "least..most"
        columns.append(_Column(title, [around(point, ops_per_s, format_rate) for point in points]))
    columns += [_Column(name, _latencies(points, name)) for name in _PERCENTILES]
    columns.append(_Column("Fails", [f"{point.failures:,}" for point in points]))
    columns.append(_Column("Limit", [_limit(point) for point in points], right=False))
    return columns


def _rate(point: Series) -> str:
    """Return the rate; for a lower bound with a known upper bound, both: `900..1,500`."""
    if point.grade == Quoted.AT_LEAST and point.at_most is not None:
        return f"{format_rate(point.median(ops_per_s) or 0.0)}..{format_rate(point.at_most)}"
    return rate_mark(point)


def _latencies(points: Sequence[Series], name: str) -> list[str]:
    cells = [latency_mark(point, name) for point in points]
    marked = any(cell.endswith("*") for cell in cells)
    return [f"{cell}  " if marked and not cell.endswith("*") else cell for cell in cells]


def _limit(point: Series) -> str | Cell:
    if point.part:
        return ""
    cell = limit(point)
    return cell if point.usable else Cell(f"{cell.text} (not usable)", cell.mark)


def _notes(points: Sequence[Series]) -> list[str]:
    marks = []
    if any(point.grade == Quoted.AT_LEAST and point.at_most is not None for point in points):
        marks.append("a..b: the true rate is between a and b")
    cells = [latency_mark(point, name) for point in points for name in _PERCENTILES]
    if any(cell.startswith("<=") for cell in cells):
        marks.append("<=: waits for other programs are in it")
    grades = {point.grade for point in points}
    lower = {
        r.verdict.bound for point in points for r in point.results if r.verdict.grade == _LOWER
    }
    reasons = ["not usable"] * (Quoted.NOT_USABLE in grades)
    if _LOWER in grades and (causes := [_DELAYED_BY[b] for b in _DELAYED_BY if b in lower]):
        reasons.insert(0, f"includes delays of {' or '.join(causes)}; the server was faster")
    if any(cell.endswith("*") for cell in cells):
        marks.append(f"*: {', or '.join(reasons)}")
    notes = [f"{'; '.join(marks)}."] if marks else []
    highest, lowest = max(point.n for point in points), min(point.n for point in points)
    if highest > 1:
        needed = f"; a 95% interval needs {least_repeats()}" if lowest < least_repeats() else ""
        notes.append(f"Medians over {highest} repeats{needed}.")
    for point in points:
        if not point.part:
            notes += _arrival_rates(point.results[-1])
    results = [result for point in points if not point.part for result in point.results]
    if thinking := sum(int(result.counters.get(THINKING) or 0) for result in results):
        pronoun = "its" if thinking == 1 else "their"
        subject = plural(thinking, "operation was", "operations were")
        notes.append(f"{subject} in a think time of {pronoun} own when the test ended: left out.")
    return notes


def _arrival_rates(result: PointResult) -> list[str]:
    """Return a note for each step that counts several times in an arrival."""
    if result.spec.rate is None:
        return []
    whole = {step.program: step for step in result.steps if step.step == SEQUENCE}
    return [
        f"{step.program}: {format_rate(arrived.per_s)}/s arrived, with {format_rate(step.per_s)}/s "
        f"of its step {step.step} in all."
        for step in result.steps
        if step.counted
        and step.step != SEQUENCE
        and (arrived := whole.get(step.program)) is not None
        and step.per_s > _SEVERAL * arrived.per_s > 0
    ]

"""The table of a test in stages, minute by minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import structs

from sitebench.counts.durations import LEAST_BEYOND, OVER_TIME
from sitebench.counts.spans import Span
from sitebench.counts.stages import Stages
from sitebench.runs.point import PointResult
from sitebench.tables.table import NOTHING, Table
from sitebench.units import format_clock, format_duration, format_ns, format_rate

_MOST_ROWS = 60
"""The most rows on the terminal, an hour of minutes; the report and `export` have all rows."""


def _latency(name: str) -> Callable[[Span], str]:
    def format_latency(span: Span) -> str:
        us = getattr(span.latency_us, name)
        if us is None:
            return NOTHING
        least = ">= " if name in span.latency_us.at_least else ""
        return f"{least}{format_ns(us * 1e3)}"

    return format_latency


_COLUMNS: Mapping[str, Callable[[Span], str]] = {
    "from": lambda span: format_clock(span.begin_s),
    "users": lambda span: NOTHING if span.users is None else f"{span.users:,.1f}",
    "asked/s": lambda span: NOTHING if (n := span.asked_per_s) is None else format_rate(n),
    "answered/s": lambda span: format_rate(span.answered_per_s),
    "fails": lambda span: f"{span.failures:,}",
    "thinking": lambda span: f"{span.thinking:,}",
    "began late": lambda span: NOTHING if (us := span.late_us) is None else format_ns(us * 1e3),
    **{name: _latency(name) for name in OVER_TIME},
    "max": _latency("max"),
}
_OF_RATES, _OF_USERS = ("asked/s", "began late"), ("users",)
_THINKING = "thinking"


def columns(stages: Stages, spans: Iterable[Span]) -> dict[str, Callable[[Span], str]]:
    """Return the columns by heading; the first column has the begins of the spans."""
    omitted = _OF_RATES if stages.of_users else _OF_USERS
    if not any(span.thinking for span in spans):
        omitted = (*omitted, _THINKING)
    return {name: cell for name, cell in _COLUMNS.items() if name not in omitted}


def notes(groups: Iterable[tuple[Stages, Iterable[Span]]]) -> list[str]:
    groups = list(groups)
    kinds = {stages.of_users for stages, _ in groups}
    return [
        *([_DUE] if False in kinds else []),
        *([_BEGUN] if True in kinds else []),
        *([_LEFT_OUT] if any(span.thinking for _, spans in groups for span in spans) else []),
        f"n/a: fewer than {LEAST_BEYOND} operations beyond the percentile. >=: operations that "
        "were never answered are in the percentile, so it is a lower bound.",
    ]


_DUE = (
    "Each operation is in the row in which it was due, and its latency counts from then. Began "
    "late: the mean delay."
)
_LEFT_OUT = "Thinking: operations in a think time when the test ended, neither answered nor failed."
_BEGUN = (
    "With stages of users each operation is in the row in which it began; users: the mean number."
)


def spans_table(subject: str, stages: Stages, spans: Sequence[Span]) -> Table:
    """Return a row per span; the title has the reason of spans shorter than a minute."""
    heading = f"{subject}, minute by minute"
    if stages.span_s != 60.0:
        length = format_duration(stages.span_s)
        heading = f"{subject}, every {length}: the stages last less than three minutes"
    cells = columns(stages, spans)
    rows = [[cell(span) for cell in cells.values()] for span in spans]
    return Table(heading, tuple(cells), rows, left=0, notes=notes([(stages, spans)]))


def terminal_spans(results: Sequence[PointResult]) -> list[Table | str]:
    """Return a table for every result in stages, with notes below the last table."""
    staged = [
        (result, stages)
        for result in results
        if result.spans and (stages := result.spec.stages) is not None
    ]
    parts: list[Table | str] = []
    for result, stages in staged:
        repeat = f", repeat {result.spec.repeat + 1}" if result.spec.repeat else ""
        table = spans_table(f"{result.spec.title}{repeat}", stages, result.spans)
        omitted = len(table.rows) - _MOST_ROWS
        below = [f"{omitted:,} more rows are in the report"] if omitted > 0 else []
        if result is staged[-1][0]:
            below += notes((stages, result.spans) for result, stages in staged)
        parts += ["", structs.replace(table, rows=table.rows[:_MOST_ROWS], notes=below)]
    return parts

"""Columns of the table of a test in stages, minute by minute: in the terminal and in a report."""

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
"""An hour; the report and `export` have the rest of a day."""


def _latency(name: str) -> Callable[[Span], str]:
    def shown(span: Span) -> str:
        us = getattr(span.latency_us, name)
        if us is None:
            return NOTHING
        least = ">= " if name in span.latency_us.at_least else ""
        return f"{least}{format_ns(us * 1e3)}"

    return shown


def _late(span: Span) -> str:
    return NOTHING if span.late_us is None else format_ns(span.late_us * 1e3)


def _asked(span: Span) -> str:
    return NOTHING if span.asked_per_s is None else format_rate(span.asked_per_s)


def _users(span: Span) -> str:
    return NOTHING if span.users is None else f"{span.users:,.1f}"


_COLUMNS: Mapping[str, Callable[[Span], str]] = {
    "from": lambda span: format_clock(span.begin_s),
    "users": _users,
    "asked/s": _asked,
    "answered/s": lambda span: format_rate(span.answered_per_s),
    "fails": lambda span: f"{span.failures:,}",
    "thinking": lambda span: f"{span.thinking:,}",
    "began late": _late,
    **{name: _latency(name) for name in OVER_TIME},
    "max": _latency("max"),
}
_OF_RATES, _OF_USERS = ("asked/s", "began late"), ("users",)
_THINKING = "thinking"


def columns(stages: Stages, spans: Iterable[Span]) -> dict[str, Callable[[Span], str]]:
    """Return the columns by heading; the first is where a row begins."""
    others = _OF_RATES if stages.of_users else _OF_USERS
    if not any(span.thinking for span in spans):
        others = (*others, _THINKING)
    return {name: shown for name, shown in _COLUMNS.items() if name not in others}


def notes(found: Iterable[tuple[Stages, Iterable[Span]]]) -> list[str]:
    """Return what is to be said below the rows of these stages."""
    found = list(found)
    kinds = {stages.of_users for stages, _ in found}
    return [
        *([_DUE] if False in kinds else []),
        *([_BEGUN] if True in kinds else []),
        *([_LEFT_OUT] if any(each.thinking for _, spans in found for each in spans) else []),
        f"n/a: fewer than {LEAST_BEYOND} operations beyond the percentile. >=: it is of "
        "operations that were never answered.",
    ]


_DUE = (
    "Each operation is in the row in which it was due, however late it was answered; latencies "
    "count from then. Began late: the mean."
)
_LEFT_OUT = (
    "Thinking: in a think time of their own when the test ended; neither answered nor failed."
)
_BEGUN = (
    "Of users who come and go each operation is in the row in which it began; users are those of "
    "the stages, on average."
)


def spans_table(what: str, stages: Stages, spans: Sequence[Span]) -> Table:
    """Return a row per span; the title says why they are shorter than a minute."""
    heading = f"{what}, minute by minute"
    if stages.span_s != 60.0:
        every = format_duration(stages.span_s)
        heading = f"{what}, every {every}: the stages last less than three minutes"
    shown = columns(stages, spans)
    rows = [[cell(span) for cell in shown.values()] for span in spans]
    return Table(heading, tuple(shown), rows, left=0, notes=notes([(stages, spans)]))


def terminal_spans(results: Sequence[PointResult]) -> list[Table | str]:
    """Return the rows of every result in stages, with notes below the last."""
    staged = [
        (result, stages)
        for result in results
        if result.spans and (stages := result.spec.stages) is not None
    ]
    parts: list[Table | str] = []
    for result, stages in staged:
        repeat = f", repeat {result.spec.repeat + 1}" if result.spec.repeat else ""
        table = spans_table(f"{result.spec.title}{repeat}", stages, result.spans)
        more = len(table.rows) - _MOST_ROWS
        below = [f"{more:,} more rows are in the report"] if more > 0 else []
        if result is staged[-1][0]:
            below += notes((stages, result.spans) for result, stages in staged)
        parts += ["", structs.replace(table, rows=table.rows[:_MOST_ROWS], notes=below)]
    return parts

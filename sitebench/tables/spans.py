"""The table of a test in stages, minute by minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import structs

from sitebench.counts.durations import LEAST_BEYOND, OVER_TIME
from sitebench.counts.spans import Span
from sitebench.counts.stages import Stages
from sitebench.runs.point import PointResult
from sitebench.tables.table import NOTHING, Table, explain_signs
from sitebench.tables.tables import duration_text
from sitebench.units import format_clock, format_duration, format_ns, format_rate

_MOST_ROWS = 60
"""The most rows on the terminal, an hour of minutes; the report and `export` have all rows."""


def _latency(name: str, span: Span) -> str:
    return duration_text(span.latency_us, name)


_COLUMNS: Mapping[str, Callable[[Span], str]] = {
    "from": lambda span: format_clock(span.begin_s),
    "users": lambda span: NOTHING if span.users is None else f"{span.users:,.1f}",
    "asked/s": lambda span: NOTHING if (n := span.asked_per_s) is None else format_rate(n),
    "answered/s": lambda span: format_rate(span.answered_per_s),
    "fails": lambda span: f"{span.failures:,}",
    "thinking": lambda span: f"{span.thinking:,}",
    "began late": lambda span: NOTHING if (us := span.late_us) is None else format_ns(us * 1e3),
    **{name: partial(_latency, name) for name in (*OVER_TIME, "max")},
}
_OF_RATES, _OF_USERS = ("asked/s", "began late"), ("users",)
_THINKING = "thinking"


def columns(stages: Stages, spans: Iterable[Span]) -> dict[str, Callable[[Span], str]]:
    """Return the columns by heading; the first column has the begins of the spans."""
    omitted = _OF_RATES if stages.of_users else _OF_USERS
    if not any(span.thinking for span in spans):
        omitted = (*omitted, _THINKING)
    return {name: cell for name, cell in _COLUMNS.items() if name not in omitted}


_DUE = (
    "Each operation is in the row in which it was due, and its latency counts from then. Began "
    "late: the mean delay."
)
_SIGNS = {
    NOTHING: f"fewer than {LEAST_BEYOND} operations beyond the percentile.",
    ">=": "operations that were never answered are in the percentile, so it is a lower bound.",
}
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
    notes = [_BEGUN if stages.of_users else _DUE, *[_LEFT_OUT] * (_THINKING in cells)]
    notes += explain_signs(rows, _SIGNS)
    return Table(heading, tuple(cells), rows, left=0, notes=notes)


def terminal_spans(results: Sequence[PointResult]) -> list[Table | str]:
    """Return a table for every result in stages, with notes below the last table."""
    tables = [
        spans_table(result.spec.with_repeat(result.spec.title), stages, result.spans)
        for result in results
        if result.spans and (stages := result.spec.stages) is not None
    ]
    parts: list[Table | str] = []
    for table in tables:
        omitted = len(table.rows) - _MOST_ROWS
        below = [f"{omitted:,} more rows are in the report"] if omitted > 0 else []
        if table is tables[-1]:
            below += dict.fromkeys(note for every_table in tables for note in every_table.notes)
        parts += ["", structs.replace(table, rows=table.rows[:_MOST_ROWS], notes=below)]
    return parts

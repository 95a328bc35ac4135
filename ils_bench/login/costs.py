"""Cost of a login with each hash of a sweep: CPU time, and logins/s of one core."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from ils_bench.programs import LOGIN
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series
from sitebench.tables.table import NOTHING, Cell, Mark, Row, Table
from sitebench.tables.tables import marked, medians, rate_mark, show_micros
from sitebench.units import format_rate
from sitebench.verdict.rules.thresholds import USED_UP
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import WarningKind

_BESIDE_CPU = frozenset(
    (Bound.TARGET_CPU, Bound.GENERATOR, Bound.OTHERS, Bound.SCHEDULE, Bound.UNDECIDED)
)
"""Verdicts in which the server's CPU, or nothing in the server, limited the rate."""

_COST_OF_TWO = frozenset((WarningKind.LOGIN_WRITES, WarningKind.LOGIN_REHASHES))
"""Warnings that a login takes CPU time for more than the check of a password."""

_AT_EDGES = 0.1
"""Largest allowed share of logins that overlap an edge of the window."""

_NOTE = (
    "A core carries the rate by the cores that the server used up. about: with idle cores, the "
    "rate by its CPU time; at most: something else was its limit."
)


def login_costs(points: Sequence[tuple[str, Series]]) -> Table | None:
    """Return the table of costs; None if fewer than two hashes were measured."""
    logins = [
        (name, series)
        for name, series in points
        if (spec := series.spec).operation == LOGIN and not spec.of_a_file and spec.stages is None
    ]
    if len({series.spec.settings.get("hash") for _, series in logins}) < 2:
        return None
    columns = ("Point", "CPU of a login", "Logins/s", "Cores used up", "Logins/s of a core")
    rows = [_row(name, series) for name, series in logins]
    notes = [_NOTE, *(note for name, series in logins for note in _notes(name, series))]
    return Table("What a login costs", columns, rows, notes=notes)


def _row(name: str, series: Series) -> Row:
    (cpu,) = medians([series], _cpu_us, show_micros)
    (cores,) = medians([series], _cores_used_up, lambda value: f"{value:g}")
    return (name, cpu, marked(series, rate_mark(series)), cores, _of_a_core(series))


def _cpu_us(result: PointResult) -> float | None:
    return None if result.demand is None else result.demand.cpu_us


def _cores_used_up(result: PointResult) -> float | None:
    """Return the number of cores that limited the server; None if its CPU was not the limit."""
    share = result.target_share
    used_up = result.verdict.bound == Bound.TARGET_CPU and share is not None and share >= USED_UP
    return result.ceiling if used_up else None


def _of_a_core(series: Series) -> str | Cell:
    measured = series.values(
        lambda r: None if (cores := _cores_used_up(r)) is None else r.ops_per_s / cores
    )
    if measured is not None:
        return format_rate(statistics.median(measured))
    cpu_us = series.median(_cpu_us)
    if not cpu_us or not series.usable or any(result.fails_too_often for result in series.results):
        return NOTHING
    bounds = dict.fromkeys(result.verdict.bound for result in series.results)
    word = "about" if _BESIDE_CPU.issuperset(bounds) else "at most"
    return Cell(f"{word} {format_rate(1e6 / cpu_us)}", Mark.PLAIN, ", ".join(bounds))


def _notes(name: str, series: Series) -> Iterator[str]:
    warnings = (warning for result in series.results for warning in result.verdict.warnings)
    messages = dict.fromkeys(w.message for w in warnings if w.kind in _COST_OF_TWO)
    yield from (f"{name}: {message}" for message in messages)
    operations = min(result.operations for result in series.results)
    if series.spec.users > _AT_EDGES * operations:
        yield (
            f"{name}: up to {series.spec.users:,} logins were under way at the edges of the "
            f"window, and {operations:,} ended in it: measure longer"
        )

"""A long run's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benches.soak import trend
from benches.soak.account import Line
from benches.soak.reading import Soaked
from benches.soak.trend import Figure
from sitebench.tables.table import Cell, Mark, Row, Table
from sitebench.units import format_bytes, format_ns, format_rate


def _time(seconds: float) -> str:
    return format_ns(seconds * 1e9)


def _count(value: float) -> str:
    return f"{value:,.0f}"


SHOWN: dict[str, Callable[[float], str]] = {
    trend.RATE: format_rate,
    trend.ENTRIES: _count,
    **dict.fromkeys(trend.MEMORY.values(), format_bytes),
}
"""Formats of figures; all other figures are times."""


def tables(soaked: Soaked) -> list[Table]:
    """Return the end beside the beginning, and the lanes' counts beside the directory's."""
    return [
        _trend("The first tenth and the last", soaked.figures),
        _account("Counted by the lanes and by the directory", soaked.account),
    ]


def _trend(title: str, figures: Iterable[Figure]) -> Table:
    rows: list[Row] = []
    for each in figures:
        write = SHOWN.get(each.what, _time)
        bound = each.least if each.most is None else each.most
        allowed = "" if bound is None else f"{bound:+.0%}"
        mark = "" if bound is None else _mark(each.holds)
        values = (write(each.first), write(each.last), f"{each.drift:+.1%}")
        rows.append([each.what, *values, allowed, mark])
    return Table(title, ("", "First", "Last", "Drift", "Allowed", ""), rows)


def _account(title: str, lines: Iterable[Line]) -> Table:
    rows: list[Row] = [
        [line.what, _count(line.lanes), _count(line.directory), _mark(line.holds)] for line in lines
    ]
    return Table(title, ("", "Lanes", "Directory", ""), rows)


def _mark(holds: bool) -> Cell:
    return Cell("ok", Mark.PASS) if holds else Cell("WRONG", Mark.FAIL)

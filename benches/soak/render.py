"""A long run's tables."""

from __future__ import annotations

from collections.abc import Callable

from benches.soak import trend
from benches.soak.reading import Soaked
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
    figures: list[Row] = []
    for each in soaked.figures:
        write = SHOWN.get(each.what, _time)
        bound = each.least if each.most is None else each.most
        allowed = "" if bound is None else f"{bound:+.0%}"
        mark = "" if bound is None else _mark(each.holds)
        values = (write(each.first), write(each.last), f"{each.drift:+.1%}")
        figures.append([each.what, *values, allowed, mark])
    counts: list[Row] = [
        [line.what, _count(line.lanes), _count(line.directory), _mark(line.holds)]
        for line in soaked.account
    ]
    drift = ("", "First", "Last", "Drift", "Allowed", "")
    return [
        Table("The first tenth and the last", drift, figures),
        Table("Counted by the lanes and by the directory", ("", "Lanes", "Directory", ""), counts),
    ]


def _mark(holds: bool) -> Cell:
    return Cell("ok", Mark.PASS) if holds else Cell("WRONG", Mark.FAIL)

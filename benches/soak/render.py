"""A long run's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import RenderableType
from rich.table import Table

from benches.soak import trend
from benches.soak.account import Line
from benches.soak.reading import Soaked
from benches.soak.trend import Figure
from sitebench.tables.tables import new_table, titled
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
"""How figures are written; all others are times."""


def tables(soaked: Soaked) -> list[RenderableType]:
    """Return the end beside the beginning, and the lanes' account beside the directory's."""
    return [
        titled("The first tenth and the last", _trend(soaked.figures)),
        titled("Counted by the lanes and by the directory", _account(soaked.account)),
    ]


def _trend(figures: Iterable[Figure]) -> Table:
    table = new_table("", "First", "Last", "Drift", "Allowed", "")
    for each in figures:
        write = SHOWN.get(each.what, _time)
        bound = each.least if each.most is None else each.most
        allowed = "" if bound is None else f"{bound:+.0%}"
        mark = "" if bound is None else _mark(each.holds)
        values = (write(each.first), write(each.last), f"{each.drift:+.1%}")
        table.add_row(each.what, *values, allowed, mark)
    return table


def _account(lines: Iterable[Line]) -> Table:
    table = new_table("", "Lanes", "Directory", "")
    for line in lines:
        table.add_row(line.what, _count(line.lanes), _count(line.directory), _mark(line.holds))
    return table


def _mark(holds: bool) -> str:
    return "[green]ok[/]" if holds else "[red]WRONG[/]"

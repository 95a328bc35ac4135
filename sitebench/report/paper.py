"""The paper's tables refilled: today's figures with 1997's beneath each, one column per size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitebench.report.table import Cell, Mark, Row, Table
from sitebench.runs.repeats import Series
from sitebench.units import format_size

NO_NUMBER = "-"
_REPEATS = "Repeats"


@dataclass(frozen=True)
class PaperTable:
    """One table as printed: a machine, its sizes, and a row of cells per measurement."""

    machine: str
    sizes: Sequence[int]
    rows: Mapping[str, Sequence[str]]


def beside(
    title: str,
    found: Sequence[Series],
    rows: Mapping[str, Sequence[str]],
    then: Sequence[PaperTable],
) -> Table:
    """Lay out today's rows, each followed by what the paper's machines had in its place.

    `rows` has one cell per series; a point that is not the target's number is marked in each.
    """
    sizes = sorted(
        {each.spec.entries for each in found} | {n for table in then for n in table.sizes}
    )
    lines: list[Row] = []
    for name, cells in rows.items():
        # How often a point was measured is true of it whatever its verdict.
        mark = _cell if name != _REPEATS else _plain
        pairs = zip(found, cells, strict=True)
        today = {each.spec.entries: mark(each, cell) for each, cell in pairs}
        lines.append([name, "today", *(today.get(size, NO_NUMBER) for size in sizes)])
        for table in then:
            if name in table.rows:
                printed = dict(zip(table.sizes, table.rows[name], strict=True))
                lines.append(["", Cell(table.machine, Mark.THEN), *_printed(printed, sizes)])
    columns = ("Average measurement", "Machine", *(f"{format_size(size)} users" for size in sizes))
    return Table(title, columns, lines, left=2)


def _printed(cells: Mapping[int, str], sizes: Sequence[int]) -> list[str | Cell]:
    return [Cell(cells[size], Mark.THEN) if size in cells else NO_NUMBER for size in sizes]


def _cell(each: Series, text: str) -> str | Cell:
    return text if each.valid else Cell(text, Mark.INVALID, why(each))


def _plain(_: Series, text: str) -> str:
    return text


def why(each: Series) -> str:
    """Return why a series is not the target's number; nothing where it is."""
    return "; ".join(
        dict.fromkeys(
            f"{r.verdict.bound}: {r.verdict.evidence}" for r in each.results if not r.verdict.valid
        )
    )

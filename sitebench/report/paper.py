"""The paper's tables refilled: today's figures with 1997's beneath each, one column per size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sitebench.frozen import frozen
from sitebench.report.table import Cell, Mark, ReportTable, Row
from sitebench.runs.repeats import Series
from sitebench.tables.tables import setup
from sitebench.units import format_people

_NO_NUMBER = "-"
_REPEATS = "Repeats"


@frozen
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
) -> ReportTable:
    """Lay out today's rows, each followed by what the paper's machines had in its place.

    `rows` has one cell per series; a point that is not the target's number is marked in each.
    """
    sizes = sorted(
        {each.spec.entries for each in found} | {n for table in then for n in table.sizes}
    )
    lines: list[Row] = []
    for name, cells in rows.items():
        today: dict[int, str | Cell] = {}
        for each, text in zip(found, cells, strict=True):
            # How often a point was measured is true of it whatever its verdict.
            sound = each.valid or name == _REPEATS
            today[each.spec.entries] = text if sound else marked(each, text)
        lines.append([name, "today", *(today.get(size, _NO_NUMBER) for size in sizes)])
        for table in then:
            if name in table.rows:
                printed = dict(zip(table.sizes, table.rows[name], strict=True))
                cells_then = {size: Cell(text, Mark.THEN) for size, text in printed.items()}
                numbers = (cells_then.get(size, _NO_NUMBER) for size in sizes)
                lines.append(["", Cell(table.machine, Mark.THEN), *numbers])
    columns = ("Average measurement", "Machine", *(format_people(size, "users") for size in sizes))
    return ReportTable(title, columns, lines, left=2, notes=[f"Today: {setup(found)}."])


def marked(each: Series, text: str) -> str | Cell:
    """Return a cell of a series; one that is a lower bound or none of the target's is marked."""
    if each.valid:
        return text
    return Cell(text, Mark.BOUND if each.usable else Mark.INVALID, why(each))


def why(each: Series) -> str:
    """Return why a series is not the target's number; nothing where it is."""
    return "; ".join(
        dict.fromkeys(
            f"{r.verdict.bound}: {r.verdict.evidence}" for r in each.results if not r.verdict.valid
        )
    )

"""The paper's tables: today's figures above the figures of 1997, with one column per size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name

import msgspec
from msgspec import structs

from sitebench.report.suite import ReportSuite
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, series
from sitebench.suite import Suite
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.table import Cell, Mark, Row, Table, cell_of
from sitebench.tables.tables import latency_tables, marked, of_operation, setup
from sitebench.units import format_people

_NO_NUMBER = "-"
_REPEATS = "Repeats"


class PaperTable(msgspec.Struct, frozen=True):
    machine: str
    sizes: Sequence[int]
    rows: Mapping[str, Sequence[str]]


def terminal_tables(suite: Suite, results: Sequence[PointResult]) -> list[Table]:
    """Return the paper's tables without the figures of 1997, then latencies, then bottlenecks."""
    report: ReportSuite = resolve_name(suite.report)
    tables: list[Table] = []
    if report.paper_table is not None:
        names = dict.fromkeys(result.spec.operation for result in results)
        tables += [_of_today(report.paper_table(of_operation(results, name))) for name in names]
    if report.tables is not None:
        tables += [table for group in report.tables(series(results)) for table in group.tables]
    if report.paper_table is not None:
        tables += latency_tables(results)
    return [*tables, *bottleneck_tables(results)]


def _of_today(table: Table) -> Table:
    """Return a table without the sizes, and the rows, that have no figure of today."""
    figures = range(table.left, len(table.columns))
    sizes = [n for n in figures if not all(_is_1997s(row[n]) for row in table.rows)]
    columns = [*range(table.left), *sizes]
    rows = [row for row in table.rows if any(row[n] != _NO_NUMBER for n in sizes)]
    return structs.replace(
        table,
        columns=[table.columns[n] for n in columns],
        rows=[[row[n] for n in columns] for row in rows],
    )


def _is_1997s(cell: str | Cell) -> bool:
    return cell == _NO_NUMBER or cell_of(cell).mark is Mark.THEN


def compare_with_paper(
    title: str,
    measured: Sequence[Series],
    rows: Mapping[str, Sequence[str]],
    paper_tables: Sequence[PaperTable],
) -> Table:
    """Lay out today's rows, each above the figures of the paper's machines.

    `rows` has a cell per series; the cells of an invalid point are marked.
    """
    points = [(series.spec.entries, series.spec.variant) for series in measured]
    printed = {size for table in paper_tables for size in table.sizes}
    printed -= {size for size, _ in points}
    # The sort is stable: variants of a size keep their order.
    columns = sorted([*points, *((size, "") for size in printed)], key=lambda column: column[0])
    lines: list[Row] = []
    for name, cells in rows.items():
        # The number of repeats needs no mark: the number is right even if the point is invalid.
        marked_cells = [
            text if name == _REPEATS else marked(series, text)
            for series, text in zip(measured, cells, strict=True)
        ]
        today = dict(zip(points, marked_cells, strict=True))
        lines.append([name, "today", *(today.get(column, _NO_NUMBER) for column in columns)])
        for table in paper_tables:
            if name in table.rows:
                figures = zip(table.sizes, table.rows[name], strict=True)
                of_size = {size: Cell(text, Mark.THEN) for size, text in figures}
                numbers = (of_size.get(size, _NO_NUMBER) for size, _ in columns)
                lines.append(["", Cell(table.machine, Mark.THEN), *numbers])
    sizes = (format_people(size, "users") + variant for size, variant in columns)
    names = ("Average measurement", "Machine", *sizes)
    return Table(title, names, lines, left=2, notes=[f"Today: {setup(measured)}."])

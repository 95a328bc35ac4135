from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import rich.table
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

from sitebench.errors import printable
from sitebench.tables.table import Cell, Mark, Table, cell_of

_STYLES = {
    Mark.INVALID: "red",
    Mark.BOUND: "yellow",
    Mark.PRIMARY: "bold",
    Mark.TAKEN: "red",
    Mark.POSSIBLE: "yellow",
    Mark.UNKNOWN: "dim",
    Mark.THEN: "dim",
    Mark.PASS: "green",
    Mark.FAIL: "red",
}
_UNLIMITED = 100_000

Printable = Table | RenderableType


def to_terminal(table: Table) -> Group:
    """Return the table below its title and above its notes."""
    grid = _Whole(box=box.SIMPLE_HEAD, pad_edge=False)
    for n, name in enumerate(table.columns):
        # Words may wrap on a narrow screen; figures must not.
        figures = n >= table.left
        grid.add_column(to_text(name), justify="right" if figures else "left", no_wrap=figures)
    for row in table.rows:
        grid.add_row(*map(to_text, row))
    # A title of rich's own table would wrap at the table's width.
    title = [to_text(Cell(table.title, Mark.PRIMARY))] if table.title else []
    grids = [grid] if table.rows else []
    return Group(*title, *grids, *(to_text(Cell(note, Mark.UNKNOWN)) for note in table.notes))


def to_text(content: str | Cell) -> Text:
    """Return a cell for the terminal, without the control characters of a foreign text."""
    cell = cell_of(content)
    lines = (printable(line, len(line)) for line in cell.words.split("\n"))
    return Text("\n".join(lines), style=_STYLES.get(cell.mark, ""))


class _Whole(rich.table.Table):
    """A table that is wider than the terminal if its figures need it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(width=_UNLIMITED)
        least = 2
        for column in self.columns:
            cells = (column.header, *column.cells)
            sizes = [Measurement.get(console, unlimited, cell) for cell in cells]
            least += 3 + max(s.maximum if column.no_wrap else s.minimum for s in sizes)
        wider = options.update(width=least) if options.max_width < least else options
        yield from super().__rich_console__(console, wider)


class _Results(Console):
    """A console that never crops a table: the terminal wraps the lines of a wide table."""

    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        super().print(*objects, crop=crop, **options)


def results_console() -> Console:
    """Return a console for standard output; in a pipe without COLUMNS, rows are never wrapped."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return _Results()
    return _Results(width=_UNLIMITED)


def show(parts: Iterable[Printable]) -> None:
    console = results_console()
    for part in parts:
        drawn = Text(part) if isinstance(part, str) else part
        console.print(to_terminal(part) if isinstance(part, Table) else drawn, highlight=False)

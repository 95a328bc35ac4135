"""The editable rate tables: a block per machine, with sizes as columns and operations as rows.

All blocks have the same operations, so that a formula finds a rate by the machine's row, the
operation's position and the size's column.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

import msgspec

from sitebench.plan.rates import UNSTATED, RateTable
from sitebench.plan.suite import PlanSuite, sheet_name
from sitebench.plan.workbook.grid import MISSING, NUMBER, WHOLE, Grid, Value, cell

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]

COLUMNS = 8
"""The least number of sizes in a block."""

_FIRST, _LEFT = 3, 2
_PLAIN = "Operations per second"


def size_label(size: int) -> Value:
    """Return a size as a cell's value; typed-in rates hold for any size."""
    return "any" if size == UNSTATED else float(size)


class RateSheet(msgspec.Struct, frozen=True):
    suite: PlanSuite
    tables: tuple[RateTable, ...]
    operations: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{sheet_name(self.suite)} rates"

    @property
    def _people(self) -> str:
        return f"People in the {self.suite.people_in}" if self.suite.people_in else ""

    def range_name(self, content: str) -> str:
        """Return the name of the range of `names`, `rates` or `machines`."""
        return f"{self.suite.name.upper()}_{content}"

    def _row(self, machine: str) -> str:
        return f"MATCH({machine},{self.range_name('names')},0)"

    def sizes(self, machine: str) -> str:
        return f"INDEX({self.range_name('rates')},{self._row(machine)},0)"

    def find(self, machine: str, size: str, operation: str) -> str:
        """Return the formula that looks up a rate; an empty cell is `MISSING`."""
        down = f"{self._row(machine)}+{self.operations.index(operation) + 1}"
        across = f"MATCH({size},{self.sizes(machine)},0)"
        lookup = f"INDEX({self.range_name('rates')},{down},{across})"
        return f'IFERROR(IF({lookup}>0,{lookup},"{MISSING}"),"{MISSING}")'

    def write(self, book: Workbook) -> None:
        grid = Grid(book, self.name)
        width = max(COLUMNS, *(len(table.sizes) for table in self.tables))
        grid.sheet.set_column(0, 0, 34)
        grid.sheet.set_column(1, 1, 26)
        grid.sheet.set_column(_LEFT, _LEFT + width - 1, 11)
        title = f"{_PLAIN} by {self._people.lower()}" if self._people else _PLAIN
        grid.put(0, 0, title, "title")
        change = "Yellow cells may be changed, also names and sizes; leave unknown rates empty."
        grid.put(1, 0, change, "note")
        row, right = _FIRST, _LEFT + width + 1
        for number, table in enumerate(self.tables):
            self._block(grid, row, table, width)
            grid.formula(_FIRST + number, right, cell(row, 0), table.machine)
            row += len(self.operations) + 2
        grid.put(_FIRST - 1, right, "Machines to choose from", "heading")
        grid.sheet.set_column(right, right, 34)
        last = _FIRST + len(self.tables) - 1
        grid.define(self.range_name("names"), _FIRST, 0, row - 1, 0)
        grid.define(self.range_name("rates"), _FIRST, _LEFT, row - 1, _LEFT + width - 1)
        grid.define(self.range_name("machines"), _FIRST, right, last, right)

    def _block(self, grid: Grid, row: int, table: RateTable, width: int) -> None:
        grid.entry(row, 0, table.machine, "@")
        grid.put(row, 1, self._people or _PLAIN, "heading")
        self._entries(grid, row, map(size_label, table.sizes), width, WHOLE)
        for down, name in enumerate(self.operations, row + 1):
            grid.put(down, 1, f"{name}/s")
            self._entries(grid, down, table.rates.get(name, ()), width, NUMBER)

    def _entries(
        self, grid: Grid, row: int, values: Iterable[Value | None], width: int, shape: str
    ) -> None:
        padded = islice(chain(values, repeat(None)), width)
        for column, value in enumerate(padded, _LEFT):
            grid.entry(row, column, "" if value is None else value, shape)

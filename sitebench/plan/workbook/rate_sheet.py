"""The editable rate tables: one block per machine, sizes across, operations down.

Every block has the same operations in the same order, so that a formula finds a rate from the row
of its machine's name, the operation's position and the column of the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from sitebench.plan.rates import UNSTATED, RateTable
from sitebench.plan.suite import PlanSuite, sheet_name
from sitebench.plan.workbook.grid import MISSING, NUMBER, WHOLE, Grid, Value, cell

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]

COLUMNS = 8
"""The least number of sizes that a block has room for."""

_FIRST, _LEFT = 3, 2
_PLAIN = "Operations per second"


def size_label(size: int) -> Value:
    """Return a size as a cell's value; typed-in rates apply to any."""
    return "any" if size == UNSTATED else float(size)


class RateSheet(msgspec.Struct, frozen=True):
    """A suite's sheet of rates, and the formulas that refer to it."""

    suite: PlanSuite
    tables: tuple[RateTable, ...]
    operations: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{sheet_name(self.suite)} rates"

    @property
    def _names(self) -> str:
        return f"{self.suite.name.upper()}_names"

    @property
    def _cells(self) -> str:
        return f"{self.suite.name.upper()}_rates"

    @property
    def _people(self) -> str:
        return f"People in the {self.suite.people_in}" if self.suite.people_in else ""

    @property
    def machines(self) -> str:
        """Name of the list of machines."""
        return f"{self.suite.name.upper()}_machines"

    def sizes(self, machine: str) -> str:
        """Return the range of sizes of the machine that a cell names."""
        return f"INDEX({self._cells},MATCH({machine},{self._names},0),0)"

    def find(self, machine: str, size: str, operation: str) -> str:
        """Return the formula that looks a rate up; an empty cell is `MISSING`."""
        down = f"MATCH({machine},{self._names},0)+{self.operations.index(operation) + 1}"
        lookup = f"INDEX({self._cells},{down},MATCH({size},{self.sizes(machine)},0))"
        return f'IFERROR(IF({lookup}>0,{lookup},"{MISSING}"),"{MISSING}")'

    def rate(self, table: RateTable, size: int, operation: str) -> Value:
        """Return the result of `find`."""
        return table.rates_at(size).get(operation, MISSING)

    def write(self, book: Workbook) -> None:
        """Write the sheet and name its parts."""
        grid = Grid(book, self.name)
        width = max(COLUMNS, *(len(table.sizes) for table in self.tables))
        grid.sheet.set_column(0, 0, 34)
        grid.sheet.set_column(1, 1, 26)
        grid.sheet.set_column(_LEFT, _LEFT + width - 1, 11)
        grid.put(
            0,
            0,
            f"Operations per second by {self._people.lower()}" if self._people else _PLAIN,
            grid.styles.title,
        )
        grid.put(
            1,
            0,
            "Every yellow cell may be changed, names and sizes too; leave unknown rates empty.",
            grid.styles.note,
        )
        row, right = _FIRST, _LEFT + width + 1
        for number, table in enumerate(self.tables):
            self._block(grid, row, table, width)
            name = cell(row, 0)
            grid.formula(_FIRST + number, right, name, table.machine)
            row += len(self.operations) + 2
        grid.put(_FIRST - 1, right, "Machines to choose from", grid.styles.heading)
        grid.sheet.set_column(right, right, 34)
        grid.define(self._names, _FIRST, 0, row - 1, 0)
        grid.define(self._cells, _FIRST, _LEFT, row - 1, _LEFT + width - 1)
        grid.define(self.machines, _FIRST, right, _FIRST + len(self.tables) - 1, right)

    def _block(self, grid: Grid, row: int, table: RateTable, width: int) -> None:
        grid.entry(row, 0, table.machine, "@")
        grid.put(row, 1, self._people or _PLAIN, grid.styles.heading)
        sizes = [size_label(size) for size in table.sizes]
        for column in range(width):
            grid.entry(row, _LEFT + column, sizes[column] if column < len(sizes) else "", WHOLE)
        for down, name in enumerate(self.operations, 1):
            grid.put(row + down, 1, f"{name}/s")
            rates: Sequence[float | None] = table.rates.get(name, ())
            for column in range(width):
                rate = rates[column] if column < len(rates) else None
                grid.entry(row + down, _LEFT + column, "" if rate is None else rate, NUMBER)


def rate_sheet(
    suite: PlanSuite, tables: Sequence[RateTable], operations: Sequence[str]
) -> RateSheet:
    """Return a sheet of the first table of each machine: formulas look tables up by name."""
    first_tables: dict[str, RateTable] = {}
    for table in tables:
        first_tables.setdefault(table.machine, table)
    return RateSheet(suite, tuple(first_tables.values()), tuple(operations))

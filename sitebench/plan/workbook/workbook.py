"""The planner as a workbook: a what-if sheet and a sheet of rates per suite, and notes.

The layout is as in the workbook of the paper's Appendix A, whose file is no longer online.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from sitebench.errors import BadInput
from sitebench.plan.choose import Plan, on_first
from sitebench.plan.choose import plan as planned
from sitebench.plan.model import law_of, with_all
from sitebench.plan.rates import RateTable
from sitebench.plan.render import law_lines
from sitebench.plan.suite import PlanSuite
from sitebench.plan.workbook import what_if
from sitebench.plan.workbook.grid import Grid
from sitebench.plan.workbook.rate_sheet import RateSheet
from sitebench.plan.workbook.what_if import WhatIf

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]


_SOURCES = (
    'Rates of 1997: "Performance Analysis and Capacity Planning for Microsoft Site '
    'Server on Compaq ProLiant Servers", Compaq, September 1997, Appendix A and Tables 13 and 14.',
    "Its workbook's Add row for the ProLiant 2500 differs from its Table 5; the row is used here.",
    "The response-time objective is a queueing estimate (M/M/c), not a measurement.",
    "How busy a machine may be with a mix for an objective depends on the mix, the rates and the "
    "cores; 100 % is no objective. `sitebench plan ils --objective 'p99<50ms'` computes it for "
    "another mix, other rates or cores.",
    "`sitebench docs planner` derives both laws and states their limits.",
)


# A text is never a formula or a link: the names of machines come from run files.
_BOOK = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}


class Planned(msgspec.Struct, frozen=True):
    """A suite's plan, and the machines that its sheet offers, with the plan's machine first."""

    plan: Plan
    tables: tuple[RateTable, ...]


def write(path: Path, sheets: Sequence[Planned], machine: str) -> None:
    """Write the workbook; `machine` names the machine on which the rates were measured."""
    from xlsxwriter import Workbook  # type: ignore[import-untyped]
    from xlsxwriter.exceptions import XlsxWriterException  # type: ignore[import-untyped]

    try:
        with Workbook(str(path), _BOOK) as book:
            what_ifs = [_what_if(sheet) for sheet in sheets]
            for case in what_ifs:
                what_if.write(book, case, machine)
            for case in what_ifs:
                case.rates.write(book)
            _notes(book, sheets, machine)
    except (OSError, XlsxWriterException) as error:
        raise BadInput(
            f"cannot write {path}: {error}", "name a file in a folder that exists, and close it"
        ) from error


def _what_if(sheet: Planned) -> WhatIf:
    suite = sheet.plan.suite
    tables = [*sheet.tables, *suite.presets.values()]
    names = dict.fromkeys(name for table in tables for name in table.rates)
    mix = sheet.plan.scenario.mix
    # With an objective, a mix was simulated for the plan's machine only: other machines have no
    # column.
    presets = {} if mix and sheet.plan.scenario.objective else suite.presets
    operations = tuple(dict.fromkeys([*(mix or {}), *names]))
    scenario = with_all(sheet.plan.scenario, operations)
    # Formulas find the first table with a machine's name, so later tables are left out.
    first_tables: dict[str, RateTable] = {}
    for table in tables:
        first_tables.setdefault(table.machine, table)
    return WhatIf(
        suite,
        scenario,
        law_of(scenario),
        RateSheet(suite, tuple(first_tables.values()), operations),
        [
            (sheet.tables[0], sheet.plan.size),
            *((table, _size_of(sheet.plan, table)) for table in presets.values()),
        ],
        sheet.plan.values.get("queue_limit", 1.0),
        [warning for warning in sheet.plan.warnings if "a lower bound" in warning],
    )


def _size_of(plan: Plan, table: RateTable) -> int:
    """Return the size that `sitebench plan` takes for another machine."""
    if plan.scenario.community is None:
        return plan.suite.size
    try:
        return planned(plan.suite, plan.scenario, table).size
    except BadInput:
        return plan.suite.size


def example(suite: PlanSuite, tables: Sequence[RateTable]) -> Planned:
    """Return the paper's scenario on a run's machine; without a run, on a template to type over."""
    first_plan = on_first(suite, tables)
    if first_plan is not None:
        plan, table = first_plan
        return Planned(plan, (table, *(t for t in tables if t is not table)))
    *_, largest = suite.presets.values()
    yours = replace(largest, machine=f"{largest.machine}: replace its rates by yours")
    plan = planned(suite, suite.scenario, yours, suite.size)
    return Planned(plan, (yours, *tables))


def _notes(book: Workbook, sheets: Sequence[Planned], machine: str) -> None:
    grid = Grid(book, "Notes")
    grid.sheet.set_column(0, 0, 110)
    grid.put(0, 0, "Notes", "title")
    row = 2
    for sheet in sheets:
        title = f"{sheet.plan.suite.title}: the law, with the values at the time of writing"
        row = _lines(grid, row, title, [*law_lines(sheet.plan), *sheet.plan.warnings])
    _lines(grid, row, "Sources", [*_SOURCES, f"Rates measured on: {machine or 'no run given'}"])


def _lines(grid: Grid, row: int, title: str, lines: Sequence[str]) -> int:
    grid.put(row, 0, title, "heading")
    for down, line in enumerate(lines, 1):
        grid.put(row + down, 0, line, "text")
    return row + len(lines) + 2

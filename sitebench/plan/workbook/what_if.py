"""A what-if sheet, laid out like the sheets of the paper's Appendix A."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sitebench.plan.entries import CONVERTED, Entry, entries
from sitebench.plan.formula import Formula, Input
from sitebench.plan.model import PERCENTILES, Law, Scenario, rate_key, wait_factor
from sitebench.plan.rates import UNSTATED, RateTable
from sitebench.plan.suite import PlanSuite, sheet_name
from sitebench.plan.workbook.cases import FIRST_COLUMN, Column, draw
from sitebench.plan.workbook.grid import (
    MISSING,
    NUMBER,
    SHARE,
    SMALL,
    WHOLE,
    Grid,
    Value,
    compute,
    guard,
)
from sitebench.plan.workbook.rate_sheet import RateSheet, size_label
from sitebench.units import format_percent

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]

_SLOW = "objective cannot be met"
_FAR, _BEYOND = "over 2x what was measured", "extrapolated"
_SHAPES = {"share": SHARE, "s": SMALL}


class WhatIf(msgspec.Struct, frozen=True):
    suite: PlanSuite
    scenario: Scenario
    law: Law
    rates: RateSheet
    machines: Sequence[tuple[RateTable, int]]
    """The machines with a column, and the size whose rates are taken."""
    queue_limit: float = 1.0
    """How busy the plan's machine may be so that a mix meets its objective."""
    bounds: Sequence[str] = ()
    """Warnings about rates of the plan's machine that are lower bounds."""


def write(book: Workbook, what_if: WhatIf, measured: str) -> None:
    """Write the sheet; `measured` describes the machine and the day of its rates."""
    grid = Grid(book, sheet_name(what_if.suite))
    grid.sheet.set_column(0, 0, 4)
    grid.sheet.set_column(1, 1, 54)
    grid.sheet.set_column(2, 2 + len(what_if.machines), 27)
    grid.put(0, 0, f"Capacity planner: {what_if.suite.title}", "title")
    change = "Change any yellow cell; the others are calculated from them."
    source = f"Measured: {what_if.machines[0][0].machine}, {measured}. " if measured else ""
    bounds = "".join(f" * {bound}." for bound in what_if.bounds)
    grid.put(1, 0, f"{source}{change}{bounds}", "note")
    row, entries = _scenario(grid, what_if)
    row, columns = _machines(grid, row + 1, what_if, entries)
    needed = columns[0]
    grid.put(2, 1, "Machines needed for the community below", "heading")
    grid.formula(2, 2, needed.names["machines"], needed.values["machines"], WHOLE, bold=True)
    draw(grid, row + 1, what_if.law, entries, columns)


def _scenario(grid: Grid, what_if: WhatIf) -> tuple[int, Column]:
    """Write the inputs; return the row below and their cells."""
    prefix, scenario = what_if.suite.name.upper(), what_if.scenario
    grid.put(3, 0, "1", "heading")
    grid.put(3, 1, "User scenario", "heading")
    typed: list[tuple[str, str, Value, str, dict[str, Any]]] = [
        (e.key, e.label, e.value, SHARE if e.is_share else NUMBER, _range_rule(e))
        for e in entries(scenario, what_if.rates.operations, what_if.queue_limit)
    ]
    if scenario.mix is None:
        label, choose = (
            "Percentile of the objective",
            {"validate": "list", "source": [*PERCENTILES]},
        )
        share, _ = scenario.objective or (PERCENTILES["p99"], 0.0)
        percentile = next(name for name, value in PERCENTILES.items() if value == share)
        typed.append(("percentile", label, percentile, "@", choose))
    cells, row = Column({}, {}), 4
    for key, label, value, shape, allowed in typed:
        grid.put(row, 0, chr(ord("A") + row - 4))
        grid.put(row, 1, label)
        name = key.replace("-", "_").replace(".", "_")
        cells.names[key] = grid.entry(row, 2, value, shape, f"{prefix}_{name}")
        cells.values[key] = value
        grid.sheet.data_validation(row, 2, row, 2, allowed)
        row += 1
    for key, label, text, result in _computed_inputs(cells):
        grid.put(row, 1, label)
        cells.names[key] = grid.formula(row, 2, text, result)
        cells.values[key] = result
        row += 1
    return row, cells


def _computed_inputs(cells: Column) -> Iterator[tuple[str, str, str, Value]]:
    """Yield the law's inputs that are computed from typed cells: key, label, formula, value."""
    names, values = cells.names, cells.values
    for typed in CONVERTED.keys() & names.keys():
        key, times, per = CONVERTED[typed]
        seconds = float(values[typed]) * times / per
        yield key, f"{key.removesuffix('_s')} in s", f"{names[typed]}*{times}/{per}", seconds
    if "percentile" in names:
        factors = {name: wait_factor(share) for name, share in PERCENTILES.items()}
        listed = ",".join(f"{factor!r}" for factor in factors.values())
        labels = ",".join(f'"{name}"' for name in factors)
        lookup = f"INDEX({{{listed}}},MATCH({names['percentile']},{{{labels}}},0))"
        factor = factors[str(values["percentile"])]
        yield "wait_factor", "ln(1 / (1 - percentile))", lookup, factor


def _range_rule(entry: Entry) -> dict[str, Any]:
    show = format_percent if entry.is_share else "{:g}".format
    return {
        "validate": "decimal",
        "criteria": "between",
        "minimum": entry.low,
        "maximum": entry.high,
        "error_title": "This number is out of range",
        "error_message": f"Type a number from {show(entry.low)} to {show(entry.high)}.",
    }


def _machines(grid: Grid, top: int, what_if: WhatIf, entries: Column) -> tuple[int, list[Column]]:
    """Write a column per machine; return the row below and the columns."""
    rates = [f"{name}/s" for name in what_if.rates.operations]
    labels = ["Machine", "Size measured", *rates]
    grid.put(top, 0, "2", "heading")
    grid.put(top, 1, "What each machine serves", "heading")
    steps = what_if.law.steps
    results = [f"{s.meaning[0].upper()}{s.meaning[1:]} ({s.unit})" for s in steps]
    for down, label in enumerate([*labels, *results, "Check"], 1):
        grid.put(top + down, 1, label)
    columns = [
        _machine(grid, top + 1, index, what_if=what_if, machine=machine, entries=entries)
        for index, machine in enumerate(what_if.machines, FIRST_COLUMN)
    ]
    return top + 1 + len(labels) + len(steps) + 1, columns


def _machine(
    grid: Grid,
    row: int,
    index: int,
    *,
    what_if: WhatIf,
    machine: tuple[RateTable, int],
    entries: Column,
) -> Column:
    rates, column = what_if.rates, Column(dict(entries.names), dict(entries.values))
    table, measured = machine
    name = grid.entry(row, index, table.machine, "@")
    column.names["machine"], column.values["machine"] = name, table.machine
    size = grid.entry(row + 1, index, size_label(measured), WHOLE)
    grid.choose(row, index, rates.range_name("machines"))
    grid.choose(row + 1, index, rates.sizes(name))
    row += 2
    for operation in rates.operations:
        key = rate_key(what_if.scenario, operation)
        value = table.rates_at(measured).get(operation, MISSING)
        column.names[key] = grid.formula(row, index, rates.find(name, size, operation), value)
        column.values[key] = value
        row += 1
    for step in what_if.law.steps:
        value = compute(step.formula, column.values)
        shape, bold = _SHAPES.get(step.unit, WHOLE), step.key in _ANSWERS
        text = guard(step.formula, column.names.__getitem__)
        if step.key == "busy_limit":
            # If this cell is a text, all cells below it become `MISSING`.
            text = f'IF({text}<=0,"{_SLOW}",{text})'
            value = _SLOW if isinstance(value, float) and value <= 0 else value
        column.names[step.key] = grid.formula(row, index, text, value, shape, bold=bold)
        column.values[step.key] = value
        row += 1
    _check(grid, row, index, what_if=what_if, column=column, size=size, measured=measured)
    return column


_ANSWERS = ("simultaneous", "served", "machines")


def _check(
    grid: Grid, row: int, index: int, *, what_if: WhatIf, column: Column, size: str, measured: int
) -> None:
    """Write a column's warning, in the command line's words."""
    limit = column.names["busy_limit"]
    whole = what_if.scenario.mix is None or what_if.scenario.lists_all
    people = Input("community") if whole else Input("online") / Input("machines")
    text = people.excel(column.names.__getitem__)
    formula = (
        f'IFERROR(IF({limit}="{_SLOW}","{_SLOW}",IF(ISNUMBER({size}),IF({text}>2*{size},"{_FAR}",'
        f'IF({text}>{size},"{_BEYOND}","")),"")),"")'
    )
    grid.warn(row, index, formula, _warning(column, people, measured))


def _warning(column: Column, people: Formula, measured: int) -> str:
    if column.values["busy_limit"] == _SLOW:
        return _SLOW
    community = compute(people, column.values)
    if isinstance(community, str) or measured == UNSTATED or community <= measured:
        return ""
    return _FAR if community > 2 * measured else _BEYOND

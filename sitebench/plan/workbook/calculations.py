"""A suite's further laws on a sheet: inputs in yellow, and steps as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitebench.plan.choose import Plan
from sitebench.plan.suite import sheet_name
from sitebench.plan.workbook.grid import NUMBER, WHOLE, Grid, Value, compute, guard

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]


def _shape(number: Value) -> str:
    return WHOLE if isinstance(number, float) and abs(number) >= 1_000 else NUMBER


def write(book: Workbook, plan: Plan) -> None:
    if not plan.calculations:
        return
    grid = Grid(book, f"{sheet_name(plan.suite)} more")
    grid.sheet.set_column(0, 0, 60)
    grid.sheet.set_column(1, 1, 24)
    grid.sheet.set_column(2, 2, 60)
    row = 0
    for calculation in plan.calculations:
        grid.put(row, 0, calculation.title, "title")
        row += 1
        names: dict[str, str] = {}
        for key, (label, number) in calculation.inputs.items():
            grid.put(row, 0, label)
            names[key] = grid.entry(row, 1, number, _shape(number))
            row += 1
        for step in calculation.steps:
            grid.put(row, 0, f"{step.meaning} ({step.unit})")
            text = guard(step.formula, names.__getitem__)
            value = compute(step.formula, calculation.values)
            names[step.key] = grid.formula(row, 1, text, value, _shape(value))
            row += 1
        for note in calculation.notes:
            grid.put(row, 0, note, "note")
            row += 1
        row += 1

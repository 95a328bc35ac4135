"""Tables that vary an input, with a column for each machine, and their charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sitebench.plan.model import ACTIVE, COMMUNITY, Law, Step
from sitebench.plan.workbook.grid import SHARE, WHOLE, Grid, Value, compute, guard

FIRST_COLUMN = 2
"""The first machine's column."""

_SHARES = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1)
_COMMUNITIES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Multiples of the planned community."""


@dataclass
class Column:
    """A column of cells, with their names in formulas and their values by key."""

    names: dict[str, str]
    values: dict[str, Value]


def draw(grid: Grid, row: int, law: Law, scenario: Column, columns: Sequence[Column]) -> None:
    served, machines = (
        next(step for step in law.steps if step.key == key) for key in ("served", "machines")
    )
    shares = [(ACTIVE.key, "", share) for share in _SHARES]
    end = _vary(
        grid, row, "Community by active share", shares, served, columns=columns, shape=SHARE
    )
    chart = _chart(
        grid, row, end, len(columns), title="Community that one machine serves", up="People"
    )
    chart.set_x_axis({"name": "Active share", "num_format": "0%"})
    chart_column = FIRST_COLUMN + len(columns) + 1
    grid.sheet.insert_chart(3, chart_column, chart)

    community, base = scenario.names[COMMUNITY.key], float(scenario.values[COMMUNITY.key])
    sizes = [(COMMUNITY.key, f"{community}*{factor!r}", base * factor) for factor in _COMMUNITIES]
    top = end + 2
    end = _vary(grid, top, "Machines by community", sizes, machines, columns=columns, shape=WHOLE)
    chart = _chart(grid, top, end, len(columns), title="Machines needed", up="Machines")
    chart.set_x_axis({"name": "Community", "num_format": WHOLE})
    grid.sheet.insert_chart(3 + 18, chart_column, chart)


def _vary(
    grid: Grid,
    row: int,
    title: str,
    cases: Sequence[tuple[str, str, float]],
    step: Step,
    *,
    columns: Sequence[Column],
    shape: str,
) -> int:
    """Write a row per case, with the result of `step` for each machine; return the row below.

    A case is an input's key, its formula and its value; without a formula it has an input cell.
    """
    grid.put(row, 1, title, "heading")
    for index, column in enumerate(columns, FIRST_COLUMN):
        grid.formula(row, index, column.names["machine"], str(column.values["machine"]))
    for down, (key, text, value) in enumerate(cases, row + 1):
        if text:
            cell = grid.formula(down, 1, text, value, shape)
        else:
            cell = grid.entry(down, 1, value, shape)
        for index, column in enumerate(columns, FIRST_COLUMN):
            varied = Column({**column.names, key: cell}, {**column.values, key: value})
            if step.key == "machines":
                varied.names["online"] = f"({cell}*{varied.names['active']})"
                varied.values["online"] = value * float(varied.values["active"])
            law = guard(step.formula, varied.names.__getitem__)
            grid.formula(down, index, law, compute(step.formula, varied.values), WHOLE)
    return row + 1 + len(cases)


def _chart(grid: Grid, row: int, end: int, machines: int, *, title: str, up: str) -> Any:
    chart = grid.book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
    first, last = row + 1, end - 1
    for index in range(FIRST_COLUMN, FIRST_COLUMN + machines):
        chart.add_series(
            {
                "name": [grid.name, row, index],
                "categories": [grid.name, first, 1, last, 1],
                "values": [grid.name, first, index, last, index],
            }
        )
    chart.set_title({"name": title})
    chart.set_y_axis({"name": up, "num_format": WHOLE, "min": 0})
    chart.set_legend({"position": "bottom"})
    return chart

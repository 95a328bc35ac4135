"""Sheets whose formulas are written together with their results.

Programs that do not calculate (previews, mail readers, scripts) show the stored results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xlsxwriter.utility import (  # type: ignore[import-untyped]
    xl_range_abs,
    xl_rowcol_to_cell,
)

from sitebench.plan.formula import Formula, Name

if TYPE_CHECKING:
    from xlsxwriter.format import Format  # type: ignore[import-untyped]
    from xlsxwriter.workbook import Workbook  # type: ignore[import-untyped]
    from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

Value = float | str
MISSING = "n/a"
"""The content of a cell without a number, and of all cells computed from it."""

NUMBER, SHARE = "[>=100]#,##0;[>=10]#,##0.0;0.####", "[>=0.01]0.0%;0.0##%"
SMALL, WHOLE = "0.000000", "#,##0"


_STYLES: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "title": {"bold": True, "font_size": 14},
    "heading": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"},
    "text": {"text_wrap": True, "valign": "top"},
    "note": {"italic": True, "font_color": "#555555"},
    "warning": {"bold": True, "font_color": "#9C0006", "align": "right"},
}


class Grid:
    def __init__(self, book: Workbook, name: str) -> None:
        self.book, self.name = book, name
        self.sheet: Worksheet = book.add_worksheet(name)
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        self._formats: dict[str, Format] = {}

    def format(self, **properties: Any) -> Format:
        key = repr(properties)
        if key not in self._formats:
            self._formats[key] = self.book.add_format(properties)
        return self._formats[key]

    def put(self, row: int, column: int, value: Value, style: str = "") -> None:
        self.sheet.write(row, column, value, self.format(**_STYLES[style]))

    def entry(self, row: int, column: int, value: Value, shape: str, name: str = "") -> str:
        """Write an input cell; return its name in formulas."""
        style = self.format(num_format=shape, bg_color="#FFF2CC", border=1)
        self.sheet.write(row, column, value, style)
        if name:
            self.define(name, row, column, row, column)
        return name or cell(row, column)

    def formula(
        self,
        row: int,
        column: int,
        text: str,
        value: Value,
        shape: str = NUMBER,
        *,
        bold: bool = False,
    ) -> str:
        """Write a formula and its result; return the cell's name."""
        style = self.format(num_format=shape, align="right", bold=bold)
        self.sheet.write_formula(row, column, f"={text}", style, value)
        return cell(row, column)

    def define(self, name: str, top: int, left: int, bottom: int, right: int) -> None:
        self.book.define_name(name, f"='{self.name}'!{xl_range_abs(top, left, bottom, right)}")

    def choose(self, row: int, column: int, source: str) -> None:
        """Offer the values of a range in an input cell."""
        rule = {"validate": "list", "source": f"={source}"}
        self.sheet.data_validation(row, column, row, column, rule)

    def warn(self, row: int, column: int, text: str, value: str) -> None:
        self.sheet.write_formula(row, column, f"={text}", self.format(**_STYLES["warning"]), value)


def cell(row: int, column: int) -> str:
    """Return the absolute name of a cell within its sheet."""
    return str(xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True))


def compute(law: Formula, values: Mapping[str, Value]) -> Value:
    """Return the result of a law; `MISSING` if an input is missing."""
    try:
        result = law.value(values)  # type: ignore[arg-type]
    except (TypeError, ZeroDivisionError):
        return MISSING
    return result if isinstance(result, float) else MISSING


def guard(law: Formula, name: Name) -> str:
    """Return the formula of a law, whose value is `MISSING` if an input is missing."""
    return f'IFERROR({law.excel(name)},"{MISSING}")'

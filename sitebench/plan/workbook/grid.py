"""Cells that know their own value: a formula is written together with what it comes to.

A workbook is opened by programs that do not compute (previews, mail readers, scripts); they show
the value that is stored beside each formula. So every formula here is stored with its value, and
a law's formula gives both from one definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
"""What a cell shows that has no number, and all that follow from it."""

NUMBER, SHARE, SMALL, WHOLE = "#,##0.####", "0.0##%", "0.000000", "#,##0"


@dataclass(frozen=True)
class Styles:
    """How cells look, by what they are for."""

    title: Format
    heading: Format
    text: Format
    note: Format
    warning: Format

    @classmethod
    def of(cls, book: Workbook) -> Styles:
        """Make the styles of a workbook."""
        return cls(
            book.add_format({"bold": True, "font_size": 14}),
            book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"}),
            book.add_format({"text_wrap": True, "valign": "top"}),
            book.add_format({"italic": True, "font_color": "#555555"}),
            book.add_format({"bold": True, "font_color": "#9C0006", "align": "right"}),
        )


class Grid:
    """One sheet, and the values of its cells."""

    def __init__(self, book: Workbook, name: str) -> None:
        self.book, self.name = book, name
        self.styles = Styles.of(book)
        self.sheet: Worksheet = book.add_worksheet(name)
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        self._looks: dict[str, Format] = {}

    def look(self, **properties: Any) -> Format:
        """Return a format, made once."""
        key = repr(properties)
        if key not in self._looks:
            self._looks[key] = self.book.add_format(properties)
        return self._looks[key]

    def put(self, row: int, column: int, value: Value, style: Format | None = None) -> None:
        """Write a text or a number."""
        self.sheet.write(row, column, value, style)

    def entry(self, row: int, column: int, value: Value, shape: str, name: str = "") -> str:
        """Write a cell that people are meant to change; return what it is called in formulas."""
        style = self.look(num_format=shape, bg_color="#FFF2CC", border=1)
        self.sheet.write(row, column, value, style)
        if name:
            self.call(name, row, column, row, column)
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
        """Write a formula beside what it comes to; return the cell."""
        style = self.look(num_format=shape, align="right", bold=bold)
        self.sheet.write_formula(row, column, f"={text}", style, value)
        return cell(row, column)

    def call(self, name: str, top: int, left: int, bottom: int, right: int) -> None:
        """Give cells a name that formulas of every sheet may use."""
        self.book.define_name(name, f"='{self.name}'!{xl_range_abs(top, left, bottom, right)}")

    def warn(self, row: int, column: int, text: str, value: str) -> None:
        """Write a formula that says what is wrong, or nothing."""
        self.sheet.write_formula(row, column, f"={text}", self.styles.warning, value)


def cell(row: int, column: int) -> str:
    """Return what a cell of the same sheet is called."""
    return str(xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True))


def computed(law: Formula, values: Mapping[str, Value]) -> Value:
    """Return what a law's cell comes to; a missing number makes all that follow missing."""
    try:
        found = law.value(values)  # type: ignore[arg-type]
    except (TypeError, ZeroDivisionError):
        return MISSING
    return found if isinstance(found, float) else MISSING


def guarded(law: Formula, name: Name) -> str:
    """Write a law for a cell; a missing number makes all that follow missing."""
    return f'IFERROR({law.excel(name)},"{MISSING}")'

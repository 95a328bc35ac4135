"""Tables as a paper prints them, its claims, and what its own figures make of those."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

from sitebench.tables.table import Table

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+")


class PrintedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: str
    """As printed, such as "Table 9"; numbers repeat, so a title is cited with it."""
    title: str
    where: str
    """The section, and the page where the paper's list of contents has it."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    """Errors of the table and readings of it, in our words."""

    @property
    def citation(self) -> str:
        return f"{self.number}: {self.title}" if self.number else self.title

    def cell(self, row: str, column: str) -> str:
        """Return a cell of the row that begins with a text."""
        (cells,) = (cells for cells in self.rows if cells[0] == row)
        return cells[self.columns.index(column)]

    def value(self, row: str, column: str) -> float:
        """Return the first number in a cell: 1072 of "1072 Req/Sec", 45.8 of "45.8%"."""
        match = _NUMBER.search(self.cell(row, column))
        if match is None:
            raise ValueError(f"{self.citation}: no number in {self.cell(row, column)!r}")
        return float(match[0].replace(",", ""))

    def as_printed(self) -> Table:
        """Return it alone, as a report shows what has no counterpart today."""
        notes = (*self.notes, f"1997; {self.where}.")
        return Table(self.citation, self.columns, self.rows, len(self.columns), notes)


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim of the text, and what the paper's own figures make of it."""

    text: str
    check: str
    holds: bool | None = None
    """None where the paper prints nothing to check it with."""


def statements_table(statements: Sequence[Statement]) -> Table:
    """Return what the text says, and whether the paper's own figures have it so."""
    words = {True: "holds", False: "does not hold", None: "cannot be checked"}
    rows = [[statement.text, words[statement.holds], statement.check] for statement in statements]
    return Table("What the text says", ("Statement", "By its figures", "Check"), rows, left=3)


def _lab() -> tuple[PrintedTable, ...]:
    text = files("sitebench.report").joinpath("lab-1997.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    return msgspec.convert(document["table"], tuple[PrintedTable, ...])


LAB_1997 = _lab()
"""Tables 1, 17 and 18 of the paper of 1997: where directories and sites were measured."""


def with_lab(tables: object) -> tuple[PrintedTable, ...]:
    """Return a paper's tables without figures of operations, among those of the laboratory."""
    return (LAB_1997[0], *msgspec.convert(tables, tuple[PrintedTable, ...]), *LAB_1997[1:])


def users_of(tests: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return the users of all clients, by machine and by operation; `tests` are the tables' names.

    Table 17 has 5 client systems with 50 users each for ILS Connect: 250.
    """
    users = {}
    for machine, table in zip(("2500", "7000"), LAB_1997[1:], strict=True):
        per_client = table.columns[2]
        users[machine] = {
            name: round(table.value(test, table.columns[1]) * table.value(test, per_client))
            for test, name in tests.items()
        }
    return users

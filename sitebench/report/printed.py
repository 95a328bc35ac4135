"""Tables and statements of a paper, and whether its own figures support them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec
from msgspec.structs import replace

from sitebench.tables.table import Table

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+")


class PrintedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: str
    """The printed number, such as "Table 9". Numbers repeat, so citations also have the title."""
    title: str
    where: str
    """The section, and the page according to the paper's table of contents."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    """Our remarks on errors in the table, and on how we read it."""

    @property
    def citation(self) -> str:
        return f"{self.number}: {self.title}" if self.number else self.title

    def cell(self, row: str, column: str) -> str:
        """Return the cell of a column in the row that begins with a text."""
        (cells,) = (cells for cells in self.rows if cells[0] == row)
        return cells[self.columns.index(column)]

    def value(self, row: str, column: str) -> float:
        """Return the first number in a cell: 1072 of "1072 Req/Sec", 45.8 of "45.8%"."""
        match = _NUMBER.search(self.cell(row, column))
        if match is None:
            raise ValueError(f"{self.citation}: no number in {self.cell(row, column)!r}")
        return float(match[0].replace(",", ""))

    def as_printed(self) -> Table:
        """Return the table without figures of today."""
        notes = (*self.notes, f"1997; {self.where}.")
        return Table(self.citation, self.columns, self.rows, len(self.columns), notes)


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim of a paper, and its check by the paper's own figures."""

    text: str
    check: str
    holds: bool | None = None
    """None if the paper prints no figures by which the claim can be checked."""


def statements_table(statements: Sequence[Statement]) -> Table:
    words = {True: "holds", False: "does not hold", None: "cannot be checked"}
    rows = [[statement.text, words[statement.holds], statement.check] for statement in statements]
    return Table("What the text says", ("Statement", "By its figures", "Check"), rows, left=3)


_LAB = files("sitebench.report").joinpath("lab-1997.toml").read_text(encoding="utf-8")
LAB_1997 = msgspec.convert(tomllib.loads(_LAB)["table"], tuple[PrintedTable, ...])
"""Tables 1, 17 and 18 of the paper of 1997: the laboratory of directories and sites."""


class Paper1997(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figures that the paper of 1997 prints for one kind of server."""

    sizes: tuple[int, ...]
    warmup_s: float
    measure_s: float
    tables: dict[str, Any]
    """Figures of operations, by column of `sizes`."""
    printed: tuple[PrintedTable, ...] = msgspec.field(name="table")
    """Tables without figures of operations."""
    statements: tuple[Statement, ...] = msgspec.field(name="statement")
    workbook: dict[str, Any]


def read_1997(package: str) -> Paper1997:
    """Read 1997.toml of a package; the laboratory's tables come before and after its own tables."""
    text = files(package).joinpath("1997.toml").read_text(encoding="utf-8")
    paper = msgspec.convert(tomllib.loads(text), Paper1997)
    return replace(paper, printed=(LAB_1997[0], *paper.printed, *LAB_1997[1:]))


def users_of(tests: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return the number of users, by machine and operation; `tests` maps operations to rows.

    For ILS Connect, Table 17 has 5 clients with 50 users each: 250 users.
    """
    users = {}
    for machine, table in zip(("2500", "7000"), LAB_1997[1:], strict=True):
        per_client = table.columns[2]
        users[machine] = {
            name: round(table.value(test, table.columns[1]) * table.value(test, per_client))
            for test, name in tests.items()
        }
    return users

"""What the papers print, as 1996-2000.toml has it."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any

import msgspec

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+")


class PrintedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A printed table, cell by cell."""

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
    def cited(self) -> str:
        return f"{self.number}: {self.title}" if self.number else self.title

    def cell(self, row: str, column: str) -> str:
        """Return a cell of the row that begins with a text."""
        (found,) = (each for each in self.rows if each[0] == row)
        return found[self.columns.index(column)]

    def value(self, row: str, column: str) -> float:
        """Return the first number in a cell: 1072 of "1072 Req/Sec", 45.8 of "45.8%"."""
        found = _NUMBER.search(self.cell(row, column))
        if found is None:
            raise ValueError(f"{self.cited}: no number in {self.cell(row, column)!r}")
        return float(found[0].replace(",", ""))


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point of a curve that the text names; the curves are images."""

    workload: str
    server: str
    clients: int
    requests_per_s: float | None = None
    latency_ms: float | None = None


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim of the text, and what the paper's own figures make of it."""

    text: str
    check: str
    holds: bool | None = None
    """None where the paper prints nothing to check it with."""


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One paper."""

    key: str
    title: str
    author: str
    date: str
    tool: str
    tables: tuple[PrintedTable, ...] = msgspec.field(name="table")
    points: tuple[Point, ...] = msgspec.field(name="point", default=())
    statements: tuple[Statement, ...] = msgspec.field(name="statement", default=())

    def table(self, title: str) -> PrintedTable:
        """Return the table with a title, which no other has."""
        (found,) = (each for each in self.tables if each.title == title)
        return found


def _read() -> dict[str, Paper]:
    text = files("web_bench.paper").joinpath("1996-2000.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    papers = msgspec.convert(document["paper"], list[Paper])
    return {each.key: each for each in papers}


PAPERS = _read()
"""By key: webbench1, webbench3, webstone2, webcat."""

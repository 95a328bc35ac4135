"""Contents of the papers, read from 1996-2000.toml."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import msgspec

from sitebench.report.printed import PrintedTable, Statement


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point of a curve with figures in the text; the curves themselves are images."""

    workload: str
    server: str
    clients: int
    requests_per_s: float | None = None
    latency_ms: float | None = None


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    title: str
    author: str
    date: str
    tool: str
    tables: tuple[PrintedTable, ...] = msgspec.field(name="table")
    points: tuple[Point, ...] = msgspec.field(name="point", default=())
    statements: tuple[Statement, ...] = msgspec.field(name="statement", default=())

    def table(self, title: str) -> PrintedTable:
        (table,) = (table for table in self.tables if table.title == title)
        return table


def _read() -> dict[str, Paper]:
    text = files("web_bench.paper").joinpath("1996-2000.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    papers = msgspec.convert(document["paper"], list[Paper])
    return {paper.key: paper for paper in papers}


PAPERS = _read()
"""Papers by key: webbench1, webbench3, webstone2, webcat."""

WEBBENCH = {
    "Static HTML": "webbench1-static",
    "Light CGI": "webbench1-light",
    "Heavy CGI": "webbench1-heavy",
}
WEBSTONE = {"HTML": "webstone2-standard", "NSAPI": "webstone2-inprocess", "CGI": "webstone2-cgi"}
"""Workloads by name in the papers."""

_ON_PROCESSORS = ("second processor", "second Pentium", "two processors")
_SAID = {True: "", False: " (by its own figures that does not hold)", None: ""}


def on_processors() -> list[str]:
    return [
        f"{paper.tool}, {paper.date}: {statement.text}{_SAID[statement.holds]}."
        for paper in PAPERS.values()
        for statement in paper.statements
        if any(words in statement.text for words in _ON_PROCESSORS)
    ]

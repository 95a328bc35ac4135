"""Figures of personalized sites in the paper of 1997, read from 1997.toml."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import msgspec

from sitebench.report.printed import Statement, users_of, with_lab
from sitebench.suite import PaperSweep

_PAPER = tomllib.loads(files("ps_bench.paper").joinpath("1997.toml").read_text(encoding="utf-8"))

SIZES_1997: tuple[int, ...] = tuple(_PAPER["sizes"])

SWEEP_1997 = PaperSweep(
    sizes=SIZES_1997,
    warmup_s=float(_PAPER["warmup_s"]),
    measure_s=float(_PAPER["measure_s"]),
    users=users_of({"All PS Tests": "scenario"}),
)

TABLES_1997: dict[str, dict[str, list[str]]] = _PAPER["tables"]
"""Cells by table and row; a row has a cell for each of SIZES_1997."""


PRINTED_1997 = with_lab(_PAPER["table"])
"""Printed tables that have no figures of operations."""

STATEMENTS_1997 = msgspec.convert(_PAPER["statement"], tuple[Statement, ...])


def machine_of(table: str) -> str:
    return table.partition(": ")[2]


WORKBOOK_1997: dict[str, Any] = _PAPER["workbook"]

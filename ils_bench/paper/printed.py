"""What the paper prints of directories, as 1997.toml has it."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import msgspec

from sitebench.report.printed import LAB_1997, PrintedTable, Statement
from sitebench.suite import PaperSweep

_PAPER = tomllib.loads(files("ils_bench.paper").joinpath("1997.toml").read_text(encoding="utf-8"))

SIZES_1997: tuple[int, ...] = tuple(_PAPER["sizes"])

SWEEP_1997 = PaperSweep(sizes=SIZES_1997, warmup_s=10.0, measure_s=600.0)
"""Each operation for 600 seconds at each size (page 8)."""

TABLES_1997: dict[str, dict[str, dict[str, Any]]] = _PAPER["tables"]
"""By operation and machine: a table's number, its operations per second (`ops_per_s`) and its other
rows (`rows`), each over SIZES_1997."""

PRINTED_1997 = (
    *LAB_1997[:1],
    *msgspec.convert(_PAPER["table"], tuple[PrintedTable, ...]),
    *LAB_1997[1:],
)
"""The tables without figures of operations."""

STATEMENTS_1997 = msgspec.convert(_PAPER["statement"], tuple[Statement, ...])

WORKBOOK_1997: dict[str, Any] = _PAPER["workbook"]

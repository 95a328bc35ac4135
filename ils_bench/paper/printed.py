"""What the paper prints of directories, as 1997.toml has it."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import msgspec

from sitebench.report.printed import Statement, users_of, with_lab
from sitebench.suite import PaperSweep

_PAPER = tomllib.loads(files("ils_bench.paper").joinpath("1997.toml").read_text(encoding="utf-8"))

SIZES_1997: tuple[int, ...] = tuple(_PAPER["sizes"])

_TESTS = {"ILS Connect": "connect", "ILS Add": "add", "ILS Direct Lookup": "lookup"}
"""By their names in Tables 17 and 18."""

SWEEP_1997 = PaperSweep(
    sizes=SIZES_1997,
    warmup_s=10.0,
    measure_s=600.0,
    users=users_of(_TESTS),
    # What a Microsoft Active Server Page entered of a user: in all eight columns of Tables 5 and 8
    # an add has 126 bytes.
    options={"add": {"profile": "small"}},
)
"""Each operation for 600 seconds at each size (page 8), from as many clients as Tables 17 and 18
have."""

TABLES_1997: dict[str, dict[str, dict[str, Any]]] = _PAPER["tables"]
"""By operation and machine: a table's number, its operations per second (`ops_per_s`) and its other
rows (`rows`), each over SIZES_1997."""

PRINTED_1997 = with_lab(_PAPER["table"])
"""The tables without figures of operations."""

STATEMENTS_1997 = msgspec.convert(_PAPER["statement"], tuple[Statement, ...])

WORKBOOK_1997: dict[str, Any] = _PAPER["workbook"]

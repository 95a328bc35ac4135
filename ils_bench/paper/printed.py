"""Figures of directories in the paper of 1997, read from 1997.toml."""

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
"""Operations by their names in Tables 17 and 18."""

SWEEP_1997 = PaperSweep(
    sizes=SIZES_1997,
    warmup_s=10.0,
    measure_s=600.0,
    users=users_of(_TESTS),
    # In 1997 an Active Server Page added users, with 126 bytes per add (Tables 5 and 8).
    options={"add": {"profile": "small"}},
)
"""Each operation runs 600 s at each size (page 8), with the clients of Tables 17 and 18."""

TABLES_1997: dict[str, dict[str, dict[str, Any]]] = _PAPER["tables"]
"""Tables by operation and machine, each with its number, `ops_per_s` and other rows by size."""

PRINTED_1997 = with_lab(_PAPER["table"])
"""Printed tables that have no figures of operations."""

STATEMENTS_1997 = msgspec.convert(_PAPER["statement"], tuple[Statement, ...])

WORKBOOK_1997: dict[str, Any] = _PAPER["workbook"]

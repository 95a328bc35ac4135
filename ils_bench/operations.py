"""What can be measured, by name; and what the paper measured."""

from __future__ import annotations

from ils_bench.suite import SUITE
from sitebench.errors import UnknownValue

PAPER_OPERATIONS = ("connect", "add", "lookup")
PAPER_SIZES = (500, 1_000, 5_000, 10_000)
PAPER_WINDOW_S = 600.0
"""What the paper measured: three operations, four sizes, 600 seconds each (page 8)."""


def parse_operations(text: str) -> tuple[str, ...]:
    """Read operations separated by commas."""
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in chosen:
        if name not in SUITE.operations:
            raise UnknownValue(
                f"unknown operation {name!r}", f"use some of {', '.join(SUITE.operations)}"
            )
    return chosen


def parse_operation(text: str) -> str:
    """Read one operation."""
    chosen = parse_operations(text)
    if len(chosen) != 1:
        raise UnknownValue(
            f"{text!r} is not one operation", f"use one of {', '.join(SUITE.operations)}"
        )
    return chosen[0]

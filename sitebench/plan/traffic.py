"""Further calculations of the 1997 paper: networks, memory, operations a day."""

from __future__ import annotations

from collections.abc import Sequence

from sitebench.plan.formula import Constant, Input, WholeUp
from sitebench.plan.model import Step
from sitebench.plan.suite import Calculation

_DAY_S = 86_400.0

IN_PRACTICE = 0.94
"""Share of a line that is used in practice (from the capacity table of 1996)."""


def traffic(
    unit: str, per_s: float, bytes_each: float, line: float, notes: Sequence[str]
) -> Calculation:
    """Return the networks needed for a machine's highest rate, and the operations a day."""
    bits = Input("per_s") * Input("bytes_each") * Constant(8.0)
    line_bits = Input("line_bits_per_s") * Input("in_practice")
    networks = WholeUp(Input("traffic_bits_per_s") / line_bits)
    return Calculation(
        f"Networks and a day: {unit}",
        {
            "per_s": (f"{unit} a second".capitalize(), per_s),
            "bytes_each": ("Bytes of each, both ways", bytes_each),
            "line_bits_per_s": ("Bits/s of a network", line),
            "in_practice": ("Share of it used in practice", IN_PRACTICE),
        },
        (
            Step("traffic_bits_per_s", "traffic at the highest rate", "bit/s", bits),
            Step("networks", "networks needed", "networks", networks),
            Step("per_day", f"{unit} a day", "1/day", Input("per_s") * Constant(_DAY_S)),
        ),
        notes,
    )


def memory(people: float, bytes_each: float, notes: Sequence[str]) -> Calculation:
    megabytes = Input("people") * Input("bytes_each") / Constant(1e6)
    return Calculation(
        "Memory of a directory",
        {
            "people": ("People listed on one machine", people),
            "bytes_each": ("Bytes of a person's entry", bytes_each),
        },
        (Step("memory_mb", "memory of their entries", "MB", megabytes),),
        notes,
    )

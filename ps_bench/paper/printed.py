"""Figures of personalized sites in the paper of 1997."""

from __future__ import annotations

from sitebench.report.printed import read_1997, users_of
from sitebench.suite import PaperSweep

PAPER = read_1997("ps_bench.paper")

SWEEP_1997 = PaperSweep(
    sizes=PAPER.sizes,
    warmup_s=PAPER.warmup_s,
    measure_s=PAPER.measure_s,
    users=users_of({"All PS Tests": "scenario"}),
)


def machine_of(table: str) -> str:
    return table.partition(": ")[2]

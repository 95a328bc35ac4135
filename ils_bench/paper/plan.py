"""Planner of the directory suite, and why its answers differ from the printed answers of 1997."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ils_bench.paper.printed import PAPER
from ils_bench.suite import SUITE
from sitebench import units
from sitebench.options import option
from sitebench.plan.model import Scenario, people_per_machine, round_half_up, solve
from sitebench.plan.options import (
    ACTIVE,
    GIGABIT,
    MixPlanOptions,
    Pairs,
    PlanOptions,
    mix_option,
    preset_option,
    rates_option,
)
from sitebench.plan.rates import RateTable
from sitebench.plan.suite import Calculation, PlanSuite, PrintedAnswer
from sitebench.plan.traffic import memory, traffic

_SESSION_S = float(PAPER.workbook["session_s"])
MIX = {name: float(number) for name, number in PAPER.workbook["mix"].items()}
_SCENARIO = Scenario(ACTIVE, _SESSION_S, MIX)


def _rates(machine: Mapping[str, Any]) -> RateTable:
    """Return the rates of a machine from its tables; rates in the workbook replace them."""
    rates = {
        name: machine.get(name, tables[machine["name"]]["ops_per_s"])
        for name, tables in PAPER.tables.items()
    }
    return RateTable(
        f"{machine['name']} (1997)",
        PAPER.sizes,
        {name: tuple(map(float, row)) for name, row in rates.items()},
    )


_MACHINES = {preset: _rates(machine) for preset, machine in PAPER.workbook["machines"].items()}

_PRINTED = tuple(
    PrintedAnswer(preset, machine["simultaneous"], machine["community"])
    for preset, machine in PAPER.workbook["machines"].items()
)

UNPRINTED = {"paper-2500": (3.4, 10_000), "paper-7000": (6.8, 5_000)}
"""By machine, an explanation of the printed answers: the rate of an operation that each session
does once and that the paper does not print, and the size whose printed rates fit. Both are inferred
from the answers (docs/planner.md). No plan uses them.
"""


@dataclass(frozen=True)
class _DirectoryPlanOptions(MixPlanOptions):
    preset: str | None = preset_option(_MACHINES)
    session: float = option.duration(_SESSION_S, "Length of a user's session.", panel="Load")
    mix: Pairs = mix_option(
        tuple(MIX.items()), "Operations per session, such as lookup=10,add=1,retrieve=0.5."
    )
    rates: Pairs | None = rates_option(
        "Operations/s of one machine, such as connect=462,add=840,lookup=900."
    )


_LOOKUP_BYTES = 1_387.0
"""Bytes of a lookup's request and answer: (1.2 MB + 97 KB) / 935 in Table 6, and 1,283 + 104."""

_ENTRY_BYTES = 1_283.0
"""Bytes of a person in a lookup's answer."""


def _calculations(
    options: PlanOptions, rates: Mapping[str, float], values: Mapping[str, float]
) -> list[Calculation]:
    assert isinstance(options, _DirectoryPlanOptions)
    calculations = []
    if "lookup" in rates:
        line = options.line or GIGABIT
        calculations.append(traffic("lookups", rates["lookup"], _LOOKUP_BYTES, line, ()))
    notes = (
        "At least: indexes and connections come on top. Everything is kept in memory, and "
        "nothing should be paged out; the disk hardly matters (1997).",
    )
    return [*calculations, memory(people_per_machine(values), _ENTRY_BYTES, notes)]


def _explain() -> list[str]:
    (smaller, smaller_answer), (larger, larger_answer) = zip(
        _MACHINES.values(), _PRINTED, strict=True
    )
    answers_apart = larger_answer.community / smaller_answer.community
    rates_apart = max(
        high / low
        for name in smaller.rates
        for low, high in zip(smaller.rates[name], larger.rates[name], strict=True)
        if low and high
    )
    unprinted = " and ".join(
        f"{rate:g}/s (with the rates at {units.format_size(size)})"
        for rate, size in UNPRINTED.values()
    )
    users_by_column = []
    for table in (smaller, larger):
        users = [solve(_SCENARIO, table.rates_at(size))["simultaneous"] for size in table.sizes]
        users_by_column.append(f"{round_half_up(min(users)):,} to {round_half_up(max(users)):,}")
    return [
        "It is not the column: our law gives "
        f"{' and '.join(users_by_column)} simultaneous users with the "
        "rates of other sizes.",
        f"No mix of the printed rates gives both printed answers: these are {answers_apart:.2f} "
        f"times apart, and the printed rates of the two machines {rates_apart:.2f} times at most.",
        f"An operation that is not printed, once per session at {unprinted}, would give them; "
        "`sitebench docs planner` has the reasons to think so.",
    ]


PLAN = PlanSuite(
    name=SUITE.name,
    title=f"{SUITE.title} ({SUITE.name.upper()})",
    help="""Plan machines of a directory from a run, from given rates or from those of 1997.

    sitebench plan ils

    sitebench plan ils run.sitebench --community 2m --headroom 30% --objective 'p99<5ms'

    sitebench plan ils --rates lookup=40k,add=12k --mix lookup=10,add=1 --session 1h --active 10%

    sitebench plan ils run.sitebench --xlsx plan.xlsx
    """,
    options=_DirectoryPlanOptions,
    people_in="directory",
    operation=lambda series: series.spec.operation,
    rate=lambda result: result.ops_per_s,
    scenario=_SCENARIO,
    presets=_MACHINES,
    size=PAPER.workbook["size"],
    printed=_PRINTED,
    calculations=_calculations,
    explain=_explain,
)

"""Choose the measured size whose rates a plan uses (docs/planner.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from sitebench.errors import BadInput
from sitebench.plan.model import Scenario, needed, people_per_machine, round_half_up, solve
from sitebench.plan.rates import PAGES, UNSTATED, RateTable
from sitebench.plan.suite import Calculation, PlanSuite
from sitebench.units import format_size

_STRETCH = 2.0
"""The largest factor by which the people of an answer may exceed the largest measured size."""


class Plan(msgspec.Struct, frozen=True):
    """An answer of the planner; `values` has every number of the law."""

    suite: PlanSuite
    scenario: Scenario
    machine: str
    size: int
    rates: Mapping[str, float]
    values: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    calculations: tuple[Calculation, ...] = ()


def plan(suite: PlanSuite, scenario: Scenario, table: RateTable, size: int | None = None) -> Plan:
    """Plan with a machine's rates at `size`, or by default at the size that the answer needs."""
    if size is not None:
        return _plan_at(suite, scenario, table, size)
    plans = [_plan_at(suite, scenario, table, n) for n in _complete(scenario, table)]
    for candidate in plans:
        if candidate.size == UNSTATED or people_per_machine(candidate.values) <= candidate.size:
            return candidate
    largest = plans[-1]
    people, measured = round_half_up(people_per_machine(largest.values)), largest.size
    if scenario.community is not None and people_per_machine(largest.values) > _STRETCH * measured:
        raise BadInput(
            f"each machine would have {people:,} people, and {table.machine} was measured "
            f"with at most {measured:,}: that is more than twice as many",
            f"measure it with --entries {format_size(people)}, or use these rates nevertheless "
            f"with --size {format_size(measured)}",
        )
    return largest


def on_first(suite: PlanSuite, tables: Sequence[RateTable]) -> tuple[Plan, RateTable] | None:
    """Plan the paper's scenario with the first machine that has all rates of the scenario."""
    for table in tables:
        try:
            return plan(suite, suite.scenario, table), table
        except BadInput:
            continue
    return None


def _complete(scenario: Scenario, table: RateTable) -> list[int]:
    """Return the sizes that have a rate for every operation; raise if there are none."""
    names = needed(scenario)
    sizes = [size for size in table.sizes if all(name in table.rates_at(size) for name in names)]
    if sizes:
        return sizes
    for name in names:
        if not any(name in table.rates_at(size) for size in table.sizes):
            raise _missing(table, name)
    raise BadInput(
        f"{table.machine} has no size with a rate for each of {', '.join(names)}"
        f"{_reasons(table, names)}",
        "measure them at the same size, or type them in with --rates",
    )


def _reasons(table: RateTable, names: Sequence[str]) -> str:
    reasons = "; ".join(str(remark) for remark in table.remarks if remark.operation in names)
    return f" ({reasons})" if reasons else ""


def _missing(table: RateTable, name: str) -> BadInput:
    message = f"{table.machine} has no rate for {name}{_reasons(table, [name])}"
    remedies = [r.remedy for r in table.remarks if r.operation == name and r.remedy]
    if remedies:
        return BadInput(message, remedies[0])
    if name == PAGES:
        remedy = "mark an operation of the scenario with `page = true` and measure it, or give "
        return BadInput(message, f"{remedy}--pages-per-s")
    names = ", ".join(key for key, row in table.rates.items() if any(row))
    hint = f"; there are rates for {names}" if names else ""
    return BadInput(message, f"measure it, or leave it out of the session with --mix{hint}")


def _plan_at(suite: PlanSuite, scenario: Scenario, table: RateTable, size: int) -> Plan:
    rates, names = table.rates_at(size), needed(scenario)
    for name in names:
        if name not in rates:
            raise _missing(table, name)
    values = solve(scenario, rates)
    warnings = [str(r) for r in table.remarks if r.size == size and r.operation in names]
    people = round_half_up(people_per_machine(values))
    if people > size != UNSTATED:
        times = f"{float(f'{people / size:.2g}'):,g}"
        warnings.append(
            f"each machine's {suite.people_in} would have {people:,} people, and its rates were "
            f"measured with {size:,} ({times} times fewer): measure --entries "
            f"{format_size(people)} before relying on this"
        )
    warnings += _assumptions(scenario)
    return Plan(suite, scenario, table.machine, size, rates, values, tuple(warnings))


def _assumptions(scenario: Scenario) -> list[str]:
    assumptions = []
    if scenario.community is not None:
        if scenario.headroom == 0 and scenario.burst == 1:
            assumptions.append(
                "no headroom for peaks: --headroom 30% leaves 30 % free, and --burst 150% plans "
                "for minutes with 1.5 times the arrivals"
            )
        assumptions.append(
            "the capacity of n machines is assumed to be n times that of one: a shared database "
            "or network was not measured"
        )
    if scenario.objective is not None:
        assumptions.append(
            "the response time is estimated from rates (one queue, random arrivals, random service "
            f"times of each kind, --cores {scenario.cores}), not measured: plan from a run for "
            "measured ones"
        )
    return assumptions

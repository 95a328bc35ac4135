"""From what a machine was measured at to a plan: which size's rates apply, and when none do.

Rates depend on how many people a directory or database has, and that number is itself a part of
the answer: the smallest measured size that has room for it is taken. Where none has, the
largest is, up to twice; a machine count beyond that is refused (method rule 11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitebench.errors import BadInput
from sitebench.plan.model import Scenario, holds, solve, whole
from sitebench.plan.rates import PAGES, UNSTATED, RateTable
from sitebench.plan.suite import PlanSuite
from sitebench.units import format_size

STRETCH = 2.0
"""How far beyond what was measured an answer may lie."""


@dataclass(frozen=True)
class Plan:
    """One answer: for whom, from which rates, and what is to be said of it."""

    suite: PlanSuite
    scenario: Scenario
    machine: str
    size: int
    values: Mapping[str, float]
    doubts: tuple[str, ...] = ()


def plan(suite: PlanSuite, scenario: Scenario, table: RateTable, size: int | None = None) -> Plan:
    """Plan with a machine's rates at the size that the answer needs, or at the one asked for."""
    if size is not None:
        return _at(suite, scenario, table, size)
    plans = [_at(suite, scenario, table, each) for each in _complete(scenario, table)]
    for each in plans:
        if each.size == UNSTATED or holds(each.values) <= each.size:
            return each
    largest = plans[-1]
    asked, known = holds(largest.values), largest.size
    if scenario.community is not None and asked > STRETCH * known:
        raise BadInput(
            f"each machine would have {whole(asked):,} people, and {table.machine} was measured "
            f"with at most {known:,}: that is more than twice as many",
            f"measure it with --sizes {format_size(whole(asked))}, "
            f"or insist on these rates with --size {format_size(known)}",
        )
    return largest


def on_first(suite: PlanSuite, tables: Sequence[RateTable]) -> tuple[Plan, RateTable] | None:
    """Return the paper's scenario on the first machine measured with all that its users do."""
    for table in tables:
        try:
            return plan(suite, suite.scenario, table), table
        except BadInput:
            continue
    return None


def needed(scenario: Scenario) -> tuple[str, ...]:
    """Return the operations whose rates a scenario needs."""
    if scenario.mix is None:
        return (PAGES,)
    return tuple(name for name, number in scenario.mix.items() if number)


def _complete(scenario: Scenario, table: RateTable) -> list[int]:
    """Return the sizes at which every operation has a rate; refuse a table that has none."""
    names = needed(scenario)
    sizes = [size for size in table.sizes if all(name in table.at(size) for name in names)]
    if sizes:
        return sizes
    for name in names:
        if not any(name in table.at(size) for size in table.sizes):
            raise _missing(table, name)
    raise BadInput(
        f"{table.machine} has no size with a rate for each of {', '.join(names)}"
        f"{_why(table, names)}",
        "measure them at the same size, or type them in with --rates",
    )


def _why(table: RateTable, names: Sequence[str]) -> str:
    """Say what is known of rates that are missing."""
    found = "; ".join(str(remark) for remark in table.remarks if remark.operation in names)
    return f" ({found})" if found else ""


def _missing(table: RateTable, name: str) -> BadInput:
    known = ", ".join(key for key, row in table.rates.items() if any(row)) or "nothing"
    return BadInput(
        f"{table.machine} has no rate for {name}{_why(table, [name])}",
        f"measure it, or leave it out of the session with --mix; there are rates for {known}",
    )


def _at(suite: PlanSuite, scenario: Scenario, table: RateTable, size: int) -> Plan:
    rates = table.at(size)
    for name in needed(scenario):
        if name not in rates:
            raise _missing(table, name)
    values = solve(scenario, rates)
    remarks = [
        str(each)
        for each in table.remarks
        if each.size == size and each.operation in needed(scenario)
    ]
    people = whole(holds(values))
    if people > size != UNSTATED:
        remarks.append(
            f"each machine's {suite.people_in} would have {people:,} people, and its rates were "
            f"measured with {size:,} ({people / size:.2g} times fewer): measure --sizes "
            f"{format_size(people)} before relying on this"
        )
    return Plan(suite, scenario, table.machine, size, values, (*remarks, *_doubts(scenario)))


def _doubts(scenario: Scenario) -> tuple[str, ...]:
    said = []
    if scenario.community is not None:
        if scenario.headroom == 0:
            said.append("without headroom nothing is left for peaks: --headroom 30% leaves some")
        said.append("n machines are taken to do n times as much: what they share was not measured")
    if scenario.objective is not None:
        said.append(
            "the response time is estimated from rates (one queue, random arrivals, random service "
            "times; M/M/1), not measured: plan from a run for measured ones"
        )
    return tuple(said)

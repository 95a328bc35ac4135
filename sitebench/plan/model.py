"""The planner's two laws, as steps that each give one number from the ones before.

Both are Little's law: people inside = people coming per second x seconds they stay. A machine is
busy `demand` seconds per session, or 1 / rate seconds per page; kept busy up to a limit, it
finishes limit / demand sessions (or pages) per second, and each is one person inside.

A session is a mix of operations, each measured alone. An operation costs a machine
1 / its rate; costs add up as long as operations wait for the same resource, which is what a
saturated target was measured to do. docs/planner.md derives each step and says where it ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sitebench.errors import UnknownValue
from sitebench.plan.formula import Constant, Formula, IfAny, Input, Least, WholeUp

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
"""Percentiles that a response-time objective may be about."""


@dataclass(frozen=True)
class Step:
    """One number of a law: its name, what it is, in what unit, and how it follows."""

    key: str
    meaning: str
    unit: str
    formula: Formula


@dataclass(frozen=True)
class Law:
    """What one machine serves, and how many machines a community needs."""

    capacity: tuple[Step, ...]
    fleet: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step, each after those it needs."""
        return self.capacity + self.fleet


ACTIVE, HEADROOM, COMMUNITY = Input("active"), Input("headroom"), Input("community")
SESSION, VIEW, PAGES_PER_S = Input("session_s"), Input("view_s"), Input("pages_per_s")
OBJECTIVE, WAIT = Input("objective_s"), Input("wait_factor")
DEMAND, MEAN, LIMIT = Input("demand_s"), Input("mean_s"), Input("busy_limit")
SIMULTANEOUS, ONLINE, MACHINES = Input("simultaneous"), Input("online"), Input("machines")


def _of_sessions(operations: Iterable[str]) -> Law:
    """Return the law of sessions made of these operations."""
    each = tuple(operations)
    costs = [
        Step(f"cost_{name}", f"seconds of {name} per session", "s", _cost(name)) for name in each
    ]
    demand = _sum([Input(step.key) for step in costs])
    number = _sum([Input(f"n_{name}") for name in each])
    return Law(
        (
            *costs,
            Step("demand_s", "a machine's time per session", "s", demand),
            Step("mean_s", "a machine's time per operation", "s", DEMAND / number),
            _limit(),
            Step("simultaneous", "simultaneous users", "users", LIMIT * SESSION / DEMAND),
            _served(),
        ),
        _fleet(ONLINE * DEMAND / (SESSION * MACHINES)),
    )


def _of_pages() -> Law:
    """Return the law of people who look at one page after the other."""
    return Law(
        (
            Step("mean_s", "a machine's time per page", "s", Constant(1.0) / PAGES_PER_S),
            _limit(),
            Step("simultaneous", "simultaneous users", "users", LIMIT * (PAGES_PER_S * VIEW)),
            _served(),
        ),
        _fleet(ONLINE / (PAGES_PER_S * VIEW * MACHINES)),
    )


def _cost(name: str) -> Formula:
    number = Input(f"n_{name}")
    return IfAny(number, number / Input(f"rate_{name}"), Constant(0.0))


def _sum(terms: list[Input]) -> Formula:
    total: Formula = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _limit() -> Step:
    """How busy a machine may be: what headroom leaves, and what the objective allows.

    M/M/1 (one queue, arrivals and service times at random): the share q of all operations is
    answered within mean x ln(1 / (1 - q)) / (1 - busy). `wait_factor` is that logarithm.
    """
    kept: Formula = 1 - HEADROOM
    allowed = Least(kept, 1 - MEAN * WAIT / OBJECTIVE)
    return Step("busy_limit", "how busy a machine may be", "share", IfAny(OBJECTIVE, allowed, kept))


def _served() -> Step:
    return Step("served", "community that one machine serves", "people", SIMULTANEOUS / ACTIVE)


def _fleet(busy: Formula) -> tuple[Step, ...]:
    return (
        Step("online", "people active at once", "users", COMMUNITY * ACTIVE),
        Step("machines", "machines needed", "machines", WholeUp(ONLINE / SIMULTANEOUS)),
        Step("busy", "how busy each of them is", "share", busy),
    )


@dataclass(frozen=True)
class Scenario:
    """What people do, and what is asked of the machines.

    `objective` is a percentile and the seconds within which it must lie, to be estimated from
    rates alone; rates that were measured under an objective need none.
    """

    active: float
    stay_s: float
    mix: Mapping[str, float] | None = None
    headroom: float = 0.0
    community: int | None = None
    objective: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check(0 < self.active <= 1, f"{self.active:.4g} of the community active", "0% < x <= 100%")
        _check(0 < self.stay_s < math.inf, f"a time of {self.stay_s:g}s per user", "more than 0s")
        _check(0 <= self.headroom < 1, f"headroom of {self.headroom:.4g}", "0% <= x < 100%")
        if self.community is not None:
            _check(self.community >= 1, f"a community of {self.community}", "at least 1")
        if self.mix is not None:
            fine = all(0 <= n < math.inf for n in self.mix.values()) and any(self.mix.values())
            _check(fine, "a session without operations", "--mix connect=1,add=1,lookup=6")
        if self.objective is not None:
            fine = 0 < self.objective[0] < 1 and self.objective[1] > 0
            _check(fine, "an objective that nothing can meet", "p99<50ms")

    def inputs(self) -> dict[str, float]:
        """Return the law's inputs, but for the rates."""
        share, within_s = self.objective or (0.0, 0.0)
        found = {
            "active": self.active,
            "headroom": self.headroom,
            "objective_s": within_s,
            "wait_factor": wait_factor(share),
        }
        if self.mix is None:
            found["view_s"] = self.stay_s
        else:
            found |= {"session_s": self.stay_s}
            found |= {f"n_{name}": float(n) for name, n in self.mix.items()}
        if self.community is not None:
            found["community"] = float(self.community)
        return found


def _check(fine: bool, what: str, remedy: str) -> None:
    if not fine:
        raise UnknownValue(f"cannot plan with {what}", f"use {remedy}")


def wait_factor(share: float) -> float:
    """Return how many mean times cover this share of exponentially distributed ones."""
    return -math.log1p(-share)


def with_all(scenario: Scenario, operations: Sequence[str]) -> Scenario:
    """Return a scenario that names every operation there is a rate for, those not done with 0."""
    if scenario.mix is None:
        return scenario
    return replace(scenario, mix={name: scenario.mix.get(name, 0.0) for name in operations})


def law_of(scenario: Scenario) -> Law:
    """Return the law for this scenario: of sessions where it has a mix, else of pages."""
    return _of_pages() if scenario.mix is None else _of_sessions(scenario.mix)


def solve(scenario: Scenario, rates: Mapping[str, float]) -> dict[str, float]:
    """Return every number of the law, inputs included.

    `rates` are operations per second by name; of pages there is one, `pages`.
    """
    values = scenario.inputs() | _rates(scenario, rates)
    law = law_of(scenario)
    for step in law.capacity if scenario.community is None else law.steps:
        values[step.key] = step.formula.value(values)
        if step.key == "busy_limit" and values[step.key] <= 0:
            raise UnknownValue(
                f"an idle machine takes {values['mean_s'] * 1e3:.3g} ms on average: by the "
                f"queueing estimate it cannot meet {values['objective_s'] * 1e3:g} ms",
                "allow more time, or measure a faster target",
            )
    return values


def _rates(scenario: Scenario, rates: Mapping[str, float]) -> dict[str, float]:
    needed = ["pages"] if scenario.mix is None else [n for n, k in scenario.mix.items() if k]
    for name in needed:
        if name not in rates:
            raise UnknownValue(
                f"there is no rate for {name}",
                f"measure it, or leave it out of --mix; there are rates for {', '.join(rates)}"
                if rates
                else "measure it",
            )
        _check(0 < rates[name] < math.inf, f"{rates[name]:g} {name}/s", "a rate above zero")
    if scenario.mix is None:
        return {"pages_per_s": rates["pages"]}
    return {f"rate_{name}": rates[name] for name in needed}


def whole(value: float) -> int:
    """Round as the workbook prints: halves up."""
    return math.floor(value + 0.5)


def holds(values: Mapping[str, float]) -> float:
    """Return how many people one machine has to know at this answer.

    In sessions, those who are online, shared out among the machines; where people look at pages,
    the whole community, on every machine.
    """
    if "view_s" in values:
        return values.get("community", values["served"])
    if "machines" in values:
        return values["online"] / values["machines"]
    return values["simultaneous"]

"""The planner's two laws, for pages and for sessions, in steps that docs/planner.md derives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from operator import add

import msgspec
from msgspec.structs import replace

from sitebench._engine import busy_limit
from sitebench.counts import durations
from sitebench.counts.durations import heading
from sitebench.errors import UnknownValue
from sitebench.plan.formula import Constant, Formula, IfAny, Input, Least, WholeUp
from sitebench.plan.rates import PAGES

PERCENTILES = {heading(name): round(q / 100, 9) for name, q in durations.PERCENTILES.items()}
"""Percentiles that a response-time objective can bound."""

MOST_CORES = 10_000


class Step(msgspec.Struct, frozen=True):
    key: str
    meaning: str
    unit: str
    formula: Formula


class Law(msgspec.Struct, frozen=True):
    """Steps that compute the capacity of a machine, and the number of machines for a community."""

    capacity: tuple[Step, ...]
    machines: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.capacity + self.machines


ACTIVE, _HEADROOM, COMMUNITY = Input("active"), Input("headroom"), Input("community")
_CORES, _BURST = Input("cores"), Input("burst")
_SESSION, _VIEW, _PAGES_PER_S = Input("session_s"), Input("view_s"), Input("pages_per_s")
_OBJECTIVE, _WAIT = Input("objective_s"), Input("wait_factor")
_DEMAND, _MEAN, _LIMIT = Input("demand_s"), Input("mean_s"), Input("busy_limit")
_SERVICE, _QUEUE = Input("service_s"), Input("queue_limit")
_SIMULTANEOUS, _ONLINE, _MACHINES = Input("simultaneous"), Input("online"), Input("machines")


def _of_sessions(operations: Iterable[str]) -> Law:
    costs = [
        Step(f"cost_{name}", f"seconds of {name} per session", "s", _cost(name))
        for name in operations
    ]
    demand = reduce(add, [Input(step.key) for step in costs])
    return Law(
        (
            *costs,
            Step("demand_s", "a machine's time per session", "s", demand),
            _limit(IfAny(1 - _QUEUE, Least(1 - _HEADROOM, _QUEUE), 1 - _HEADROOM)),
            Step("simultaneous", "simultaneous users", "users", _LIMIT * _SESSION / _DEMAND),
            _community_step(),
        ),
        _machines(_ONLINE * _DEMAND / (_SESSION * _MACHINES)),
    )


def _of_pages() -> Law:
    return Law(
        (
            Step("mean_s", "a machine's time per page", "s", Constant(1.0) / _PAGES_PER_S),
            *_of_one_kind(),
            Step("simultaneous", "simultaneous users", "users", _LIMIT * (_PAGES_PER_S * _VIEW)),
            _community_step(),
        ),
        _machines(_ONLINE / (_PAGES_PER_S * _VIEW * _MACHINES)),
    )


def _cost(name: str) -> Formula:
    number = Input(f"n_{name}")
    return IfAny(number, number / Input(f"rate_{name}"), Constant(0.0))


def _limit(allowed: Formula) -> Step:
    meaning = "how busy a machine may be on average"
    return Step("busy_limit", meaning, "share", allowed / _BURST)


def _of_one_kind() -> tuple[Step, ...]:
    """Return the steps for how busy a machine may be, for operations of one kind (M/M/c)."""
    limit: Formula = 1 - _HEADROOM
    spare = _OBJECTIVE / (_SERVICE * _WAIT) - 1
    allowed = Least(limit, IfAny(spare, 1 - Constant(1.0) / (_CORES * spare + 1), spare))
    return (
        Step("service_s", "an idle machine's time for one operation", "s", _MEAN * _CORES),
        _limit(IfAny(_OBJECTIVE, allowed, limit)),
    )


def _community_step() -> Step:
    return Step("served", "community that one machine serves", "people", _SIMULTANEOUS / ACTIVE)


def _machines(busy: Formula) -> tuple[Step, ...]:
    return (
        Step("online", "people active at once", "users", COMMUNITY * ACTIVE),
        Step("machines", "machines needed", "machines", WholeUp(_ONLINE / _SIMULTANEOUS)),
        Step("busy", "how busy each of them is", "share", busy),
    )


class Scenario(msgspec.Struct, frozen=True):
    """The behaviour of people, and the requirements of the machines.

    `objective` is a percentile and its bound in seconds, estimated from rates alone; None if the
    rates were measured at loads that met it. In the busiest minutes `burst` times as many people
    arrive as on average.
    """

    active: float
    stay_s: float
    mix: Mapping[str, float] | None = None
    headroom: float = 0.0
    community: int | None = None
    objective: tuple[float, float] | None = None
    cores: int = 1
    burst: float = 1.0
    lists_all: bool = False
    """Whether a directory lists the whole community, and not the people who are online."""

    def __post_init__(self) -> None:
        _check(0 < self.active <= 1, f"--active {self.active:.0%}", "0% < x <= 100%")
        _check(0 < self.stay_s < math.inf, f"a time of {self.stay_s:g}s per user", "more than 0s")
        _check(0 <= self.headroom < 1, f"--headroom {self.headroom:.0%}", "0% to less than 100%")
        _check(1 <= self.cores <= MOST_CORES, f"{self.cores} cores", f"1 to {MOST_CORES:,}")
        _check(1 <= self.burst < math.inf, f"--burst {self.burst:.0%}", "at least 100%")
        if self.community is not None:
            _check(self.community >= 1, f"a community of {self.community}", "at least 1")
        if self.mix is not None:
            fine = all(0 <= n < math.inf for n in self.mix.values()) and any(self.mix.values())
            _check(fine, "a session without operations", "--mix connect=1,add=1,lookup=6")
        if self.objective is not None:
            fine = 0 < self.objective[0] < 1 and self.objective[1] > 0
            _check(fine, "an objective that nothing can meet", "p99<50ms")

    def inputs(self) -> dict[str, float]:
        """Return the law's inputs without the rates."""
        inputs = {"active": self.active, "headroom": self.headroom, "burst": self.burst}
        if self.mix is None:
            share, within_s = self.objective or (0.0, 0.0)
            inputs |= {"view_s": self.stay_s, "cores": float(self.cores)}
            inputs |= {"objective_s": within_s, "wait_factor": wait_factor(share)}
        else:
            inputs |= {"session_s": self.stay_s}
            inputs |= {f"n_{name}": float(n) for name, n in self.mix.items()}
            inputs["lists_all"] = float(self.lists_all)
        if self.community is not None:
            inputs["community"] = float(self.community)
        return inputs


def _check(fine: bool, problem: str, remedy: str) -> None:
    if not fine:
        raise UnknownValue(f"cannot plan with {problem}", f"use {remedy}")


def wait_factor(share: float) -> float:
    """Return a quantile of exponentially distributed times, as a multiple of their mean."""
    return -math.log1p(-share)


def with_all(scenario: Scenario, operations: Sequence[str]) -> Scenario:
    """Return a scenario whose mix has all operations; the added operations are done 0 times."""
    if scenario.mix is None:
        return scenario
    return replace(scenario, mix={name: scenario.mix.get(name, 0.0) for name in operations})


def law_of(scenario: Scenario) -> Law:
    return _of_pages() if scenario.mix is None else _of_sessions(scenario.mix)


def needed(scenario: Scenario) -> tuple[str, ...]:
    """Return the operations of a scenario."""
    if scenario.mix is None:
        return (PAGES,)
    return tuple(name for name, number in scenario.mix.items() if number)


def rate_key(scenario: Scenario, operation: str) -> str:
    return _PAGES_PER_S.key if scenario.mix is None else f"rate_{operation}"


def solve(scenario: Scenario, rates: Mapping[str, float]) -> dict[str, float]:
    """Return all numbers of the law; `rates` are operations per second by name."""
    values, law = scenario.inputs(), law_of(scenario)
    for name in needed(scenario):
        _check(0 < rates[name] < math.inf, f"{rates[name]:g} {name}/s", "a rate above zero")
        values[rate_key(scenario, name)] = rates[name]
    if scenario.mix is not None:
        values[_QUEUE.key] = _by_queueing(scenario, rates)
    for step in law.capacity if scenario.community is None else law.steps:
        values[step.key] = step.formula.value(values)
        if step.key == "busy_limit" and values[step.key] <= 0:
            raise UnknownValue(
                f"an idle machine takes {values['service_s'] * 1e3:.3g} ms on average: by the "
                f"queueing estimate it cannot meet {values['objective_s'] * 1e3:g} ms",
                "allow more time, or measure a faster target",
            )
    return values


def _by_queueing(scenario: Scenario, rates: Mapping[str, float]) -> float:
    """Return how busy a machine may be for the objective; 1.0 without an objective.

    A queue of several kinds of operations has no formula, so `busy_limit` simulates it.
    """
    if scenario.objective is None or scenario.mix is None:
        return 1.0
    share, within_s = scenario.objective
    kinds = tuple((scenario.mix[name], scenario.cores / rates[name]) for name in needed(scenario))
    limit = _busy_limit(kinds, scenario.cores, within_s, 1 - share)
    if limit is None:
        raise UnknownValue(
            _why_not(dict(zip(needed(scenario), kinds, strict=True)), scenario.objective),
            "allow more time, or measure a faster target",
        )
    return limit


def _why_not(kinds: Mapping[str, tuple[float, float]], objective: tuple[float, float]) -> str:
    share, within_s = objective
    total = sum(weight for weight, _ in kinds.values())
    late = sum(weight * math.exp(-within_s / took_s) for weight, took_s in kinds.values()) / total
    times = ", ".join(f"{took_s * 1e3:.3g} ms for {name}" for name, (_, took_s) in kinds.items())
    goal = f"of the operations {share:.3g} are to take at most {within_s * 1e3:g} ms"
    if late < 1 - share and all(took_s < within_s for _, took_s in kinds.values()):
        return (
            f"an idle machine takes {times} on average, and {goal}: by the queueing estimate "
            "even an almost idle machine does not meet this, or a kind of operation is too rare "
            "to estimate"
        )
    return (
        f"an idle machine takes {times} on average: by the queueing estimate more than "
        f"{1 - share:.3g} of the operations would take over {within_s * 1e3:g} ms"
    )


_busy_limit = lru_cache(busy_limit)


def round_half_up(value: float) -> int:
    """Round as the paper's workbook does (Python's `round` rounds halves to even)."""
    return math.floor(value + 0.5)


def people_per_machine(values: Mapping[str, float]) -> float:
    """Return the people in each machine's directory or database."""
    if "view_s" in values or values.get("lists_all"):
        return values.get("community", values["served"])
    if "machines" in values:
        return values["online"] / values["machines"]
    return values["simultaneous"]

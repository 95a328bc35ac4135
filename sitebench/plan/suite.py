"""The planner's part of a suite: its users, the paper's machines, options and texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pkgutil import resolve_name

import msgspec

from sitebench.plan.model import Scenario, Step
from sitebench.plan.options import PlanOptions
from sitebench.plan.rates import RateTable
from sitebench.runs.repeats import Of, Series
from sitebench.suite import suites


class PrintedAnswer(msgspec.Struct, frozen=True):
    preset: str
    simultaneous: int
    community: int
    near: bool = False
    """Whether the paper's answer is rounded, so that ours may differ by a percent."""

    def matches_printed(self, simultaneous: int, community: int) -> bool:
        pairs = ((simultaneous, self.simultaneous), (community, self.community))
        tolerance = 0.01 if self.near else 0.0
        return all(math.isclose(answer, printed, rel_tol=tolerance) for answer, printed in pairs)


class Calculation(msgspec.Struct, frozen=True, dict=True):
    """A further law of a suite: inputs, and steps that compute numbers from them."""

    title: str
    inputs: Mapping[str, tuple[str, float]]
    """Labels and numbers of the inputs, by key."""
    steps: Sequence[Step]
    notes: Sequence[str] = ()

    @cached_property
    def values(self) -> dict[str, float]:
        values = {key: number for key, (_, number) in self.inputs.items()}
        for step in self.steps:
            values[step.key] = step.formula.value(values)
        return values


class PlanSuite(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    help: str
    options: type[PlanOptions]
    people_in: str = ""
    """A machine's store of people: "directory", "database", or "" for a web server."""
    operation: Callable[[Series], str | None]
    """Returns the name of a measured operation in plans, or None if plans leave it out."""
    rate: Of
    scenario: Scenario
    """The paper's users."""
    presets: Mapping[str, RateTable]
    """The paper's machines. The first machine is the default. In a workbook without a run, the last
    machine is a template for the reader's own machine."""
    size: int
    """The size whose rates the paper's example uses."""
    printed: Sequence[PrintedAnswer]
    calculations: Callable[
        [PlanOptions, Mapping[str, float], Mapping[str, float]], Sequence[Calculation]
    ] = lambda options, rates, values: ()
    """Returns the suite's further laws, from the machine's rates and the numbers of the plan."""
    explain: Callable[[], list[str]] = list
    """Returns paragraphs on why our answers differ from the printed answers."""


def sheet_name(suite: PlanSuite) -> str:
    """Return the name of a suite's sheet: `Directory` of `Directory (ILS)`."""
    return suite.title.partition(" (")[0]


def plan_suites() -> list[PlanSuite]:
    return [resolve_name(suite.plan) for suite in suites()]

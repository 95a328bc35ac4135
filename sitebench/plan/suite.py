"""What a suite says of itself to the planner: its users, its machines of a paper, and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name

from sitebench.plan.model import Scenario
from sitebench.plan.options import PlanOptions
from sitebench.plan.rates import RateTable
from sitebench.runs.repeats import Of, Series
from sitebench.suite import suites


@dataclass(frozen=True)
class Printed:
    """What a paper's workbook prints for its own inputs."""

    preset: str
    simultaneous: int
    community: int


@dataclass(frozen=True, kw_only=True)
class PlanSuite:
    """One suite, as far as the planner cares."""

    name: str
    title: str
    help: str
    """What `sitebench plan NAME --help` shows."""
    options: type[PlanOptions]
    people_in: str
    """What holds the people on each machine: "directory", "database"."""
    operation: Callable[[Series], str | None]
    """What an operation that was measured is called in a plan; None where it has no part in one."""
    rate: Of
    """How much a machine does of it per second."""
    scenario: Scenario
    """The paper's users."""
    presets: Mapping[str, RateTable]
    """The paper's machines: the first is planned with where no rates are given, the last stands
    for the reader's own in a workbook made without a run."""
    size: int
    """The size whose rates the paper's example takes."""
    printed: Sequence[Printed]
    explain: Callable[[], list[str]] = list
    """Says why our answers differ from those that are printed, where they do."""


def plan_suites() -> list[PlanSuite]:
    """Return what each suite says of itself."""
    return [resolve_name(each.plan) for each in suites()]

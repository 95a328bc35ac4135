"""A Locust user that repeats a scenario; a suite's own joins it to its options."""

from __future__ import annotations

from typing import Any, ClassVar

from sitebench.http.scenario import Scenario
from sitebench.locust.user import LaneUser


class ScenarioUser(LaneUser):
    """One lane that repeats a scenario's operations."""

    abstract = True
    scenario: ClassVar[Scenario]

    @classmethod
    def build(cls, options: Any) -> Scenario:
        """Return the scenario; override it where it depends on options."""
        return cls.scenario

    def program(self) -> str:
        return type(self).scenario.name

"""Locust users of a site: import this in a locustfile, and subclass.

    from ps_bench.users import SiteUser

    class NewsUser(SiteUser):
        scenario = "news.toml"

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

from typing import ClassVar

from ps_bench.operations import built_in
from ps_bench.options import LocustOptions, PsOptions
from ps_bench.points import POINTS
from ps_bench.suite_run import PsRun
from sitebench.scenario.script import Script
from sitebench.suite_base.joining import join
from sitebench.suite_base.scenario_user import ScenarioUser, choose_by_scenario


class SiteUser(ScenarioUser):
    """One lane that does what a scenario file says."""

    abstract = True
    points = POINTS


class OperationUser(SiteUser):
    """One lane that does one of the suite's own operations."""

    abstract = True
    operation: ClassVar[str]

    @classmethod
    def build(cls, options: PsOptions) -> Script:
        """Return the operation, with the connections that options ask for."""
        return built_in(cls.operation, keepalive=bool(options.keepalive))

    def program(self) -> str:
        return type(self).operation


choose_by_scenario(POINTS)
join(LocustOptions, "Site options", PsRun)

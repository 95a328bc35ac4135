"""Locust users that run a scenario: import this in a locustfile, and subclass.

    from sitebench.http.scenario import Expect, Operation, Request, Scenario
    from ps_bench.users import SiteUser

    class NewsUser(SiteUser):
        scenario = Scenario(
            "news", (Operation("news", 1, (Request("news", "/news", expect=Expect((200,))),)),)
        )

Importing it gives Locust the options of the site half and joins it to the lanes.
"""

from __future__ import annotations

from typing import ClassVar

from ps_bench.options import LocustOptions, PsOptions
from ps_bench.workload import SiteWorkload
from sitebench.http.scenario import Scenario
from sitebench.locust.user import LaneUser
from sitebench.suites.joining import join


class SiteUser(LaneUser):
    """One lane that repeats a scenario's operations."""

    abstract = True
    scenario: ClassVar[Scenario]

    @classmethod
    def build(cls, options: PsOptions) -> Scenario:
        """Return the scenario; override it where options have a say."""
        return cls.scenario

    def program(self) -> str:
        """Return the name of this user's program."""
        return type(self).scenario.name


join(LocustOptions, "Site options", SiteWorkload)

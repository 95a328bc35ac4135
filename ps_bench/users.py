"""Locust users that run a scenario: import this in a locustfile, and subclass.

    from sitebench.http.scenario import Expect, Operation, Request, Scenario
    from ps_bench.users import SiteUser

    class NewsUser(SiteUser):
        scenario = Scenario(
            "news", (Operation("news", 1, (Request("news", "/news", expect=Expect((200,))),)),)
        )

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

from ps_bench.options import LocustOptions
from ps_bench.suite_run import PsRun
from sitebench.http.user import ScenarioUser
from sitebench.suite_base.joining import join


class SiteUser(ScenarioUser):
    """One lane that repeats a scenario's operations."""

    abstract = True


join(LocustOptions, "Site options", PsRun)

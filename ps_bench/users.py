"""Locust users of a site: import this in a locustfile, and subclass.

    from ps_bench.users import SiteUser

    class NewsUser(SiteUser):
        scenario = "news.toml"

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

from ps_bench.options import LocustOptions
from ps_bench.points import POINTS
from ps_bench.suite_run import PsRun
from sitebench.suite_base.joining import join
from sitebench.suite_base.scenario_user import ScenarioUser, choose_by_scenario


class SiteUser(ScenarioUser):
    """One lane that does what a scenario file says."""

    abstract = True
    points = POINTS


choose_by_scenario("ps_bench.locustfile", POINTS)
join(LocustOptions, "Site options", PsRun)

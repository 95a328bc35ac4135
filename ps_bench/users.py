"""Locust users of a site: import this in a locustfile, and subclass.

    from ps_bench.users import SiteUser

    class NewsUser(SiteUser):
        scenario = "news.toml"

The import adds the options and the lanes of this suite to Locust.
"""

from __future__ import annotations

from ps_bench.points import POINTS
from ps_bench.suite_run import PsRun
from sitebench.suite_base import scenario_user
from sitebench.suite_base.suite_run import join


class SiteUser(scenario_user.ScenarioUser):
    """A user of a scenario file."""

    abstract = True
    points = POINTS


USERS = scenario_user.user_classes(SiteUser)
join("Site options", PsRun)

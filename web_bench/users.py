"""Locust users that run a workload: import this in a locustfile, and subclass.

    from web_bench.users import WebUser

    class SurfUser(WebUser):
        operation = "silicon-surf"

    class ShopUser(WebUser):
        scenario = "shop.toml"

The import adds the options and the lanes of this suite to Locust.
"""

from __future__ import annotations

from sitebench.suite_base.scenario_user import ScenarioUser, user_classes
from sitebench.suite_base.suite_run import join
from web_bench.points import POINTS
from web_bench.suite_run import WebRun


class WebUser(ScenarioUser):
    """A user that repeats a workload."""

    abstract = True
    points = POINTS
    _remedy = "name it with --scenario FILE.toml, or --path /"


USERS = user_classes(WebUser, single=True)
join("Web options", WebRun)

"""Locust users that run a workload: import this in a locustfile, and subclass.

    from web_bench.users import WebUser

    class SurfUser(WebUser):
        workload = "silicon-surf"

    class ShopUser(WebUser):
        scenario = "shop.toml"

The import adds the options and the lanes of this suite to Locust.
"""

from __future__ import annotations

from typing import ClassVar

from sitebench.scenario.script import Script
from sitebench.suite_base.scenario_user import ScenarioUser, user_classes
from sitebench.suite_base.suite_run import join
from web_bench.docroot import with_options
from web_bench.options import WebOptions
from web_bench.points import POINTS
from web_bench.suite_run import WebRun
from web_bench.workload import find


class WebUser(ScenarioUser):
    """A user that repeats a workload."""

    abstract = True
    points = POINTS
    workload: ClassVar[str | None] = None
    _remedy = "name it with --scenario FILE.toml, or --path /"

    @classmethod
    def build(cls, options: WebOptions) -> Script:
        if (workload := cls.workload or cls.scenario) is None:
            return super().build(options)
        return with_options(find(workload), options)

    def program(self) -> str:
        return type(self).workload or super().program()


USERS = user_classes(WebUser, single=True)
join("Web options", WebRun)

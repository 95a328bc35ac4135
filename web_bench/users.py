"""Locust users that run a workload: import this in a locustfile, and subclass.

    from web_bench.users import WebUser

    class SurfUser(WebUser):
        workload = "silicon-surf"

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sitebench.locust.user import LaneUser
from sitebench.suite_base.joining import join
from web_bench.options import LocustOptions
from web_bench.points import POINTS
from web_bench.suite_run import WebRun
from web_bench.workload import Workload


class WebUser(LaneUser):
    """One client that repeats a workload's requests."""

    abstract = True
    workload: ClassVar[str]
    """A built-in workload; `workload` for that of --workload."""

    @classmethod
    def build(cls, options: Any) -> Workload:
        return POINTS.program(options, cls.workload)

    def program(self) -> str:
        return type(self).workload


join(LocustOptions, "Web options", WebRun)

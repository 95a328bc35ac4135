"""Locust users that run a workload: import this in a locustfile, and subclass.

    from web_bench.users import WebUser

    class SurfUser(WebUser):
        workload = "silicon-surf"

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from locust import events

from sitebench.locust.user import LaneUser
from sitebench.suite_base.joining import join
from web_bench.options import LocustOptions
from web_bench.points import POINTS
from web_bench.suite_run import WebRun
from web_bench.workload import Workload

log = logging.getLogger("sitebench")


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


def _one_workload(environment: Any, **_: Any) -> None:
    """Choose one user of `web_bench.locustfile`, where Locust would run all of them at once.

    They cannot run so: each needs files of its own. In the web page a person chooses.
    """
    users, options = environment.user_classes, environment.parsed_options
    every = [each for each in users if each.__module__ == "web_bench.locustfile"]
    if environment.web_ui is not None or getattr(options, "user_classes", None) or len(every) < 2:
        return
    given = next((name for name in ("workload", "path") if getattr(options, name, None)), None)
    chosen = next((each for each in every if each.workload == given), every[0])
    environment.user_classes = [each for each in users if each is chosen or each not in every]
    log.info("of web_bench.locustfile %s runs, as no user class was named", chosen.__name__)


# Locust's hooks are untyped.
_hooks: Any = events
_hooks.init.add_listener(_one_workload)
join(LocustOptions, "Web options", WebRun)

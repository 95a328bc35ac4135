"""Locust users that run a workload: import this in a locustfile, and subclass.

    from web_bench.users import WebUser

    class SurfUser(WebUser):
        workload = "silicon-surf"

    class ShopUser(WebUser):
        scenario = "shop.toml"

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from locust import events

from sitebench.errors import BadInput
from sitebench.suite_base.joining import join
from sitebench.suite_base.scenario_user import ScenarioUser, is_of
from web_bench.docroot import with_options
from web_bench.options import LocustOptions
from web_bench.points import POINTS
from web_bench.suite_run import WebRun
from web_bench.workload import Workload, find

log = logging.getLogger("sitebench")


class WebUser(ScenarioUser):
    """One client that repeats a workload's requests."""

    abstract = True
    points = POINTS
    workload: ClassVar[str | None] = None
    """A built-in workload."""

    @classmethod
    def build(cls, options: Any) -> Workload:
        """Return the workload; the data of a file are read here."""
        own = cls.workload or cls.scenario
        if own is not None:
            return with_options(find(own), options)
        if (found := POINTS.scenario_of(options)) is None:
            raise BadInput(
                f"{cls.__name__} needs a scenario", "name it with --scenario FILE.toml, or --path /"
            )
        cls._built = found.name
        return found

    def program(self) -> str:
        return type(self).workload or super().program()


def _one_workload(environment: Any, **_: Any) -> None:
    """Choose one user of `web_bench.locustfile`, where Locust would run all of them at once.

    They cannot run so: each needs files of its own. In the web page a person chooses, unless there
    is a scenario.
    """
    users, options = environment.user_classes, environment.parsed_options
    every = [each for each in users if is_of(POINTS.suite, each)]
    described = POINTS.scenario_name(options) is not None
    # A worker runs what its master says.
    if getattr(options, "user_classes", None) or getattr(options, "worker", False):
        return
    if len(every) < 2:
        return
    if environment.web_ui is not None and not described:
        return
    chosen = next(each for each in every if (each.workload is None) == described)
    environment.user_classes = [each for each in users if each is chosen or each not in every]
    if environment.available_user_classes:
        known = environment.available_user_classes.items()
        environment.available_user_classes = {
            name: each for name, each in known if each is chosen or each not in every
        }
    log.info("of web_bench.locustfile %s runs, as no user class was named", chosen.__name__)


# Locust's hooks are untyped.
_hooks: Any = events
_hooks.init.add_listener(_one_workload)
join(LocustOptions, "Web options", WebRun)

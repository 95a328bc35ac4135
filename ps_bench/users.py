"""Locust users that run a scenario: import this in a locustfile, and subclass.

    from ps_bench.scenario import Expect, Operation, Request, Scenario
    from ps_bench.users import SiteUser

    class NewsUser(SiteUser):
        scenario = Scenario(
            "news", (Operation("news", 1, (Request("news", "/news", expect=Expect((200,))),)),)
        )

Importing it gives Locust the options of the site half and joins it to the lanes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from locust import events

from ps_bench.options import CockpitOptions, PsOptions
from ps_bench.scenario import Scenario
from ps_bench.workload import SiteWorkload
from sitebench.bridge import Bridge
from sitebench.cockpit.cockpit import open_cockpit
from sitebench.errors import SitebenchError, leave
from sitebench.lane_user import LaneUser
from sitebench.options import add_arguments, show_for_lanes


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


def _add_arguments(parser: Any, **_: Any) -> None:
    add_arguments(parser, CockpitOptions, "Site options")
    show_for_lanes(parser)


def _join(environment: Any, **_: Any) -> None:
    try:
        workload = SiteWorkload(environment)
        open_cockpit(Bridge(environment, workload), workload.session, CockpitOptions)
    except SitebenchError as error:
        leave(error)


# Locust's hooks are untyped; a decorator would make these functions so too.
_hooks: Any = events
_hooks.init_command_line_parser.add_listener(_add_arguments)
_hooks.init.add_listener(_join)

"""Locust users that do what a scenario file says; a suite's own name its points."""

from __future__ import annotations

import inspect
import logging
from pathlib import Path
from typing import Any, ClassVar

from locust import events

from sitebench.errors import BadInput
from sitebench.locust.user import LaneUser, runs_unnamed
from sitebench.scenario.script import Script, name_of, read
from sitebench.suite import Suite
from sitebench.suite_base.points import SuitePoints

log = logging.getLogger("sitebench")


class ScenarioUser(LaneUser):
    """One lane that does what a scenario file says."""

    abstract = True
    points: ClassVar[SuitePoints[Any, Any, Any]]
    scenario: ClassVar[str | None] = None
    """FILE.toml, or FILE.toml:OPERATION; None for that of --scenario."""
    _remedy: ClassVar[str] = "name it with --scenario FILE.toml"
    _built: ClassVar[str] = ""
    """What it is called: a worker has it from its master, and no option of its own."""

    @classmethod
    def build(cls, options: Any) -> Script:
        """Return the scenario; its data are read here."""
        if cls.scenario is not None:
            return read(cls.scenario)
        if (found := cls.points.scenario_of(options)) is None:
            raise BadInput(f"{cls.__name__} needs a scenario", cls._remedy)
        cls._built = found.name
        return found

    def program(self) -> str:
        if (own := type(self).scenario) is not None:
            return name_of(own)
        return type(self)._built


def is_of(suite: Suite, user: type[Any]) -> bool:
    """Return whether a user is of a suite's locustfile, which may have any name in Locust."""
    return Path(inspect.getfile(user)) == suite.locustfile_path()


def choose_by_scenario(points: SuitePoints[Any, Any, Any], *, one: bool = False) -> None:
    """Of a suite's own users, have FileUser run where there is a scenario, and else the others.

    With `one` the first of those alone: each needs files of its own. In the web page a person
    chooses. Those that were named are left as they are.
    """

    def choose(environment: Any, **_: Any) -> None:
        parsed = environment.parsed_options
        # A worker runs what its master says.
        if getattr(parsed, "user_classes", None) or getattr(parsed, "worker", False):
            return
        described = points.scenario_name(parsed) is not None
        own = [each for each in environment.user_classes if is_of(points.suite, each)]
        if one and (len(own) < 2 or (environment.web_ui is not None and not described)):
            return
        chosen = [each for each in own if (each.__name__ == "FileUser") == described]
        if one:
            chosen = chosen[:1]
            name = chosen[0].__name__
            log.info("of %s %s runs, as no user class was named", points.suite.locustfile, name)

        def stays(user: type[Any]) -> bool:
            return user in chosen or not is_of(points.suite, user)

        environment.user_classes = [
            user for user in environment.user_classes if stays(user) and runs_unnamed(user)
        ]
        if environment.available_user_classes:
            kept = {name: u for name, u in environment.available_user_classes.items() if stays(u)}
            environment.available_user_classes = kept

    # Locust's hooks are untyped.
    hooks: Any = events
    hooks.init.add_listener(choose)

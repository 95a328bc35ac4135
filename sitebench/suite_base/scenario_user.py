"""Locust users that do what a scenario file says; a suite's own name its points."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, ClassVar

from locust import events

from sitebench.errors import BadInput
from sitebench.locust.user import LaneUser, runs_unnamed
from sitebench.scenario.script import Script, name_of, read
from sitebench.suite import Suite
from sitebench.suite_base.points import SuitePoints


class ScenarioUser(LaneUser):
    """One lane that does what a scenario file says."""

    abstract = True
    points: ClassVar[SuitePoints[Any, Any]]
    scenario: ClassVar[str | None] = None
    """FILE.toml, or FILE.toml:OPERATION; None for that of --scenario."""
    _built: ClassVar[str] = ""
    """What it is called: a worker has it from its master, and no option of its own."""

    @classmethod
    def build(cls, options: Any) -> Script:
        """Return the scenario; its data are read here."""
        if cls.scenario is not None:
            return read(cls.scenario)
        if (found := cls.points.scenario_of(options)) is None:
            raise BadInput(f"{cls.__name__} needs a scenario", "name it with --scenario FILE.toml")
        cls._built = found.name
        return found

    def program(self) -> str:
        if (own := type(self).scenario) is not None:
            return name_of(own)
        return type(self)._built


def is_of(suite: Suite, user: type[Any]) -> bool:
    """Return whether a user is of a suite's locustfile, which may have any name in Locust."""
    return Path(inspect.getfile(user)) == suite.locustfile_path()


def choose_by_scenario(points: SuitePoints[Any, Any]) -> None:
    """Of a suite's own users, have FileUser run where there is a file, and else the others.

    Those that were named are left as they are.
    """

    def choose(environment: Any, **_: Any) -> None:
        options = environment.parsed_options
        # A worker runs what its master says.
        if getattr(options, "user_classes", None) or getattr(options, "worker", False):
            return
        named = points.scenario_name(options) is not None

        def stays(user: type[Any]) -> bool:
            return not is_of(points.suite, user) or (user.__name__ == "FileUser") == named

        environment.user_classes = [
            user for user in environment.user_classes if stays(user) and runs_unnamed(user)
        ]
        if environment.available_user_classes:
            kept = {name: u for name, u in environment.available_user_classes.items() if stays(u)}
            environment.available_user_classes = kept

    # Locust's hooks are untyped.
    hooks: Any = events
    hooks.init.add_listener(choose)

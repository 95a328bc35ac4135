"""User classes of a suite: a class for each operation, and a class for a scenario file."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace
from typing import Any, ClassVar

from locust import events

from sitebench.errors import BadInput
from sitebench.locust.user import LaneUser, runs_unnamed
from sitebench.scenario.script import ScenarioFile, Script, name_of
from sitebench.suite_base.points import SuitePoints

log = logging.getLogger("sitebench")


class ScenarioUser(LaneUser):
    """A user of a scenario file, or of an operation of the suite."""

    abstract = True
    points: ClassVar[SuitePoints[Any, Any, Any]]
    operation: ClassVar[str | None] = None
    scenario: ClassVar[str | None] = None
    """FILE.toml or FILE.toml:OPERATION; None if --scenario names it."""
    _remedy: ClassVar[str] = "name it with --scenario FILE.toml"
    _built: ClassVar[str] = ""
    """Name of the scenario, which a worker gets from the master."""

    @classmethod
    def build(cls, options: Any) -> Script:
        if cls.operation is not None:
            built_in: Script = cls.points.built_in(options, cls.operation)
            return built_in
        if cls.scenario is not None:
            options = replace(options, scenario=ScenarioFile(cls.scenario), data=None)
        if (scenario := cls.points.scenario_of(options)) is None:
            raise BadInput(f"{cls.__name__} needs a scenario", cls._remedy)
        cls._built = scenario.name
        return scenario

    def program(self) -> str:
        if (scenario := type(self).scenario) is not None:
            return name_of(scenario)
        return type(self).operation or type(self)._built


def user_classes(
    base: type[ScenarioUser], *, by_name: Collection[str] = (), single: bool = False
) -> dict[str, type[ScenarioUser]]:
    """Return the user class of each operation, and FileUser for --scenario.

    Operations `by_name` run only if the user names their class. If the user names no class,
    FileUser runs if there is a scenario, or else all other classes. With `single` only the first of
    these runs, because each class needs its own files. On the web page the user chooses.
    """
    points = base.points
    classes: dict[str, type[ScenarioUser]] = {
        operation.user_class: type(
            operation.user_class,
            (base,),
            {
                "__doc__": operation.does[:1].upper() + operation.does[1:],
                "operation": name,
                "by_name": name in by_name,
            },
        )
        for name, operation in points.suite.operations.items()
    }
    description = "Does what the file of --scenario says."
    classes["FileUser"] = type("FileUser", (base,), {"__doc__": description})
    suite_classes = {*classes.values()}

    def choose(environment: Any, **_: Any) -> None:
        parsed = environment.parsed_options
        # The master chooses the classes of a worker.
        if getattr(parsed, "user_classes", None) or getattr(parsed, "worker", False):
            return
        described = points.described_by(parsed) is not None
        present = [user for user in environment.user_classes if user in suite_classes]
        if single and (len(present) < 2 or (environment.web_ui is not None and not described)):
            return
        selected_classes = [user for user in present if (user is classes["FileUser"]) == described]
        if single:
            selected_classes = selected_classes[:1]
            name = selected_classes[0].__name__
            log.info("of %s %s runs, as no user class was named", points.suite.locustfile, name)

        def stays(user: type[Any]) -> bool:
            return user in selected_classes or user not in suite_classes

        environment.user_classes = [
            user for user in environment.user_classes if stays(user) and runs_unnamed(user)
        ]
        if environment.available_user_classes:
            available = environment.available_user_classes.items()
            environment.available_user_classes = {n: u for n, u in available if stays(u)}

    # Locust's hooks are untyped.
    hooks: Any = events
    hooks.init.add_listener(choose)
    return classes

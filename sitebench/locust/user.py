from __future__ import annotations

import functools
from typing import Any, ClassVar

import gevent  # type: ignore[import-untyped]
from locust import User, task

from sitebench.locust.bridge import Bridge
from sitebench.locust.portable import A_DAY_S, PortableLane
from sitebench.measure.test import OWN_USER


class LaneUser(User):
    """A user whose requests a lane sends; a lane in Python runs in the user's greenlet."""

    abstract = True
    by_name: ClassVar[bool] = False
    """Whether the class runs only if the command or the web page selects it."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Copy the tasks: else `@tag` on one class would mark tasks that other classes share."""
        super().__init_subclass__(**more)
        cls.tasks = [_own_task(task) for task in cls.tasks]

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._bridge = Bridge.of(environment)
        self._lane: PortableLane | None = None

    @classmethod
    def build(cls, options: Any) -> Any:
        """Return the program of users of this class, with the options of a test."""
        raise NotImplementedError

    def program(self) -> str:
        raise NotImplementedError

    def wait_time(self) -> float:
        """Return the time until the task runs again: a day for a native lane.

        The engine runs a native lane, whose user does nothing meanwhile.
        """
        return A_DAY_S if self._lane is None else 0.0

    def on_start(self) -> None:
        if not self.tasks:
            # The test was refused (`role_local`), but Locust starts its users.
            gevent.sleep(A_DAY_S)
        self._lane = self._bridge.role.start_lane(self.program())

    def on_stop(self) -> None:
        if self._lane is not None:
            self._lane.close()
        self._bridge.role.stop_lane(self.program())

    @task
    def run_pass(self) -> None:
        if self._lane is not None:
            self._lane.run_pass()


def runs_unnamed(user: Any) -> bool:
    """Whether a user class, ours or another, runs if no class is selected."""
    return not getattr(user, "by_name", False)


def _own_task(task: Any) -> Any:
    """Return a copy of a task, with a copy of its set of tags."""
    if isinstance(task, type):
        return task

    @functools.wraps(task)
    def own(user: User) -> None:
        task(user)

    if tags := getattr(task, "locust_tag_set", None):
        own.locust_tag_set = set(tags)  # type: ignore[attr-defined]
    return own


def own_user(program: Any) -> type[LaneUser]:
    """Return a user class of the caller's own program."""
    members = {"build": staticmethod(lambda options: program), "program": lambda user: program.name}
    return type(OWN_USER, (LaneUser,), members)

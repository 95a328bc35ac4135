"""A Locust user that is one lane of a program."""

from __future__ import annotations

import functools
from typing import Any

import gevent  # type: ignore[import-untyped]
from locust import User, task

from sitebench.locust.bridge import Bridge
from sitebench.locust.lanes import Lane
from sitebench.locust.portable import A_DAY_S


class LaneUser(User):
    """Parks its greenlet and lets a lane do the work; a portable lane runs in the greenlet."""

    abstract = True

    def __init_subclass__(cls, **more: Any) -> None:
        """Give the class a task of its own: Locust's `@tag` marks tasks, and would mark all."""
        super().__init_subclass__(**more)
        cls.tasks = [_marked_alone(each) for each in cls.tasks]

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._bridge = Bridge.of(environment)
        self._lane: Lane | None = None

    def program(self) -> str:
        """Return the name of the program that this user's lane runs."""
        raise NotImplementedError

    def wait_time(self) -> float:
        """Return the time to the next pass: none for Python's lanes, a day for the engine's."""
        return A_DAY_S if self._lane is None else 0.0

    def on_start(self) -> None:
        """Start the lane; without a session (the test is ending already) there is none."""
        if not self.tasks:
            # The test is refused (`tags`), and Locust begins its users all the same.
            gevent.sleep(A_DAY_S)
        self._lane = self._bridge.role.start_lane(self.program())

    def on_stop(self) -> None:
        """Stop the lane; what it has done stays counted."""
        if self._lane is not None:
            self._lane.close()
        self._bridge.role.stop_lane(self.program())

    @task
    def run_pass(self) -> None:
        """Run the sequence once, where it is Python that runs it."""
        if self._lane is not None:
            self._lane.run_pass()


def _marked_alone(each: Any) -> Any:
    """Return a task with marks of its own, which begin as those that it has."""
    if isinstance(each, type):
        return each

    @functools.wraps(each)
    def own(user: User) -> None:
        each(user)

    if tags := getattr(each, "locust_tag_set", None):
        own.locust_tag_set = set(tags)  # type: ignore[attr-defined]
    return own

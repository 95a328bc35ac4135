"""A Locust user that is one lane of a program."""

from __future__ import annotations

from typing import Any

from locust import User, task

from sitebench.bridge import Bridge, Lane

A_DAY_S = 86_400.0


class LaneUser(User):
    """Parks its greenlet and lets a lane do the work; a portable lane runs in the greenlet."""

    abstract = True

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
        self._lane = self._bridge.start_lane(self.program())

    def on_stop(self) -> None:
        """Stop the lane; what it has done stays counted."""
        if self._lane is not None:
            self._lane.close()
        self._bridge.stop_lane(self.program())

    @task
    def run_pass(self) -> None:
        """Run the sequence once, where it is Python that runs it."""
        if self._lane is not None:
            self._lane.run_pass()

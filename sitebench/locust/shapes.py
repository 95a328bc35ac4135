"""The base class of load shapes.

`examples/own_shape.py` is an example; see docs/locust.md. Users or rates that change by the clock
need no shape: use `--stages`, or the web page's form.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Protocol

from locust import LoadTestShape

from sitebench.errors import MeasurementFailed, SitebenchError
from sitebench.locust.bridge import Bridge


class ShapePlan(Protocol):
    """The number of users at each moment, and an end."""

    @property
    def lasts_s(self) -> float:
        """The length of the plan; in a longer test (`-t`), `users_at` still gives the users."""

    def users_at(self, elapsed_s: float) -> int: ...


class Shape(LoadTestShape):
    """Follows a plan from the moment that its first users run and the target is ready."""

    abstract = True
    use_common_options = True

    def plan(self) -> ShapePlan:
        raise NotImplementedError

    def reset_time(self) -> None:
        """Begin again; Locust calls this before each test."""
        super().reset_time()  # type: ignore[no-untyped-call]
        self._plan: ShapePlan | None = None
        self._began: float | None = None

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.reset_time()

    @property
    def top(self) -> int:
        """The highest number of users: Locust's `-u`."""
        return int(self._locust_options.num_users or 1)

    @property
    def per_s(self) -> float:
        """Users that start or stop per second: Locust's `-r`."""
        return float(self._locust_options.spawn_rate or 1)

    @property
    def _locust_options(self) -> argparse.Namespace:
        parsed: argparse.Namespace = self._environment.parsed_options
        return parsed

    @property
    def _environment(self) -> Any:
        assert self.runner is not None
        return self.runner.environment

    def tick(self) -> tuple[int, float] | None:
        """Return the wanted number of users; None ends the test."""
        try:
            if self._plan is None:
                self._plan = self.plan()
            elapsed_s = self._elapsed_s(self._plan.users_at(0.0))
            if elapsed_s >= (self._locust_options.run_time or self._plan.lasts_s):
                return None
            return self._plan.users_at(elapsed_s), self.per_s
        except Exception as error:
            failure = error
            if not isinstance(failure, SitebenchError):
                name = type(self).__name__
                message = f"the load shape {name} failed: {type(error).__name__}: {error}"
                failure = MeasurementFailed(message, "correct its plan")
            Bridge.of(self._environment).role.fail(failure)
            return None

    def _elapsed_s(self, first_users: int) -> float:
        if self._began is None:
            assert self.runner is not None
            if self.runner.user_count < first_users:
                return 0.0
            self._began = time.monotonic()
        return time.monotonic() - self._began

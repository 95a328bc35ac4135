"""Load shapes that are ready to use, steps, a spike and a ramp to the knee, and their base class.

Locust takes the first shape class of its locustfiles, or the one chosen in its web UI;
`--shape NAME` picks one by name. `ready.py` makes those of this module available to any locustfile
named beside it; `locustfiles/shapes.py` imports it:

    locust -f locustfiles/ils.py,locustfiles/shapes.py --headless --shape Spike -u 64 -r 64

`-u` is the highest number of users, `-r` how fast they come and go, `-t` the end. Everything else
is an option of the command line and a field of the web form. `examples/own_shape.py` shows how to
write a shape; see docs/locust.md.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from typing import Any

from locust import LoadTestShape, events

from sitebench.errors import SitebenchError, UnknownValue
from sitebench.locust.bridge import Bridge
from sitebench.locust.shapes.plans import (
    KneePlan,
    ShapeOptions,
    ShapePlan,
    SpikePlan,
    StepsPlan,
    refuse_slow_spawning,
)
from sitebench.options.convert import add_arguments, from_namespace

log = logging.getLogger("sitebench")


class Shape(LoadTestShape):
    """Follows a plan from the moment that all users of the plan's beginning run.

    So the time that it takes to make a target ready is not part of a shape.
    """

    abstract = True
    use_common_options = True

    def plan(self) -> ShapePlan:
        """Return how many users there are to be at each moment."""
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
    def options(self) -> ShapeOptions:
        """The shape options of the command line or the web form."""
        return from_namespace(ShapeOptions, self._parsed)

    @property
    def top(self) -> int:
        """The highest number of users: Locust's `-u`."""
        return int(self._parsed.num_users or 1)

    @property
    def per_s(self) -> float:
        """How many users come or go in a second: Locust's `-r`."""
        return float(self._parsed.spawn_rate or 1)

    @property
    def _parsed(self) -> argparse.Namespace:
        parsed: argparse.Namespace = self._environment.parsed_options
        return parsed

    @property
    def _environment(self) -> Any:
        assert self.runner is not None
        return self.runner.environment

    def tick(self) -> tuple[int, float] | None:
        """Return how many users there are to be; None ends the test."""
        try:
            if self._plan is None:
                self._plan = self.plan()
            elapsed_s = self._elapsed_s(self._plan.users_at(0.0))
            if elapsed_s >= (self._parsed.run_time or self._plan.lasts_s):
                return None
            return self._plan.users_at(elapsed_s), self.per_s
        except SitebenchError as error:
            Bridge.of(self._environment).role.fail(error)
            return None

    def _elapsed_s(self, first_users: int) -> float:
        if self._began is None:
            assert self.runner is not None
            if self.runner.user_count < first_users:
                return 0.0
            self._began = time.monotonic()
        return time.monotonic() - self._began


class Steps(Shape):
    """More users with each step, up to `-u`, and fewer again if asked for.

    Ends after the last step, or at `-t`.
    """

    abstract = True

    def plan(self) -> ShapePlan:
        """Return the plan of the `--step-...` options."""
        chosen = self.options
        refuse_slow_spawning(min(chosen.step_users, self.top), self.per_s, chosen.step_time)
        return StepsPlan(self.top, chosen.step_users, chosen.step_time, chosen.step_down)


class Spike(Shape):
    """Few users, all of `-u` for a moment, and few again; with `-t` again and again."""

    abstract = True

    def plan(self) -> ShapePlan:
        """Return the plan of the `--calm-...` and `--spike-...` options."""
        chosen = self.options
        plan = SpikePlan(self.top, chosen.calm_users, chosen.calm_time, chosen.spike_time)
        refuse_slow_spawning(self.top - chosen.calm_users, self.per_s, chosen.spike_time)
        return plan


class Knee(Shape):
    """Twice as many users with each step, up to `-u`, until the rate rises no more.

    It ends after one more step with the users that did most.
    """

    abstract = True

    def reset_time(self) -> None:
        """Begin anew; Locust calls this before each test."""
        super().reset_time()
        self._knee: KneePlan | None = None

    def tick(self) -> tuple[int, float] | None:
        """Return how many users there are to be; None ends the test."""
        assert self.runner is not None
        if self._knee is None:
            self._knee = KneePlan(self.top, min(self.top, self.options.step_users))
        if self.runner.user_count != self._knee.users:
            self._began = None
            return self._knee.users, self.per_s
        now, done = time.monotonic(), self.runner.stats.total.num_requests
        if self._began is None:
            self._began, self._before = now, done
        elif (elapsed_s := now - self._began) >= self.options.step_time:
            self._began = None
            if not self._knee.after_step((done - self._before) / elapsed_s):
                log.warning("%d users did most", self._knee.users)
                return None
        return self._knee.users, self.per_s


def _add_arguments(parser: Any, **_: Any) -> None:
    add_arguments(parser, ShapeOptions, "Load shape options")


def _choose(environment: Any, **_: Any) -> None:
    """Take the shape named by `--shape`, of those that the locustfiles have."""
    if environment.parsed_options is None:
        return
    name = from_namespace(ShapeOptions, environment.parsed_options).shape
    if name is None:
        return
    found = environment.available_shape_classes
    if name not in found:
        log.error("%s", UnknownValue(f"no load shape {name!r}", f"use one of {', '.join(found)}"))
        sys.exit(UnknownValue.exit_code)
    environment.shape_class = found[name]
    environment.shape_class.runner = environment.runner


# Locust's hooks are untyped; a decorator would make these functions so too.
_hooks: Any = events
_hooks.init_command_line_parser.add_listener(_add_arguments)
_hooks.init.add_listener(_choose)

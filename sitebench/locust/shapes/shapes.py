"""Load shapes that are ready to use: steps, a spike, and a ramp to the knee.

Locust takes the first shape class of its locustfiles, or the one that is chosen in its web UI;
`--shape NAME` names one of several. `locustfiles/shapes.py` has those of this module, for any
locustfile that is named beside it:

    locust -f locustfiles/ils.py,locustfiles/shapes.py --headless --shape Spike -u 64 -r 64

`-u` is the highest number of users, `-r` how fast they come and go, `-t` the end. Everything else
is an option of the command line and a field of the web form. A shape of one's own says what it
wants at each moment; see docs/locust.md.
"""

from __future__ import annotations

import argparse
import logging
import math
import sys
import time
from typing import Any, ClassVar

from locust import LoadTestShape, events

from sitebench.errors import BadInput, SitebenchError, UnknownValue
from sitebench.locust.bridge import Bridge
from sitebench.locust.shapes.climb import Climb
from sitebench.locust.shapes.load_watch import LoadWatch
from sitebench.locust.shapes.options import ShapeOptions
from sitebench.locust.shapes.plans import Plan, Rush, Staircase, refuse_slow_spawning
from sitebench.options.convert import add_arguments, from_namespace

log = logging.getLogger("sitebench")


class Shape(LoadTestShape):
    """Asks for a plan when all users of its beginning run, and follows it.

    The time that a target takes to be made ready is no part of a shape.
    """

    abstract = True
    use_common_options = True
    climbing: ClassVar[bool] = False

    def plan(self) -> Plan:
        """Return what is wanted at each moment."""
        raise NotImplementedError

    def reset_time(self) -> None:
        """Begin anew: Locust says so before each test."""
        super().reset_time()  # type: ignore[no-untyped-call]
        self._plan: Plan | None = None
        self._began: float | None = None

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.reset_time()

    @property
    def options(self) -> ShapeOptions:
        """What the command line or the web form says."""
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
    def run_time_s(self) -> float | None:
        """Locust's `-t`, where it is given."""
        return self._parsed.run_time or None

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
            users = self.wanted()
        except SitebenchError as error:
            Bridge.of(self._environment).fail(error)
            return None
        return None if users is None else (users, self.per_s)

    def wanted(self) -> int | None:
        """Return how many users there are to be now; None at the end."""
        if self._plan is None:
            self._plan = self.plan()
        elapsed_s = self.elapsed_s(self._plan.users_at(0.0))
        if elapsed_s >= (self.run_time_s or self._plan.lasts_s):
            return None
        return self._plan.users_at(elapsed_s)

    @property
    def running(self) -> int:
        """How many users run."""
        assert self.runner is not None
        return int(self.runner.user_count)

    def elapsed_s(self, first_users: int) -> float:
        """Return the time since all of the first users run."""
        if self._began is None:
            if self.running < first_users:
                return 0.0
            self._began = time.monotonic()
        return time.monotonic() - self._began


class Steps(Shape):
    """So many users more with each step, up to `-u`; ends after the highest, or at `-t`."""

    abstract = True

    def plan(self) -> Plan:
        """Return the staircase of the options."""
        asked = self.options
        refuse_slow_spawning(min(asked.step_users, self.top), self.per_s, asked.step_time)
        return Staircase(self.top, asked.step_users, asked.step_time)


class Spike(Shape):
    """Few users, for a moment all of `-u`, and few again; with `-t` again and again."""

    abstract = True

    def plan(self) -> Plan:
        """Return the rush of the options."""
        asked = self.options
        rush = Rush(self.top, asked.calm_users, asked.calm_time, asked.spike_time)
        refuse_slow_spawning(self.top - asked.calm_users, self.per_s, asked.spike_time)
        return rush


class RampToKnee(Shape):
    """Multiplies users until the knee is behind them or an objective breaks; then holds the best.

    Only what is held is measured: `--warmup` and `--measure` begin there. It is held until then,
    or until `-t`.
    """

    abstract = True
    _watch: LoadWatch | None = None

    def reset_time(self) -> None:
        """Begin anew, at the foot."""
        super().reset_time()
        self._climb: Climb | None = None
        if self._watch is not None:
            # The test before was stopped in mid-climb.
            self._watch.close()
        self._watch = None

    @property
    def climbing(self) -> bool:  # type: ignore[override]
        """Whether the load that is to be measured is not found yet."""
        return self._climb is None or not self._climb.held

    def wanted(self) -> int | None:
        """Return the present load, or the one that is held."""
        if self._climb is None:
            asked = self.options
            first = min(asked.climb_users, self.top)
            self._climb = Climb(first, asked.climb_factor, self.top, asked.objective)
            return first
        elapsed_s = self.elapsed_s(1)
        if elapsed_s >= (self.run_time_s or math.inf):
            return None
        if not self._climb.held and self.running == self._climb.users:
            self._look(self._climb)
        return self._climb.users

    def _look(self, climb: Climb) -> None:
        """Watch the present load as long as is asked for, and go on from what it gave."""
        bridge = Bridge.of(self._environment)
        if bridge.recording is None:
            return
        if self._watch is None:
            if bridge.recording.subject.spec().rate is not None:
                raise BadInput(
                    "RampToKnee looks for the users that a target bears, and --rate fixes its load",
                    "leave one of them out",
                )
            self._watch = LoadWatch(bridge.recording.subject)
            bridge.hearers.append(self._watch.drained)
        elif self._watch.seconds >= self.options.climb_time:
            bridge.hearers.remove(self._watch.drained)
            load = climb.users
            climb.learn(self._watch.result())
            self._watch = None
            log.info("%s", climb.said)
            if climb.held and climb.users == load:
                bridge.measure()


def _add_arguments(parser: Any, **_: Any) -> None:
    add_arguments(parser, ShapeOptions, "Load shape options")


def _choose(environment: Any, **_: Any) -> None:
    """Take the shape that is named, of those that the locustfiles have."""
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

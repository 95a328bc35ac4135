"""The lanes of this process, and the way of their counts into Locust's statistics."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import gevent  # type: ignore[import-untyped]
from locust.env import Environment

from sitebench.counts.source import Drained, Source
from sitebench.locust.statistics import feed
from sitebench.runs.windows import Phase, Windows
from sitebench.system.limits import allow_descriptors

_STOP_TIMEOUT_S = 5.0


class Lane(Protocol):
    """A user's lane in Python."""

    def run_pass(self) -> None: ...
    def close(self) -> None: ...


@dataclass
class Session:
    """What makes the load of one test in one process.

    `portable` makes a lane in Python for a program's user; without it the source runs the lanes.
    Portable lanes fire Locust's request events themselves.
    """

    source: Source
    threads: int
    client: str
    portable: Callable[[str], Lane] | None = None


class Lanes:
    """A session whose drains are shown on Locust's screens as they are made."""

    def __init__(self, environment: Environment, session: Session) -> None:
        self.session = session
        self.stopped = False
        self._lanes = 0
        self._environment = environment
        self._offset_s = time.time() - time.monotonic()

    @property
    def portable(self) -> bool:
        """Whether lanes run in Python."""
        return self.session.portable is not None

    def start(self, program: str) -> Lane | None:
        """Start one lane; returns it when it runs in Python. Raises OutOfDescriptors."""
        if self.stopped:
            return None
        # Before lanes take the last one: the web UI, and what stops the test, need one too.
        allow_descriptors(self._lanes + 1)
        self._lanes += 1
        self.session.source.start_lanes(program, 1)
        return self.session.portable(program) if self.session.portable else None

    def stop_one(self, program: str) -> None:
        """Stop one lane; nothing to do when all were stopped before."""
        if not self.stopped:
            self._lanes -= 1
            self.session.source.stop_lanes(program, 1)

    def drain(self, *, shown: bool = True) -> Drained:
        """Take the counts since the last drain."""
        drained = self.session.source.drain()
        return self._show(drained) if shown else drained

    def stop(self) -> Drained | None:
        """Stop every lane and take their last counts; None when they were stopped before.

        The hub's thread pool waits for native lanes: a blocking join would stop the hub.
        Portable ones run in the hub: another thread might drain between an end and its record.
        """
        if self.stopped:
            return None
        self.stopped = True
        stop = self.session.source.stop
        if self.portable:
            return self._show(stop(_STOP_TIMEOUT_S))
        return self._show(gevent.get_hub().threadpool.apply(stop, (_STOP_TIMEOUT_S,)))

    def _show(self, drained: Drained) -> Drained:
        if not self.portable:
            feed(self._environment.stats, drained, self._offset_s)
        return drained


class Load(Protocol):
    """What a test has for its load, made by this process or by workers (`workers.master`)."""

    def gather(self) -> None:
        """Wait until lanes can be started."""

    def drain(self) -> None:
        """Move what the recorders hold into Locust's statistics and the windows."""

    def discard(self) -> None:
        """Forget for Locust's screens what the recorders hold; the run file keeps it."""

    def cross(self, phase: Phase) -> None:
        """Begin a phase, at a drain."""

    def await_users(self) -> None:
        """Wait until every user has a lane."""

    def conclude(self) -> None:
        """Give the windows what a result needs beside the drains."""

    def finish(self) -> None:
        """Stop the lanes and take their last batch."""


class LocalLoad:
    """A load that this process makes alone."""

    def __init__(self, lanes: Lanes, windows: Windows, on_drain: Callable[[Drained], None]) -> None:
        self._lanes = lanes
        self._windows = windows
        self._on_drain = on_drain

    def gather(self) -> None:
        """Return at once: lanes can be started as soon as they are open."""

    def drain(self) -> None:
        """Move what the recorders hold into Locust's statistics and the windows."""
        self._take(self._lanes.drain())

    def discard(self) -> None:
        """Forget for Locust's screens what the recorders hold; the run file keeps it."""
        self._take(self._lanes.drain(shown=False))

    def cross(self, phase: Phase) -> None:
        """Begin a phase, at a drain."""
        drained = self._lanes.drain()
        self._windows.cross(drained, phase)
        self._on_drain(drained)

    def await_users(self) -> None:
        """Return at once: here, users that were started have their lanes."""

    def conclude(self) -> None:
        """Do nothing: all that a result needs is in the drains."""

    def finish(self) -> None:
        """Stop the lanes and take their last batch."""
        if (drained := self._lanes.stop()) is not None:
            self._take(drained)

    def _take(self, drained: Drained) -> None:
        self._windows.absorb(drained)
        self._on_drain(drained)

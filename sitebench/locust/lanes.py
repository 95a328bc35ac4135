"""The lanes of this process, and what they did on its way into Locust's statistics."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import gevent  # type: ignore[import-untyped]
from locust.env import Environment

from sitebench.counts.source import Drained, Source
from sitebench.locust.statistics import feed
from sitebench.system.limits import allow_descriptors

STOP_TIMEOUT_S = 5.0


class Lane(Protocol):
    """A user's lane in Python."""

    def run_pass(self) -> None: ...
    def close(self) -> None: ...


@dataclass
class Session:
    """What makes the load of one test in one process.

    `portable` makes a lane in Python for users of a program; without it lanes are the source's
    own. Portable lanes fire Locust's request events themselves.
    """

    source: Source
    threads: int
    client: str
    portable: Callable[[str], Lane] | None = None


class Lanes:
    """A session in Locust: its drains are shown on Locust's screens as they are made."""

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
        # Before lanes take the last one: who looks at the web UI, or stops the test, needs one too.
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
        """Take what was done since the last drain."""
        drained = self.session.source.drain()
        return self._show(drained) if shown else drained

    def stop(self) -> Drained | None:
        """Stop every lane and take what was done last; None when they were stopped before.

        Native lanes are waited for in the hub's thread pool: a blocking join would stop the hub.
        Portable ones run in the hub: another thread might drain between an end and its record.
        """
        if self.stopped:
            return None
        self.stopped = True
        stop = self.session.source.stop
        if self.portable:
            return self._show(stop(STOP_TIMEOUT_S))
        return self._show(gevent.get_hub().threadpool.apply(stop, (STOP_TIMEOUT_S,)))

    def _show(self, drained: Drained) -> Drained:
        if not self.portable:
            feed(self._environment.stats, drained, self._offset_s)
        return drained

"""The offset of a worker's clock from the master's: NTP's formula (RFC 5905, 8), best of several.

A ping leaves at `sent`, is read at `received`, answered at `answered` and back at `back`; the first
and the last instant are on the master's clock. The error is at most half the round trip. So the
quickest ping is used, as in NTP.

Timelines use monotonic clocks; only Locust's screens use wall clocks.
"""

from __future__ import annotations

import time

import msgspec
from msgspec.structs import replace

from sitebench.counts.source import Drain

ENOUGH = 8
"""The number of pings before a test; during the test, each request for a drain is a ping too."""


class Ping(msgspec.Struct, frozen=True):
    sent: int
    received: int
    answered: int
    back: int

    @property
    def round_trip_ns(self) -> int:
        """The time on the network, without the time of the worker."""
        return (self.back - self.sent) - (self.answered - self.received)

    @property
    def offset_ns(self) -> int:
        """The worker's clock minus the master's clock."""
        return ((self.received - self.sent) + (self.answered - self.back)) // 2


def epoch_ns() -> int:
    """Return this machine's wall clock minus its monotonic clock."""
    return time.time_ns() - time.monotonic_ns()


class WorkerClock(msgspec.Struct):
    """One worker's clock, as measured by pings."""

    pings: int = 0
    best: Ping | None = None
    worker_epoch_ns: int = 0
    _epoch_ns: int = msgspec.field(default_factory=epoch_ns)

    def learn(self, ping: Ping, worker_epoch_ns: int) -> None:
        self.pings += 1
        if self.best is None or ping.round_trip_ns < self.best.round_trip_ns:
            self.best = ping
            self.worker_epoch_ns = worker_epoch_ns

    def here_ns(self, there_ns: int) -> int:
        """Convert an instant of the worker's monotonic clock to the master's monotonic clock."""
        return there_ns - (0 if self.best is None else self.best.offset_ns)

    def on_master(self, drain: Drain) -> Drain:
        return replace(drain, t0_ns=self.here_ns(drain.t0_ns), t1_ns=self.here_ns(drain.t1_ns))

    @property
    def round_trip_s(self) -> float | None:
        """The quickest round trip; half of it is the largest error of converted instants."""
        return None if self.best is None else self.best.round_trip_ns / 1e9

    @property
    def skew_s(self) -> float | None:
        """How far the worker's wall clock is ahead of the master's."""
        if self.best is None:
            return None
        return (self.worker_epoch_ns + self.best.offset_ns - self._epoch_ns) / 1e9

"""A measured window, as a result keeps it and a verdict judges it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sitebench.counts.durations import Durations, clocks
from sitebench.counts.littles_law import LittlesLaw
from sitebench.counts.metrics import LAG, SERVICE, WRONG
from sitebench.counts.queue import Queue
from sitebench.counts.spans import Span
from sitebench.counts.steady import Settled
from sitebench.monitor.use import Use


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Counts, durations and resource use of one measured window."""

    seconds: float
    operations: int
    """Ended in the window, and succeeded; durations and failures are of those due in it."""
    failures_by_kind: Mapping[str, int]
    examples: Mapping[str, str] = {}
    """The step, the first request and its answer, by kind of failure."""
    clocks: Mapping[str, Durations] = msgspec.field(default_factory=clocks)
    """Durations of operations, by clock (`sitebench.counts.metrics`)."""
    counters: Mapping[str, int | float | None] = {}
    """Figures of all steps, by counter: bytes of the window, microseconds of an operation."""
    queue_start: Queue | None = None
    queue_end: Queue | None = None
    """At the edges of the window; older run files have none."""
    busy_lanes: float | None = None
    """The mean number of lanes that waited for the target; older run files have none."""
    generator_cpu_s: tuple[float, ...]
    """CPU seconds of each thread that makes the load."""
    use: Use
    target_cores: int | None = None
    """Cores assigned to the target, if known: an embedded one has threads."""
    settled: Settled | None = None
    little: LittlesLaw | None = None
    spans: tuple[Span, ...] = ()
    """Of stages."""

    @property
    def failures(self) -> int:
        """Failed steps of every kind."""
        return sum(self.failures_by_kind.values())

    @property
    def preparing_us(self) -> float | None:
        """An operation's share of the lane time of connects, binds and other steps."""
        if self.busy_lanes is None:
            return None
        clocks = (self.clocks[clock] for clock in (SERVICE, WRONG))
        own_s = sum(clock.n * (clock.mean or 0.0) for clock in clocks) / 1e6
        return max(0.0, self.busy_lanes * self.seconds - own_s) / (self.operations or 1) * 1e6

    @property
    def late_us(self) -> float | None:
        """The mean lateness of operations, without connecting and binding by the target."""
        lag_us = self.clocks[LAG].mean
        return None if lag_us is None else max(0.0, lag_us - (self.preparing_us or 0.0))

    @property
    def ceiling(self) -> float:
        """Cores that the target may use: those assigned or allowed, or its quota."""
        limits: list[float | None] = [self.target_cores]
        if (target := self.use.target) is not None:
            limits += [target.quota_cores, len(target.allowed_cores or ())]
        return float(min((limit for limit in limits if limit), default=1))

    @property
    def target_share(self) -> float | None:
        """The target's share of the CPU that it may use."""
        cores = self.per_second(self.use.target_cpu_s)
        return None if cores is None else cores / self.ceiling

    def per_second(self, amount: float | None) -> float | None:
        return None if amount is None or not self.seconds else amount / self.seconds

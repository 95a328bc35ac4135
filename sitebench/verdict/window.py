"""A measured window, the common part of a result and of the evidence for its verdict."""

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
    """Successful operations that ended in the window; durations and failures are of operations that
    were due in it."""
    failures_by_kind: Mapping[str, int]
    examples: Mapping[str, str] = {}
    """The first failed step of each kind, with its request and answer."""
    clocks: Mapping[str, Durations] = msgspec.field(default_factory=clocks)
    """Durations of operations, by clock (`sitebench.counts.metrics`)."""
    counters: Mapping[str, int | float | None] = {}
    """Figures of all steps by counter: bytes per window, microseconds per operation."""
    queue_start: Queue | None = None
    queue_end: Queue | None = None
    """The queues at the edges of the window; older run files lack them."""
    busy_lanes: float | None = None
    """The mean number of lanes that waited for the target; older run files lack it."""
    generator_cpu_s: tuple[float, ...]
    """CPU seconds of each thread that makes the load."""
    use: Use
    target_cores: int | None = None
    """Cores assigned to the target, if known: for an embedded target, its number of threads."""
    settled: Settled | None = None
    little: LittlesLaw | None = None
    spans: tuple[Span, ...] = ()

    @property
    def failures(self) -> int:
        return sum(self.failures_by_kind.values())

    @property
    def preparing_us(self) -> float | None:
        """The lane time of connects, binds and other steps, per operation."""
        if self.busy_lanes is None:
            return None
        clocks = (self.clocks[clock] for clock in (SERVICE, WRONG))
        own_s = sum(clock.n * (clock.mean or 0.0) for clock in clocks) / 1e6
        return max(0.0, self.busy_lanes * self.seconds - own_s) / (self.operations or 1) * 1e6

    @property
    def late_us(self) -> float | None:
        """The mean lateness of operations, without the time of connects and binds."""
        lag_us = self.clocks[LAG].mean
        return None if lag_us is None else max(0.0, lag_us - (self.preparing_us or 0.0))

    @property
    def ceiling(self) -> float:
        """Cores that the target may use: its assigned or allowed cores, or its quota."""
        limits: list[float | None] = [self.target_cores]
        if (target := self.use.target) is not None:
            limits += [target.quota_cores, len(target.allowed_cores or ())]
        return float(min((limit for limit in limits if limit), default=1))

    @property
    def target_share(self) -> float | None:
        cores = self.per_second(self.use.target_cpu_s)
        return None if cores is None else cores / self.ceiling

    def per_second(self, amount: float | None) -> float | None:
        return None if amount is None or not self.seconds else amount / self.seconds

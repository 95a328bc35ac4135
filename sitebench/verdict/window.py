"""What a measured window showed, as a result keeps it and a verdict is based on it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sitebench.counts.durations import Durations, clocks
from sitebench.counts.littles_law import LittlesLaw
from sitebench.counts.metrics import LAG, SERVICE, WRONG
from sitebench.counts.queue import Queue
from sitebench.counts.spans import Span
from sitebench.counts.steady import Settled
from sitebench.monitor import Use


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Counts, durations and resource use of one measured window."""

    seconds: float
    operations: int
    """Those that ended in the window, and succeeded; durations and failures are of those that were
    due in it, also where they ended later."""
    failures_by_kind: Mapping[str, int]
    examples: Mapping[str, str] = {}
    """Of each kind of failure the step, the first request, and its answer."""
    clocks: Mapping[str, Durations] = msgspec.field(default_factory=clocks)
    """Durations of what counts as an operation, by clock (`sitebench.counts.metrics`)."""
    counters: Mapping[str, int | float | None] = {}
    """Figures of all steps, by counter: bytes of the window, microseconds of an operation."""
    queue_start: Queue | None = None
    queue_end: Queue | None = None
    """What was due and not answered at both edges of the window; older run files do not say."""
    busy_lanes: float | None = None
    """How many lanes waited for the target on average, to connect, to bind, or for an answer; older
    run files do not say."""
    generator_cpu_s: tuple[float, ...]
    """CPU seconds of each thread that makes the load."""
    use: Use
    target_cores: int | None = None
    """Cores that were assigned to the target, if the test knows: an embedded one has threads."""
    settled: Settled | None = None
    little: LittlesLaw | None = None
    spans: tuple[Span, ...] = ()
    """Of stages, what was due in each minute."""

    @property
    def failures(self) -> int:
        """Failed steps of every kind, whichever step of the program they were."""
        return sum(self.failures_by_kind.values())

    @property
    def preparing_us(self) -> float | None:
        """What an operation cost its lane before: its share of connects, binds and other steps."""
        if self.busy_lanes is None:
            return None
        clocks = (self.clocks[clock] for clock in (SERVICE, WRONG))
        own_s = sum(clock.n * (clock.mean or 0.0) for clock in clocks) / 1e6
        return max(0.0, self.busy_lanes * self.seconds - own_s) / (self.operations or 1) * 1e6

    @property
    def late_us(self) -> float | None:
        """How late operations began on average.

        Connecting and binding begin when an operation is due: they are the target's.
        """
        lag_us = self.clocks[LAG].mean
        return None if lag_us is None else max(0.0, lag_us - (self.preparing_us or 0.0))

    @property
    def ceiling(self) -> float:
        """How many cores the target may use: those assigned or allowed to it, or its quota."""
        limits: list[float | None] = [self.target_cores]
        if (target := self.use.target) is not None:
            limits += [target.quota_cores, len(target.allowed_cores or ())]
        return float(min((limit for limit in limits if limit), default=1))

    @property
    def target_share(self) -> float | None:
        """Share of the CPU it may use that the target used."""
        cores = self.per_second(self.use.target_cpu_s)
        return None if cores is None else cores / self.ceiling

    def per_second(self, amount: float | None) -> float | None:
        """Spread an amount over the window."""
        return None if amount is None or not self.seconds else amount / self.seconds

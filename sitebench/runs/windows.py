"""The phases of a point, and their recordings.

    ramp -> warmup -> measure -> after

The engine's counts are read (a drain) at each boundary. An operation belongs to the phase in which
it was due, even if it ends in a later phase. Warm-up is recorded, but only `measure` has a result.
If the number of users changes, `measure` begins again, and the earlier measurements become part of
the ramp.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from enum import StrEnum
from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from sitebench.counts.metrics import ABANDONED, BYTES_OUT, CENSORED, LATENCY
from sitebench.counts.percentile_interval import Intervals, percentile_intervals
from sitebench.counts.source import START, Drained
from sitebench.counts.spans import SpanCounts
from sitebench.counts.tally import Tally
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import Changes, Sample
from sitebench.monitor.use import Use
from sitebench.runs.point import PointResult, counted_steps
from sitebench.runs.store import RunStore
from sitebench.runs.timeline import Steps

_SAMPLE_NS = 900_000_000
"""A little less than two drain intervals: every second drain takes a sample."""


class Phase(StrEnum):
    RAMP = "ramp"
    WARMUP = "warmup"
    MEASURE = "measure"
    AFTER = "after"


class PointFile(msgspec.Struct, frozen=True):
    store: RunStore
    point: int


class Windows:
    """Sorts drains into phases, keeps their totals, and writes them to the run file."""

    def __init__(
        self,
        monitor: Monitor,
        file: PointFile | None = None,
        on_drain: Callable[[Phase, Drained], None] = lambda phase, drained: None,
        on_sample: Callable[[int, Sample], None] = lambda t_ns, sample: None,
        span_s: float = math.inf,
    ) -> None:
        self.phase = Phase.RAMP
        self.tallies: dict[str, Tally] = {}
        self.spans = SpanCounts(span_s)
        self.workers: tuple[WorkerSeen, ...] = ()
        self.used_up_s: float | None = None
        """The time at which the data of users were used up, which ended the window; else None."""
        self.answered_ns = 0
        """The end of the last drain that had an answer, to half a second."""
        self._monitor = monitor
        self._file = file
        self._on_drain = on_drain
        self._on_sample = on_sample
        self._bounds: dict[str, Sample] = {}
        self._next_sample_ns = 0
        self._changes = Changes()
        self._ended: tuple[tuple[Phase, Tally, Drained], ...] = ()
        """The last two phases that ended, the last first, with their last drains: operations that
        end late belong to them."""

    def absorb(self, drained: Drained) -> None:
        self._count(drained)
        if time.monotonic_ns() >= self._next_sample_ns:
            self._keep(self._monitor.sample())

    def _count(self, drained: Drained) -> None:
        tally = self.tallies.setdefault(self.phase, Tally())
        cpu_s = tally.thread_cpu_s
        tally.add(drained)
        if self.phase is Phase.MEASURE and tally.t0_ns is not None:
            pairs = zip_longest(tally.thread_cpu_s, cpu_s, fillvalue=0.0)
            self.spans.add_tester(drained, tally.t0_ns, [now - earlier for now, earlier in pairs])
        self.spans.add(drained.spans)
        if any(step.count > sum(step.failures.values()) for step in drained.steps):
            self.answered_ns = drained.t1_ns
        late = []
        for (phase, ended_tally, cut), steps in zip(
            self._ended, (drained.late, drained.older), strict=False
        ):
            ended_tally.add_late(steps)
            late.append((phase, cut, steps))
        if self._file is not None:
            self._file.store.append(self._file.point, self.phase, drained, late)
        self._on_drain(self.phase, drained)

    def enter_phase(self, drained: Drained, phase: Phase) -> None:
        """End the present phase with this drain, taken at its end, and begin the next phase."""
        self._count(drained)
        if phase == self.phase == Phase.MEASURE:
            self._set_aside()
            self.phase = Phase.RAMP
        self._ended = ((self.phase, self.tallies[self.phase], drained), *self._ended[:1])
        self.phase = phase
        self.tallies[phase] = Tally.starting(drained)
        sample = self._monitor.sample(thorough=True)
        self._bounds[phase] = sample
        self._keep(sample)

    def _set_aside(self) -> None:
        """Add the measurements so far to the ramp: their load was different."""
        ramp = self.tallies.setdefault(Phase.RAMP, Tally())
        ramp.merge(self.tallies.pop(Phase.MEASURE))
        if self._file is not None:
            self._file.store.set_aside(self._file.point, Phase.MEASURE, Phase.RAMP)

    def _keep(self, sample: Sample) -> None:
        now = time.monotonic_ns()
        self._next_sample_ns = now + _SAMPLE_NS
        if self._file is not None:
            self._file.store.append_sample(self._file.point, now, self._changes.rows(sample))
        self._on_sample(now, sample)

    @property
    def measured(self) -> Tally | None:
        return self.tallies.get(Phase.MEASURE)

    @property
    def sent(self) -> int:
        """The number of requests that were answered or given up in all phases.

        Connects send no request; nor does an arrival that was given up before its first step.
        """
        return sum(
            totals.count - totals.clocks[CENSORED].count + totals.clocks[ABANDONED].count
            for tally in self.tallies.values()
            for totals in tally.steps.values()
            if not totals.overlaps and totals.counters[BYTES_OUT]
        )

    @property
    def lost_rows(self) -> int:
        """The number of rows of data that are lost because a change was never answered."""
        return max((tally.lost_rows for tally in self.tallies.values()), default=0)

    @property
    def lasted_s(self) -> float:
        return sum(tally.seconds for tally in self.tallies.values())

    def with_starts(self, counts: Collection[tuple[str, str]]) -> Tally:
        """Return the measured window, with the starts of users that came before the window."""
        assert self.measured is not None
        if any(program == START for program, _ in counts):
            return self.measured
        phases = (Phase.RAMP, Phase.WARMUP)
        return self.measured.with_starts(
            tally for phase, tally in self.tallies.items() if phase in phases
        )

    def use(self) -> Use:
        # A test that is stopped during its first sample has no samples.
        start = self._bounds.get(Phase.MEASURE) or self._monitor.sample(thorough=True)
        end = self._bounds.get(Phase.AFTER) or self._monitor.sample(thorough=True)
        return use_between(start, end, self.tallies[Phase.MEASURE].seconds)

    def intervals(self, steps: Steps) -> Intervals:
        """Return intervals of the steps' percentiles, from the measured half seconds."""
        if self._file is None or self.measured is None:
            return Intervals()
        latencies = self._file.store.latencies(self._file.point, Phase.MEASURE, steps)
        return percentile_intervals(
            latencies,
            self.measured.merge_steps(steps, due=True).clocks[CENSORED],
            stretch_s=self.measured.seconds / max(1, len(latencies)),
        )

    def close(self) -> None:
        self._monitor.close()

    def complete(self, result: PointResult) -> None:
        """Write the totals and the result to the run file, if there is one."""
        if self._file is None:
            return
        store, point = self._file.store, self._file.point
        intervals = self.intervals(counted_steps(result.steps))
        latency = replace(
            result.clocks[LATENCY], intervals=intervals.bounds, too_alike=intervals.too_alike
        )
        store.complete(
            point, self.tallies, replace(result, clocks={**result.clocks, LATENCY: latency})
        )

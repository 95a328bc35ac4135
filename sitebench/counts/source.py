"""The source of a load, and its drains: the counts since the previous drain.

The native engine returns a drain as a snapshot. Portable Python lanes, and a master for its
workers, return a `Drain` of plain values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from sitebench._engine import Histogram, Snapshot, StepStats
from sitebench.counts import metrics

SEQUENCE = "sequence"
"""Step name under which all steps of a program together are recorded."""
START = "start"
"""Program name of a scenario's `[start]`, which a user does once and which is no operation."""


class StepTotals(msgspec.Struct):
    program: str
    step: str
    count: int = 0
    failures: Counter[str] = msgspec.field(default_factory=Counter)
    clocks: dict[str, Histogram] = msgspec.field(default_factory=lambda: defaultdict(Histogram))
    counters: dict[str, int] = msgspec.field(default_factory=lambda: defaultdict(int))
    overlaps: bool = False
    """Whether the step's time and failures are counted in other steps too."""
    examples: dict[str, str] = {}
    """The first failed request with its answer, by kind of failure."""

    @classmethod
    def closed(cls, program: str, step: str, *, overlaps: bool = False) -> StepTotals:
        """Begin a step of a closed schedule, in which some clocks share a histogram."""
        clocks: dict[str, Histogram] = {
            clock: Histogram() for clock in metrics.CLOCKS if clock.closed is None
        }
        clocks |= {c: clocks[c.closed] for c in metrics.CLOCKS if c.closed is not None}
        counters: dict[str, int] = defaultdict(int, dict.fromkeys(metrics.COUNTERS, 0))
        return cls(
            program,
            step,
            clocks=defaultdict(Histogram, clocks),
            counters=counters,
            overlaps=overlaps,
        )

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    @property
    def clock_ns(self) -> int:
        """Time that lanes spent on this step, including failures and the engine's own time."""
        failed_ns, processing_ns = self.counters[metrics.FAILED], self.counters[metrics.PROCESSING]
        return self.clocks[metrics.SERVICE].sum + failed_ns + processing_ns

    def add(self, record: StepRecord) -> None:
        self.overlaps = record.overlaps
        self.count += record.count
        self.failures.update(record.failures)
        self.examples = {**record.examples, **self.examples}
        for clock, times in record.clocks.items():
            self.clocks[clock].add(times)
        for counter, n in record.counters.items():
            self.counters[counter] += n


class Drain(msgspec.Struct, frozen=True):
    """A drain of a process, or of several processes together, as plain values."""

    t0_ns: int
    t1_ns: int
    steps: Sequence[StepTotals]
    lanes: int
    cpu_ns: tuple[int, ...]
    lane_ns: int
    waiting_ns: int
    underway_ns: int
    lane_counts: Sequence[int] = ()
    """Number of successful requests by lane; lanes of all processes are in one sequence."""
    backlog: int = 0
    in_flight: int = 0
    owed: int = 0
    late: Sequence[StepTotals] = ()
    """Operations due in the previous window; `steps` has the operations due in the current
    window."""
    older: Sequence[StepTotals] = ()
    """Operations due before the previous window."""
    without_row: int = 0
    """Number of users that have ended since the start, because no row was left for them."""
    row_wait_ns: int = 0
    """Time for which users waited for exclusive rows."""
    lost_rows: int = 0
    """Number of exclusive rows lost since the start, because a change was never answered."""
    log: Sequence[str] = ()
    """The engine's log of requests, as lines of JSON."""
    spans: Sequence[tuple[int, StepTotals]] = ()
    """Arrivals of a test in stages, by the number of the span in which they were due."""


StepRecord = StepStats | StepTotals
"""A step of a program between two drains."""

Drained = Snapshot | Drain


def used_up(drained: Drained) -> bool:
    """Return whether all users have ended because their data are used up."""
    return drained.without_row > 0 and drained.lanes == 0


def ended(drained: Drained) -> Iterator[StepRecord]:
    """Yield the steps that ended between two drains, no matter when they were due."""
    yield from drained.steps
    yield from drained.late
    yield from drained.older


class Source(Protocol):
    def start_lanes(self, program: str, n: int) -> None: ...
    def stop_lanes(self, program: str, n: int) -> None: ...
    def drain(self) -> Drained: ...
    def cut(self) -> Drained: ...
    def stop(self, timeout_s: float = ...) -> Drained: ...

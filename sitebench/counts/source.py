"""What drives the lanes, and what it hands out.

The native engine hands out snapshots. Portable Python lanes, and a master for its workers, hand out
the same as plain values, with which all that only passes numbers on can be tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sitebench._engine import Histogram, Snapshot, StepStats

SEQUENCE = "sequence"
"""Step name under which a whole pass of a program is recorded."""


@dataclass
class StepTotals:
    """One step of one program, summed over drains; histograms merge bucket by bucket."""

    program: str
    step: str
    count: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    bytes_out: int = 0
    bytes_in: int = 0
    service: Histogram = field(default_factory=Histogram)
    latency: Histogram = field(default_factory=Histogram)
    lag: Histogram = field(default_factory=Histogram)
    censored: Histogram = field(default_factory=Histogram)
    unread: Histogram = field(default_factory=Histogram)
    wrong: Histogram = field(default_factory=Histogram)
    in_vain: Histogram = field(default_factory=Histogram)
    processing_ns: int = 0
    failed_ns: int = 0
    overlaps: bool = False
    """Whether its time and its failures are those of other steps too."""
    examples: dict[str, str] = field(default_factory=dict)
    """Of each kind of failure the first request, and its answer, in words."""

    @property
    def failed(self) -> int:
        """Failed operations of every kind."""
        return sum(self.failures.values())

    @property
    def clock_ns(self) -> int:
        """Time that lanes spent on this step, answered or not, the engine's own included."""
        return self.service.sum + self.failed_ns + self.processing_ns

    def add(self, record: StepRecord) -> None:
        """Merge one drain's worth, or several."""
        self.overlaps = record.overlaps
        self.count += record.count
        self.failures.update(record.failures)
        self.examples = {**record.examples, **self.examples}
        self.bytes_out += record.bytes_out
        self.bytes_in += record.bytes_in
        self.processing_ns += record.processing_ns
        self.failed_ns += record.failed_ns
        self.service.add(record.service)
        self.latency.add(record.latency)
        self.lag.add(record.lag)
        self.censored.add(record.censored)
        self.unread.add(record.unread)
        self.wrong.add(record.wrong)
        self.in_vain.add(record.in_vain)


@dataclass(frozen=True)
class Drain:
    """One drain of one process, or of several together: as plain values."""

    t0_ns: int
    t1_ns: int
    steps: Sequence[StepTotals]
    lanes: int
    cpu_ns: tuple[int, ...]
    lane_ns: int
    waiting_ns: int
    underway_ns: int
    lane_counts: Sequence[int] = ()
    """Requests that succeeded, by lane; those of several processes follow one another."""
    backlog: int = 0
    in_flight: int = 0
    owed: int = 0
    late: Sequence[StepTotals] = ()
    """What was due in the window before the last cut; the others in `steps` were due since."""
    older: Sequence[StepTotals] = ()
    """What was due before that window."""


StepRecord = StepStats | StepTotals
"""What one step of one program did between two drains."""

Drained = Snapshot | Drain
"""Everything recorded between two drains."""


def ended(drained: Drained) -> Iterator[StepRecord]:
    """Yield all that ended between two drains, whenever it was due."""
    yield from drained.steps
    yield from drained.late
    yield from drained.older


class Source(Protocol):
    """Starts and stops lanes, and hands out what they recorded."""

    def start_lanes(self, program: str, n: int) -> None: ...
    def stop_lanes(self, program: str, n: int) -> None: ...
    def drain(self) -> Drained: ...
    def cut(self) -> Drained: ...
    def stop(self, timeout_s: float = ...) -> Drained: ...

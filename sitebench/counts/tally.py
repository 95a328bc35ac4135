from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator
from itertools import repeat, zip_longest
from typing import Any

import msgspec

from sitebench.counts.metrics import LATENCY, PROCESSING
from sitebench.counts.queue import NO_QUEUE, Queue
from sitebench.counts.source import START, Drained, StepRecord, StepTotals, ended
from sitebench.counts.steady import Settled, settle

_WAITS = 0.01
"""Share of the lanes' time above which lanes count as waiting; pauses after failures take less."""

MOST_STRETCHES = 2_048
"""The largest number of stretches, over eight times the slots that the test for steadiness uses."""


def _pairs(values: array[Any]) -> array[Any]:
    """Add neighbours in pairs; with an odd number of values, the last value stays."""
    pairs = zip_longest(values[::2], values[1::2], fillvalue=0)
    return array(values.typecode, (a + b for a, b in pairs))


_Steps = dict[tuple[str, str], StepTotals]


def _add(steps: _Steps, record: StepRecord) -> None:
    key = (record.program, record.step)
    steps.setdefault(key, StepTotals(*key)).add(record)


class Tally(msgspec.Struct):
    """Totals of every step over a window, with the window's true bounds.

    Rates count operations that ended in the window (`steps`). Durations and failures count
    operations that were due in the window (`due`), some of which end later.
    """

    t0_ns: int | None = None
    t1_ns: int = 0
    cpu_start_ns: tuple[int, ...] = ()
    cpu_ns: tuple[int, ...] = ()
    steps: _Steps = {}
    due: _Steps = {}
    queue_start: Queue = NO_QUEUE
    queue_end: Queue = NO_QUEUE
    longest_drain_s: float = 0.0
    stretch_s: array[float] = msgspec.field(default_factory=lambda: array("d"))
    """The length of each stretch. A stretch is a drain, or in a long window several drains."""
    succeeded: dict[tuple[str, str], array[int]] = {}
    """The successes in each stretch, by program and step; a missing last value is zero."""
    waited_ns: dict[tuple[str, str], array[float]] = {}
    """The sum of the latencies of the successes in each stretch, by program and step."""
    queue: array[int] = msgspec.field(default_factory=lambda: array("q"))
    """The queue's length at the end of each stretch."""
    lane_ns: int = 0
    waiting_ns: int = 0
    row_wait_ns: int = 0
    """Time of waits for exclusive rows, a part of `waiting_ns`."""
    lost_rows: int = 0
    """Number of rows lost up to the window's end, because a change was never answered."""
    lane_counts: list[int] = []
    """Number of successful requests by lane; empty unless a target's `phases` are recorded."""
    underway_start_ns: int = 0
    underway_ns: int = 0
    length_s: float | None = None
    """For merged windows of several workers: operations divided by the sum of their rates."""

    @classmethod
    def starting(cls, boundary: Drained) -> Tally:
        cpu = tuple(boundary.cpu_ns)
        tally = cls(boundary.t1_ns, boundary.t1_ns, cpu, cpu)
        tally.underway_start_ns = tally.underway_ns = boundary.underway_ns
        tally.queue_start = tally.queue_end = Queue(boundary.backlog, boundary.in_flight)
        return tally

    @property
    def seconds(self) -> float:
        if self.length_s is not None:
            return self.length_s
        return 0.0 if self.t0_ns is None else (self.t1_ns - self.t0_ns) / 1e9

    @property
    def lane_s(self) -> float:
        """Lane-seconds: the number of lanes that ran, integrated over time."""
        return self.lane_ns / 1e9

    @property
    def clock_s(self) -> float:
        """Lane-seconds of all clocks together."""
        steps = (step for step in self.steps.values() if not step.overlaps)
        underway = self.underway_ns - self.underway_start_ns
        return (sum(step.clock_ns for step in steps) + self.waiting_ns + underway) / 1e9

    @property
    def target_s(self) -> float:
        """Lane-seconds of waits for the target, in connects, binds and requests."""
        steps = (step for step in self.steps.values() if not step.overlaps)
        own = sum(step.counters[PROCESSING] for step in steps)
        return self.clock_s - (self.waiting_ns + own) / 1e9

    @property
    def waits(self) -> bool:
        """Whether lanes were idle for a noticeable time, because users were in think times."""
        return self.waiting_ns > _WAITS * self.lane_ns

    @property
    def thread_cpu_s(self) -> tuple[float, ...]:
        start = self.cpu_start_ns or (0,) * len(self.cpu_ns)
        return tuple((end - begin) / 1e9 for begin, end in zip(start, self.cpu_ns, strict=True))

    def add(self, drained: Drained) -> None:
        if self.t0_ns is None:
            self.t0_ns = drained.t0_ns
        self.t1_ns = drained.t1_ns
        self.cpu_ns = tuple(drained.cpu_ns)
        self.lane_ns += drained.lane_ns
        self.waiting_ns += drained.waiting_ns
        self.row_wait_ns += drained.row_wait_ns
        self.lost_rows = drained.lost_rows
        self.underway_ns = drained.underway_ns
        self.queue_end = Queue(drained.backlog, drained.in_flight)
        if counts := drained.lane_counts:
            pairs = zip_longest(self.lane_counts, counts, fillvalue=0)
            self.lane_counts = [count + added for count, added in pairs]
        for record in ended(drained):
            _add(self.steps, record)
            key, n = (record.program, record.step), len(self.stretch_s) + 1
            succeeded = self.succeeded.setdefault(key, array("q"))
            succeeded.extend(repeat(0, n - len(succeeded)))
            succeeded[-1] += record.count - sum(record.failures.values())
            waited = self.waited_ns.setdefault(key, array("d"))
            waited.extend(repeat(0.0, n - len(waited)))
            waited[-1] += record.clocks[LATENCY].sum
        for record in drained.steps:
            _add(self.due, record)
        seconds = (drained.t1_ns - drained.t0_ns) / 1e9
        self.longest_drain_s = max(self.longest_drain_s, seconds)
        self.stretch_s.append(seconds)
        self.queue.append(self.queue_end.length)
        if len(self.stretch_s) == MOST_STRETCHES:
            # Pairs of stretches become one, to bound the memory of a long window.
            self.stretch_s = _pairs(self.stretch_s)
            self.queue = self.queue[1::2]
            self.succeeded = {key: _pairs(values) for key, values in self.succeeded.items()}
            self.waited_ns = {key: _pairs(values) for key, values in self.waited_ns.items()}

    def add_late(self, steps: Iterable[StepRecord]) -> None:
        """Add operations that were due in this window and ended later."""
        for record in steps:
            _add(self.due, record)

    def merge(self, later: Tally) -> None:
        """Add the steps of another window, but no other figures of that window."""
        for totals in later.steps.values():
            _add(self.steps, totals)
        for totals in later.due.values():
            _add(self.due, totals)

    def with_starts(self, earlier: Iterable[Tally]) -> Tally:
        """Return the tally with earlier steps of `[start]` too, because a user does them once."""
        due = {key: totals for key, totals in self.due.items() if key[0] != START}
        for tally in (*earlier, self):
            for totals in tally.due.values():
                if totals.program == START:
                    _add(due, totals)
        return msgspec.structs.replace(self, due=due)

    def operations(self, counts: Iterable[tuple[str, str]]) -> Iterator[tuple[float, int]]:
        """Yield the seconds of each stretch, and its successful operations."""
        counted = [self.succeeded[key] for key in counts if key in self.succeeded]
        for n, seconds in enumerate(self.stretch_s):
            yield seconds, sum(column[n] for column in counted if n < len(column))

    def latencies_ns(self, counts: Iterable[tuple[str, str]]) -> list[float]:
        """Return the sum of the counted latencies of each stretch."""
        counted = [self.waited_ns[key] for key in counts if key in self.waited_ns]
        stretches = range(len(self.stretch_s))
        return [sum(column[n] for column in counted if n < len(column)) for n in stretches]

    def settle(self, counts: Collection[tuple[str, str]], *, is_open: bool) -> Settled:
        """Judge whether the window had settled, on an open or a closed schedule."""
        if not is_open:
            return settle(self.operations(counts))
        return settle(self.operations(counts), self.queue, self.latencies_ns(counts))

    def merge_steps(self, counts: Iterable[tuple[str, str]], *, due: bool = False) -> StepTotals:
        """Merge the steps that count as operations: `counts` has a (program, step) per program."""
        merged, steps = StepTotals("", "operation"), self.due if due else self.steps
        for key in counts:
            if key in steps:
                merged.add(steps[key])
        return merged

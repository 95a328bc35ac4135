"""Counts, lateness and latency in the spans (minutes) of a test in stages.

An operation is in the span in which it was due, however late it ended. Histograms stay encoded: a
day has 1,440 minutes, and a decoded histogram holds megabytes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from sitebench._engine import Histogram
from sitebench.counts.durations import Durations
from sitebench.counts.metrics import CENSORED, LAG, LATENCY, THINKING
from sitebench.counts.source import Drained, StepRecord
from sitebench.counts.stages import Stages

_CLOCKS = (LATENCY, CENSORED, LAG)

_HELD_BACK_S = 2.0
"""A drain is due every half second. If it comes later than this, the load generator had no core."""


class Span(msgspec.Struct, frozen=True):
    """Operations due in a span."""

    begin_s: float
    seconds: float
    operations: int
    """Number of operations that ended (answered or given up) or were in a think time."""
    failures: int
    latency_us: Durations
    lag_us: Durations
    tester_busy: float | None = None
    """Share of the span in which the busiest thread of the load generator was on a core."""
    tester_late: float | None = None
    """Share of the span in which operations were due while most lanes were free, or in which the
    load generator had no core; older run files lack this share."""
    asked: float | None = None
    """The mean number of operations that the stages plan for this span."""
    users: float | None = None
    """The mean number of users, if the stages set users."""
    thinking: int = 0
    """Number of operations that were in a think time at the end of the test."""

    @property
    def asked_per_s(self) -> float | None:
        return None if self.asked is None else self.asked / self.seconds

    @property
    def late_us(self) -> float | None:
        return self.lag_us.mean

    @property
    def answered_per_s(self) -> float:
        """The rate of operations that were due in the span and succeeded, even after its end."""
        return (self.operations - self.failures - self.thinking) / self.seconds

    def to_json(self) -> dict[str, Any]:
        load = {"asked": self.asked, "asked_per_s": self.asked_per_s}
        return {
            "begin_s": self.begin_s,
            "seconds": self.seconds,
            **({"users": self.users} if self.asked is None else load),
            "operations": self.operations,
            "failures": self.failures,
            "thinking": self.thinking,
            "answered_per_s": self.answered_per_s,
            LATENCY.key: self.latency_us.to_json(),
            LAG.key: self.lag_us.to_json(),
            "tester_busy": self.tester_busy,
            "tester_late": self.tester_late,
        }


class _Counted(msgspec.Struct):
    """Counts of a step in a span."""

    count: int = 0
    failures: int = 0
    thinking: int = 0
    clocks: dict[str, bytes] = {}

    def add(self, record: StepRecord) -> None:
        self.count += record.count
        self.failures += sum(record.failures.values())
        self.thinking += record.counters[THINKING]
        for clock in _CLOCKS:
            if (times := record.clocks[clock]).count:
                if clock in self.clocks:
                    times = times.copy()
                    times.add(Histogram.from_bytes(self.clocks[clock]))
                self.clocks[clock] = times.to_bytes()


class _Tester(msgspec.Struct):
    """Figures of the load generator in a span."""

    seconds: float = 0.0
    late_s: float = 0.0
    cpu_s: list[float] = []

    def add(self, seconds: float, late_s: float, cpu_s: Iterable[float]) -> None:
        self.seconds += seconds
        self.late_s += late_s
        self.cpu_s = [sum(pair) for pair in zip_longest(self.cpu_s, cpu_s, fillvalue=0.0)]


class SpanCounts:
    def __init__(self, span_s: float = math.inf) -> None:
        self._span_s = span_s
        self._steps: dict[tuple[int, str, str], _Counted] = {}
        self._tester: dict[int, _Tester] = {}

    def add(self, spans: Iterable[tuple[int, StepRecord]]) -> None:
        """Add a drain's records, by the number of the span."""
        for number, record in spans:
            key = (number, record.program, record.step)
            self._steps.setdefault(key, _Counted()).add(record)

    def add_tester(self, drained: Drained, began_ns: int, cpu_s: Sequence[float]) -> None:
        """Divide the load generator's time since the last drain among the spans."""
        begin_s, end_s = (drained.t0_ns - began_ns) / 1e9, (drained.t1_ns - began_ns) / 1e9
        seconds = end_s - begin_s
        # A drain may see one operation per thread that has just become due; such operations do not
        # wait.
        waits = drained.backlog > len(cpu_s) and 2 * drained.in_flight < drained.lanes
        late = waits or seconds >= _HELD_BACK_S
        while begin_s < end_s:
            number = int(begin_s // self._span_s)
            edge_s = min(end_s, (number + 1) * self._span_s)
            part_s = edge_s - begin_s
            cpu_parts = [cpu * part_s / seconds for cpu in cpu_s]
            self._tester.setdefault(number, _Tester()).add(part_s, late * part_s, cpu_parts)
            begin_s = edge_s

    def spans(
        self, stages: Stages, counts: Collection[tuple[str, str]], ended_s: float = math.inf
    ) -> tuple[Span, ...]:
        """Return the spans of these stages, for the steps that count as an operation.

        `ended_s` is the end of a test that ended before its stages.
        """
        edges = list(stages.spans(ended_s))
        parts_of: list[list[_Counted]] = [[] for _ in edges]
        for (number, *step), part in self._steps.items():
            # A repeated step of an operation can become due after the end of the stages. It is left
            # out.
            if tuple(step) in counts and number * stages.span_s < stages.lasts_s:
                parts_of[min(number, len(edges) - 1)].append(part)
        testers = [_Tester() for _ in edges]
        for number, share in self._tester.items():
            testers[min(number, len(edges) - 1)].add(share.seconds, share.late_s, share.cpu_s)
        spans = []
        for (begin_s, end_s), parts, tester in zip(edges, parts_of, testers, strict=True):
            due = stages.due(end_s) - stages.due(begin_s)
            thinking = sum(part.thinking for part in parts)
            times: dict[str, Histogram] = {clock: Histogram() for clock in _CLOCKS}
            for part in parts:
                for clock, encoded in part.clocks.items():
                    times[clock].add(Histogram.from_bytes(encoded))
            spans.append(
                Span(
                    begin_s,
                    end_s - begin_s,
                    sum(part.count for part in parts) + thinking,
                    sum(part.failures for part in parts),
                    Durations.of(times[LATENCY], times[CENSORED]),
                    Durations.of(times[LAG]),
                    max(tester.cpu_s) / tester.seconds if tester.cpu_s else None,
                    tester.late_s / tester.seconds if tester.seconds else None,
                    None if stages.of_users else round(due, 3),
                    round(due / (end_s - begin_s), 3) if stages.of_users else None,
                    thinking,
                )
            )
        return tuple(spans)

"""What was due in each span of a test in stages: counts, lateness and latency, minute by minute.

An operation is in the span in which it was due, however late it ended. Histograms are kept encoded:
a day has 1,440 minutes, and decoded each would hold megabytes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts.durations import Durations
from sitebench.counts.metrics import CENSORED, LAG, LATENCY
from sitebench.counts.source import StepRecord
from sitebench.counts.stages import Stages

_CLOCKS = (LATENCY, CENSORED, LAG)


@dataclass(frozen=True)
class Span:
    """What was due in one span."""

    begin_s: float
    seconds: float
    operations: int
    """Those that ended: were answered, or given up."""
    failures: int
    latency_us: Durations
    lag_us: Durations
    """How late they began."""
    asked: float | None = None
    """How many operations the stages ask for; at random more or fewer are due."""
    users: float | None = None
    """Of stages of users, how many there are on average."""

    @property
    def asked_per_s(self) -> float | None:
        return None if self.asked is None else self.asked / self.seconds

    @property
    def answered_per_s(self) -> float:
        """Operations that succeeded, whenever that was."""
        return (self.operations - self.failures) / self.seconds

    def to_json(self) -> dict[str, Any]:
        return {
            "begin_s": self.begin_s,
            "seconds": self.seconds,
            **(
                {"users": self.users}
                if self.asked is None
                else {"asked": self.asked, "asked_per_s": self.asked_per_s}
            ),
            "operations": self.operations,
            "failures": self.failures,
            "answered_per_s": self.answered_per_s,
            LATENCY.key: self.latency_us.to_json(),
            LAG.key: self.lag_us.to_json(),
        }


@dataclass
class _Counted:
    """One step in one span."""

    count: int = 0
    failures: int = 0
    clocks: dict[str, bytes] = field(default_factory=dict)

    def add(self, record: StepRecord) -> None:
        self.count += record.count
        self.failures += sum(record.failures.values())
        for clock in _CLOCKS:
            if (times := record.clocks[clock]).count:
                if clock in self.clocks:
                    times = times.copy()
                    times.add(Histogram.from_bytes(self.clocks[clock]))
                self.clocks[clock] = times.to_bytes()


class SpanCounts:
    """Adds up what drains have of each span."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str, str], _Counted] = {}

    def add(self, spans: Iterable[tuple[int, StepRecord]]) -> None:
        """Take what one drain has, by the number of the span."""
        for number, record in spans:
            key = (number, record.program, record.step)
            self._found.setdefault(key, _Counted()).add(record)

    def spans(
        self, stages: Stages, counts: Collection[tuple[str, str]], ended_s: float = math.inf
    ) -> tuple[Span, ...]:
        """Return the spans of these stages, with the steps that count as an operation.

        `ended_s`: when the test ended, if that was before them.
        """
        edges = list(stages.spans(ended_s))
        parts_of: list[list[_Counted]] = [[] for _ in edges]
        for (number, *step), part in self._found.items():
            if tuple(step) in counts:
                parts_of[min(number, len(edges) - 1)].append(part)
        found = []
        for (begin_s, end_s), parts in zip(edges, parts_of, strict=True):
            due = stages.due(end_s) - stages.due(begin_s)
            times: dict[str, Histogram] = {clock: Histogram() for clock in _CLOCKS}
            for part in parts:
                for clock, encoded in part.clocks.items():
                    times[clock].add(Histogram.from_bytes(encoded))
            found.append(
                Span(
                    begin_s,
                    end_s - begin_s,
                    sum(part.count for part in parts),
                    sum(part.failures for part in parts),
                    Durations.of(times[LATENCY], times[CENSORED]),
                    Durations.of(times[LAG]),
                    **(
                        {"users": round(due / (end_s - begin_s), 3)}
                        if stages.of_users
                        else {"asked": round(due, 3)}
                    ),
                )
            )
        return tuple(found)

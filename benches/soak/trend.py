"""Whether the end of a long run resembles its beginning.

The measured window is cut into ten parts, and the last is compared with the first: rates and
latencies, and the CPU time of an operation, which other programs on the machine hardly change.
Memory is judged by its slope from the second part on: two parts may differ by chance, and a leak
never stops. The number of concurrent people depends on the rate of registrations, and a directory
keeps room for their highest number: its memory is judged without that room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression, mean

PARTS = 10

GROWTH = 0.02
"""Memory may grow by 2 % over the window, by its slope: allocators settle slowly, and the load
generator's histograms widen with the longest wait. At full rate that is half a byte of the
directory's for each operation in two minutes, and a fiftieth of a byte in an hour.
"""

DEARER = 0.15
"""An operation may take 15 % more CPU time.

This much was measured when other programs shared the caches (4.9 us at 40,000/s, 5.7 us at half of
that). A structure that grows and is scanned takes more.
"""

SLOWER = 0.2
"""The rate may fall by a fifth on an otherwise quiet machine.

If another program causes a larger fall, the CPU time of an operation stays the same.
"""


@dataclass(frozen=True)
class Part:
    """A part of the window; `p50_s` and `p99_s` are latencies of lookups."""

    seconds: float
    operations: int
    target_cpu_s: float
    tester_cpu_s: float
    target_bytes: float
    entries: float
    p50_s: float
    p99_s: float

    @property
    def per_s(self) -> float:
        return self.operations / self.seconds

    def of_each(self, cpu_s: float) -> float:
        """Return an operation's share of CPU time."""
        return cpu_s / max(self.operations, 1)


@dataclass(frozen=True)
class Trend:
    """One value over time."""

    at_s: Sequence[float]
    values: Sequence[float]

    @property
    def growth(self) -> float:
        """Growth over the window by the slope, as a share of the mean."""
        slope = linear_regression(self.at_s, self.values).slope
        return slope * (self.at_s[-1] - self.at_s[0]) / mean(self.values)


@dataclass(frozen=True)
class Figure:
    """A figure at the beginning and at the end, its drift, and the drift's bounds."""

    what: str
    first: float
    last: float
    drift: float
    most: float | None = None
    least: float | None = None

    @property
    def holds(self) -> bool:
        return (self.most is None or self.drift <= self.most) and (
            self.least is None or self.drift >= self.least
        )


def compared(
    what: str, first: float, last: float, *, most: float | None = None, least: float | None = None
) -> Figure:
    """Return a figure whose drift is the change from the first to the last."""
    return Figure(what, first, last, last / first - 1 if first else 0.0, most, least)


def _growth(what: str, trend: Trend) -> Figure:
    return Figure(what, trend.values[0], trend.values[-1], trend.growth, GROWTH)


RATE, ENTRIES, P50, P99 = "operations/s", "entries", "lookup p50", "lookup p99"
CPU = {"target": "CPU per operation, directory", "tester": "CPU per operation, tester"}
MEMORY = {
    "target": "memory, directory",
    "even": "memory, at even entries",
    "tester": "memory, tester",
}


def judge(parts: Sequence[Part], directory: Trend, tester: Trend) -> list[Figure]:
    """Compare the end with the beginning."""
    a, b = parts[0], parts[-1]
    target_cpu = a.of_each(a.target_cpu_s), b.of_each(b.target_cpu_s)
    tester_cpu = a.of_each(a.tester_cpu_s), b.of_each(b.tester_cpu_s)
    return [
        compared(RATE, a.per_s, b.per_s, least=-SLOWER),
        compared(CPU["target"], *target_cpu, most=DEARER),
        compared(CPU["tester"], *tester_cpu, most=DEARER),
        compared(MEMORY["target"], a.target_bytes, b.target_bytes),
        _growth(MEMORY["even"], directory),
        _growth(MEMORY["tester"], tester),
        compared(ENTRIES, a.entries, b.entries),
        compared(P50, a.p50_s, b.p50_s),
        compared(P99, a.p99_s, b.p99_s),
    ]

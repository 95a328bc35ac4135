"""A point's timeline, reduced for a screen: histograms are merged, no value is averaged."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from operator import itemgetter

import msgspec
from msgspec.structs import replace

from sitebench._engine import Histogram
from sitebench.counts.durations import percentile_ns
from sitebench.counts.metrics import Clock
from sitebench.runs.point import counted_steps
from sitebench.runs.runfile import RunFile, StoredPoint, TimelineRow

PER_DECADE = 12
"""Latency cells per factor of ten in the heat map: each cell is 21 % above the cell below."""

WARMUP, MEASURED, AFTER = "warm-up", "measured", "after"
_SHOWN = {"ramp": WARMUP, "warmup": WARMUP, "measure": MEASURED, "after": AFTER}

_LEAST_GAP_NS = 1_000_000
"""Smaller gaps are rounding errors of the seconds, which are floats."""

_HALF_A_DRAIN_S = 0.25
"""A slot of a second may be shorter by this: two drains of nearly half a second are enough."""

Steps = Set[tuple[str, str]]
"""(program, step) of the counted steps."""


class Slot(msgspec.Struct):
    """The operations between two instants: one drain, or several merged."""

    phase: str
    t0_ns: int
    t1_ns: int
    count: int = 0
    failures: int = 0
    latency: Histogram = msgspec.field(default_factory=Histogram)

    @property
    def seconds(self) -> float:
        return (self.t1_ns - self.t0_ns) / 1e9

    @property
    def ops_per_s(self) -> float:
        return (self.count - self.failures) / self.seconds if self.seconds else 0.0

    def absorb(self, other: Slot) -> None:
        self.t1_ns = other.t1_ns
        self.count += other.count
        self.failures += other.failures
        self.latency.add(other.latency)

    def percentile(self, q: float) -> float | None:
        """Return a percentile in microseconds; None with too few samples beyond it."""
        ns = percentile_ns(self.latency, q)
        return None if ns is None else ns / 1e3


def merge_clocks(file: RunFile, point: StoredPoint, *clocks: Clock) -> list[Histogram]:
    """Return a histogram per clock, merged from the counted steps of a point."""
    assert point.result is not None
    counted, merged = counted_steps(point.result.steps), [Histogram() for _ in clocks]
    for step in file.steps(point.id):
        if (step.program, step.step) in counted:
            for histogram, clock in zip(merged, clocks, strict=True):
                histogram.add(step.clocks[clock])
    return merged


def slots(rows: Iterable[TimelineRow], counted: Steps, limit: int) -> list[Slot]:
    """Return about `limit` slots of the counted steps; each belongs to one phase."""
    drains: dict[int, Slot] = {}
    for row in rows:
        slot = drains.get(row.t_ns)
        if slot is None:
            phase = _SHOWN.get(row.phase, row.phase)
            slot = drains[row.t_ns] = Slot(phase, row.t_ns - round(row.seconds * 1e9), row.t_ns)
        if (row.program, row.step) in counted:
            slot.count += row.count
            slot.failures += row.failures
            slot.latency.add(Histogram.from_bytes(row.latency))
    parts = list(_gapless(drains.values()))
    span_s = (parts[-1].t1_ns - parts[0].t0_ns) / 1e9 if parts else 0.0
    return _join(parts, 0.999 * span_s / max(limit, 1))


def _gapless(drains: Iterable[Slot]) -> Iterator[Slot]:
    """Fill gaps with empty slots: a run file has no rows for drains without operations."""
    previous: Slot | None = None
    for drain in drains:
        if previous is not None and drain.t0_ns - previous.t1_ns > _LEAST_GAP_NS:
            yield Slot(previous.phase, previous.t1_ns, drain.t0_ns)
        yield drain
        previous = drain


def seconds(parts: Sequence[Slot], every_s: float = 1.0) -> list[Slot]:
    copies = [replace(slot, latency=slot.latency.copy()) for slot in parts]
    return _join(copies, every_s - _HALF_A_DRAIN_S)


def _join(drains: Sequence[Slot], share_s: float) -> list[Slot]:
    """Merge neighbouring drains of one phase to slots of a least length.

    A drain that is much shorter than usual is merged into the slot before it, however long that is.
    """
    if not drains:
        return []
    usual_s = sorted(drain.seconds for drain in drains)[len(drains) * 3 // 4]
    least_s = max(share_s, usual_s / 2)
    joined: list[Slot] = []
    for drain in drains:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.phase == drain.phase
            and (last.seconds < least_s or drain.seconds < usual_s / 4)
        ):
            last.absorb(drain)
        else:
            joined.append(drain)
    return joined


def cells(histogram: Histogram) -> dict[int, int]:
    """Return samples by cell of the heat map: cell c is from 10^(c/12) to 10^((c+1)/12) ns.

    Buckets are ordered: a cell is a slice of them, located by bisection.
    """
    buckets = histogram.buckets()
    totals, start = dict[int, int](), 0
    while start < len(buckets):
        cell = cell_of(buckets[start][0])
        end = bisect_left(buckets, (_EDGES[cell + 1],), start + 1)
        totals[cell] = sum(map(itemgetter(1), buckets[start:end]))
        start = end
    return totals


def cell_of(ns: int) -> int:
    return bisect_right(_EDGES, ns) - 1


_EDGES = [10 ** (cell / PER_DECADE) for cell in range(20 * PER_DECADE)]
_EDGES[0] = 0.0

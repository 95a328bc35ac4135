"""The totals of a step as rows of a run file, and back.

A row per metric: `count`, each kind of `failures`, each counter, and each clock with its samples
and their histogram.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts import metrics
from sitebench.counts.source import StepTotals

COUNT, FAILURES = "count", "failures"

_Row = tuple[str, str, int, bytes | None]
"""metric, kind of failure, value, histogram."""


def rows(totals: StepTotals) -> Iterator[_Row]:
    """Yield a row per metric; an empty clock has no row."""
    yield COUNT, "", totals.count, None
    for kind, n in totals.failures.items():
        yield FAILURES, kind, n, None
    for counter in metrics.COUNTERS:
        yield counter, "", totals.counters[counter], None
    for clock in metrics.CLOCKS:
        if (times := totals.clocks[clock]).count:
            yield clock, "", times.count, times.to_bytes()


SELECT = (
    "SELECT program, step, metric, kind, value, histogram FROM steps"
    " WHERE point = ? AND phase = ? ORDER BY program, step"
)


def read(rows: Iterable[tuple[Any, ...]]) -> Iterator[StepTotals]:
    """Yield the totals of each step; raises ValueError for rows that contradict each other."""
    for (program, step), of_step in groupby(rows, key=lambda row: row[:2]):
        totals = StepTotals(program, step)
        for _, _, metric, kind, value, histogram in of_step:
            if histogram is not None:
                times = totals.clocks[metric] = Histogram.from_bytes(histogram)
                if times.count != value:
                    raise ValueError(f"{metric} of {step} has {times.count} samples, not {value}")
            elif metric == COUNT:
                totals.count = value
            elif metric == FAILURES:
                totals.failures[kind] = value
            else:
                totals.counters[metric] = value
        ended = sum(totals.clocks[clock].count for clock in metrics.ENDED)
        if ended != totals.count:
            raise ValueError(f"{step} has {totals.count} operations and {ended} durations")
        yield totals

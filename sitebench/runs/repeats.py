"""Repeats of a point, their median, and an interval that encloses the true median.

Repeats are points that differ in `repeat` alone. The interval is exact, from order statistics,
which assume nothing about the distribution of runs: of n values in order, the k-th smallest and
the k-th largest enclose the true median unless fewer than k values lie on one side of it, and each
value lies on either side with probability 1/2.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sitebench.runs.point import PointResult, PointSpec

_CONFIDENCE = 0.95

Of = Callable[[PointResult], float | None]
"""The figure to take of each repeat; None where that repeat does not have it."""


@dataclass(frozen=True)
class Interval:
    """Two measured values, and the probability that they enclose the true median."""

    low: float
    high: float
    confidence: float


def median_interval(values: Sequence[float], confidence: float = _CONFIDENCE) -> Interval | None:
    """Return the narrowest interval of this confidence; None where n is too small for any."""
    ordered, found = sorted(values), None
    for k in range(1, len(ordered) // 2 + 1):
        sure = _coverage(len(ordered), k)
        if sure < confidence:
            break
        found = Interval(ordered[k - 1], ordered[-k], sure)
    return found


def least_repeats(confidence: float = _CONFIDENCE) -> int:
    """Return the fewest values for which `median_interval` has an interval: 6 for 95 %."""
    return next(n for n in range(2, 64) if _coverage(n, 1) >= confidence)


def _coverage(n: int, k: int) -> float:
    """Return the probability that the k-th smallest and k-th largest of n enclose the median."""
    outside: int = 2 * sum(math.comb(n, i) for i in range(k))
    return 1.0 - outside / float(2**n)


@dataclass(frozen=True)
class Series:
    """All repeats of one point, in the order they were measured; `spec` has repeat 0."""

    spec: PointSpec
    results: tuple[PointResult, ...]

    @property
    def n(self) -> int:
        """How often the point was measured."""
        return len(self.results)

    @property
    def valid(self) -> bool:
        """Whether every repeat measured the target, not the tester."""
        return all(result.verdict.valid for result in self.results)

    @property
    def failures(self) -> int:
        """Failed steps of all repeats."""
        return sum(result.failures for result in self.results)

    def values(self, of: Of) -> list[float] | None:
        """Return each repeat's figure; None if one repeat does not have it.

        Leaving that one out would bias the median: slow repeats are those with too few samples for
        a percentile.
        """
        found = [value for result in self.results if (value := of(result)) is not None]
        return found if found and len(found) == self.n else None

    def median(self, of: Of) -> float | None:
        """Return the median over repeats."""
        values = self.values(of)
        return None if values is None else statistics.median(values)

    def interval(self, of: Of) -> Interval | None:
        """Return the median's 95 % interval; None where there are too few repeats for one."""
        values = self.values(of)
        return None if values is None else median_interval(values)

    def spread(self, of: Of) -> tuple[float, float] | None:
        """Return the smallest and the largest value: few repeats allow no interval."""
        values = self.values(of)
        return None if values is None else (min(values), max(values))


def series(results: Iterable[PointResult]) -> list[Series]:
    """Group repeats, in the order in which their points first appear."""
    groups: dict[str, list[PointResult]] = {}
    for result in results:
        groups.setdefault(_first(result.spec).key, []).append(result)
    return [
        Series(_first(found[0].spec), tuple(sorted(found, key=lambda r: r.spec.repeat)))
        for found in groups.values()
    ]


def _first(spec: PointSpec) -> PointSpec:
    return dataclasses.replace(spec, repeat=0)

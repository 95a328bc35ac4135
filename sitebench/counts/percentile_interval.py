"""How far a percentile may be off, by how its tail is spread over the window.

A percentile is a rank, so what is uncertain of it is the share of operations above it. Operations
are not drawn one by one: a stall of 20 ms at 10,000/s is one event and 200 samples. So the share's
error comes from the window's half seconds (batch means): from how many operations of each were
above the percentile, against how many should have been. What exceeds the error of operations that
are independent (binomial) is as uncertain as neighbours are alike: at a lag-one correlation of r
it counts (1 + r) / (1 - r) times. For r stands the largest that the window does not rule out: its
estimate, freed of its bias (Kendall 1954), and two standard errors more.

Where r may be above 0.85, half seconds are too alike to tell. They are joined by twos, fours and so
on, as long as twenty batches remain; where these are too alike as well there is no interval, but
how long a window would do. Of twenty half seconds no better can be had: of any test that 92 % of
the independent windows pass, 3 % of those with a correlation of 0.9 pass it too (by the likelihood
ratio, simulated).

With the share's variance go as many independent operations as have the same (Korn and Graubard
1998, who also free it of the error of the variance, by Student's quantile). Their binomial interval
(Wilson's, with continuity corrected) has two ranks, and the histogram's own values there are the
interval. It is of what the window saw: of what happens once a minute, ten seconds know nothing.

An operation that was given up ranks as long as it was waited for, as in `counts.durations`. When
those were is not kept by half seconds, so they count as one event; beyond the shortest of them
there is no high, and a percentile that is a lower bound has no interval.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from statistics import NormalDist

from sitebench._engine import Histogram
from sitebench.counts.durations import PERCENTILES, percentile_ns, with_censored
from sitebench.frozen import frozen
from sitebench.units import format_duration

_Z = NormalDist().inv_cdf(0.975)
"""Of 95 %."""

_LEAST_STRETCHES = 8
"""Of fewer half seconds the spread is not known."""

_LEAST_BATCHES = 20
"""Half seconds are joined to so many batches at least."""

_DOUBT = 2.0
"""Half seconds may be more alike than they look, by so many standard errors."""

MOST_ALIKE = 0.85
"""The least with which nine in ten windows of 10 s have an interval where half seconds are
independent (simulated)."""

_MOVES = 2.0
"""The median tells of other percentiles where it moves so many times as much as by chance."""

_TELLS = 60.0
"""A window of so many times the correlation time tells: of four in five (simulated)."""

Bounds = tuple[float, float | None]
"""Low and high in microseconds; no high where its rank is beyond the last sample."""


@frozen
class Intervals:
    """The 95 % intervals of a window's percentiles, and why others have none."""

    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    too_alike: Mapping[str, float] = field(default_factory=dict)
    """Of half seconds that are too alike to tell: how many seconds of a window would do."""


def too_alike_to_tell(would_do_s: float) -> str:
    """Say why a percentile has no interval, and how long a window would do."""
    return f"half seconds too alike to tell, a window of {format_duration(would_do_s)} would do"


def percentile_intervals(
    stretches: Sequence[Histogram],
    censored: Histogram | None = None,
    *,
    stretch_s: float = 0.5,
    most_alike: float = MOST_ALIKE,
) -> Intervals:
    """Return the interval of each percentile, from the window's half seconds."""
    if len(stretches) < _LEAST_STRETCHES:
        return Intervals()
    sure = math.inf
    if censored is not None and censored.count:
        sure = censored.min
        stretches = [*stretches[:-1], with_censored(stretches[-1], censored)]
    whole = Histogram()
    for stretch in stretches:
        whole.add(stretch)
    counts = [each.count for each in stretches]
    buckets = [each.buckets() for each in stretches]
    bounds, too_alike = dict[str, Bounds](), dict[str, float]()
    middle: list[int] | None = None
    for name, q in PERCENTILES.items():
        value = percentile_ns(whole, q)
        if value is None or value >= sure:
            continue
        # Where many are equally long, those above are fewer than should be, and those from it more.
        beyond = [[_beyond(each, value + above) for each in buckets] for above in (True, False)]
        middle = middle or beyond[0]
        share = 1 - q / 100
        independent = _independent(counts, beyond, middle, share, most_alike)
        if independent is None:
            too_alike[name] = _readable(stretch_s * _would_do(counts, [*beyond, middle]))
            continue
        least, most = _wilson(share, independent)
        high = whole.percentile(100 * (1 - least)) if least * whole.count >= 1 else math.inf
        low = whole.percentile(100 * (1 - most)) / 1e3
        bounds[name] = low, high / 1e3 if high < sure else None
    return Intervals(bounds, too_alike)


def _independent(
    counts: Sequence[int],
    beyond: Sequence[Sequence[int]],
    middle: Sequence[int],
    share: float,
    most_alike: float,
) -> float | None:
    """Return how many independent operations know the share as well; None if that is not known.

    What moves the median of half seconds moves their tails, which show it less clearly.
    """
    size = 1
    while size == 1 or len(counts) // size >= _LEAST_BATCHES:
        n = _joined(counts, size)
        series = [_Series(_joined(each, size), n) for each in beyond]
        alike = max(each.alike for each in series)
        median = _Series(_joined(middle, size), n)
        if median.variance > _MOVES * median.binomial:
            alike = max(alike, median.alike)
        alike = max(0.0, _at_most(alike, len(n)))
        if alike <= most_alike:
            total, batches = sum(n), len(n)
            chance = total * share * (1 - share)
            excess = max(0.0, *(each.variance - each.binomial for each in series))
            variance = chance + excess * (1 + alike) / (1 - alike)
            # Student's quantile of m - 1 degrees of freedom, by the first term of its expansion.
            student = _Z + (_Z**3 + _Z) / (4 * (batches - 1))
            return min(total, total * chance / variance * (_Z / student) ** 2)
        size *= 2
    return None


class _Series:
    """How far batches are from their common share: its variance, and how alike neighbours are."""

    def __init__(self, beyond: Sequence[int], counts: Sequence[int]) -> None:
        n, m = sum(counts), len(counts)
        share = sum(beyond) / n
        off = [over - share * count for over, count in zip(beyond, counts, strict=True)]
        square = sum(x * x for x in off)
        together = sum(x * y for x, y in pairwise(off))
        self.variance = square * m / (m - 1)
        self.binomial = n * share * (1 - share)
        # Nothing is alike in what the rounding of the share leaves.
        self.alike = together / square if square >= 1 else 0.0


def _at_most(alike: float, m: int) -> float:
    """Return the largest correlation that this estimate from so many batches does not rule out."""
    return _unbiased(alike, m) + _DOUBT * math.sqrt((1 - max(0.0, alike) ** 2) / m)


def _unbiased(alike: float, m: int) -> float:
    return alike + (1 + 4 * max(0.0, alike)) / m


def _would_do(counts: Sequence[int], beyond: Sequence[Sequence[int]]) -> float:
    """Return of how many half seconds a window would do, by their correlation time."""
    alike = _unbiased(max(_Series(each, counts).alike for each in beyond), len(counts))
    # Of 0.99 it is 50 minutes: what is more alike is a drift.
    return max(2.0 * len(counts), _TELLS / -math.log(min(0.99, max(alike, 0.1))))


def _readable(seconds: float) -> float:
    """Round up to tens of seconds, or minutes."""
    unit = 10 if seconds <= 60 else 60
    return float(unit * math.ceil(seconds / unit))


def _wilson(share: float, n: float) -> tuple[float, float]:
    """Return the interval of a share of n independent ones, with continuity corrected.

    Where fewer than half of one are expected on a side, it reaches to the end there: the correction
    is more than the share itself (Newcombe 1998), and beside it the formula has no meaning.
    """
    around, square = 2 * n * share, _Z * _Z
    spread = 4 * share * n * (1 - share)
    below = _Z * math.sqrt(max(0.0, square - 1 / n + spread + 4 * share - 2)) + 1
    above = _Z * math.sqrt(max(0.0, square - 1 / n + spread - 4 * share + 2)) + 1
    scale = 2 * (n + square)
    least = max(0.0, around + square - below) / scale if 2 * n * share > 1 else 0.0
    most = min(scale, around + square + above) / scale if 2 * n * (1 - share) > 1 else 1.0
    return least, most


def _joined(values: Sequence[int], size: int) -> Sequence[int]:
    """Return the sums of so many neighbours each; what is left over joins the last."""
    if size == 1:
        return values
    sums = [sum(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]
    sums[-1] += sum(values[len(sums) * size :])
    return sums


def _beyond(buckets: Sequence[tuple[int, int]], least: int) -> int:
    return sum(count for _, count in buckets[bisect_left(buckets, (least, 0)) :])

"""How far a percentile may be off, by how its tail is spread over the window.

A percentile is a rank, so what is uncertain of it is the share of operations above it. Operations
are not drawn one by one: a stall of 20 ms at 10,000/s is one event and 200 samples. So the share's
error comes from the window's half seconds (batch means): from how many operations of each were
above the percentile, against how many should have been, with what neighbours have in common (Newey
and West 1987, Bartlett weights). It is never less than that of operations which are independent
(binomial). The interval is the histogram's own values at the two ranks.

An operation that was given up ranks as long as it was waited for, as in `counts.durations`. When
those were is not kept by half seconds, so they count as one event; beyond the shortest of them
there is no high, and a percentile that is a lower bound has no interval.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from statistics import NormalDist

from sitebench._engine import Histogram
from sitebench.counts.durations import PERCENTILES, percentile_ns, with_censored

_CONFIDENCE = 0.95
_LEAST_STRETCHES = 8
"""Of fewer half seconds the spread is not known."""


Bounds = tuple[float, float | None]
"""Low and high in microseconds; no high where its rank is beyond the last sample."""


def percentile_intervals(
    stretches: Sequence[Histogram], censored: Histogram | None = None
) -> dict[str, Bounds]:
    """Return the 95 % interval of each percentile, from the window's half seconds."""
    if len(stretches) < _LEAST_STRETCHES:
        return {}
    sure = math.inf
    if censored is not None and censored.count:
        sure = censored.min
        stretches = [*stretches[:-1], with_censored(stretches[-1], censored)]
    whole = Histogram()
    for stretch in stretches:
        whole.add(stretch)
    found: dict[str, Bounds] = {}
    for name, q in PERCENTILES.items():
        value = percentile_ns(whole, q)
        if value is not None and value < sure:
            error = 100.0 * max(_error(stretches, value, above=a) for a in (True, False))
            high = whole.percentile(q + error) if q + error < 100.0 else math.inf
            low = whole.percentile(max(0.0, q - error)) / 1e3
            found[name] = low, high / 1e3 if high < sure else None
    return found


def _error(stretches: Sequence[Histogram], value: int, *, above: bool) -> float:
    """Return half the width of the interval of the share of operations above, or from, a value."""
    counts = [each.count for each in stretches]
    beyond = [_beyond(each, value + above) for each in stretches]
    n, m = sum(counts), len(stretches)
    share = sum(beyond) / n
    off = [over - share * count for over, count in zip(beyond, counts, strict=True)]
    square = sum(x * x for x in off)
    lags = round(m ** (1 / 3))
    for lag in range(1, lags + 1):
        weight = 1 - lag / (lags + 1)
        square += 2 * weight * sum(x * y for x, y in zip(off, off[lag:], strict=False))
    square = max(square * m / (m - 1), n * share * (1 - share))
    # Student's quantile of m - 1 degrees of freedom, by the first term of its expansion.
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    return (z + (z**3 + z) / (4 * (m - 1))) * math.sqrt(square) / n


def _beyond(histogram: Histogram, least: int) -> int:
    buckets = histogram.buckets()
    return sum(count for _, count in buckets[bisect_left(buckets, (least, 0)) :])

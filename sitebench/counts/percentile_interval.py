"""Confidence intervals of percentiles, from the spread of the tail over the window.

A percentile is a rank, so its error is the error of a share: the share of operations that take
longer than a value. The lower end is the largest value that almost certainly more than this share
of the operations exceed, the upper end the smallest value that almost certainly less than this
share exceed (test inversion).

Operations are not independent: a stall of 20 ms at 10,000/s is one event and 200 samples. So the
error of a share is estimated from the window's half seconds. Independent operations have binomial
counts. Variance above that comes from operations that are correlated over an unknown time. The
excess is estimated at all time scales, from differences between neighbours of half a second, of 1
s, 2 s and so on (Haar's wavelet), by the model of first-order autocorrelation beside independent
noise. Pairs of an excess and a correlation time are weighted by their likelihoods. A window of few
correlation times has no interval; the length of a sufficient window is returned instead.

The variance of the share equals that of a number of independent operations (Korn and Graubard
1998), whose binomial interval is Wilson's with continuity correction. This number of operations
times the share is the number of separate events beyond a value. With fewer than five events beyond
the upper end the interval is one-sided. The interval does not cover events that occur less than
once in a window.

Operations that were given up rank as in `counts.durations`; all are added to the last half second,
and so count as one event. No upper end is beyond the shortest time until an operation was given up,
and a percentile that is a lower bound has no interval.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul
from statistics import NormalDist

import msgspec

from sitebench._engine import Histogram
from sitebench.counts.durations import PERCENTILES, percentile_ns, with_censored
from sitebench.units import format_duration

_Z = NormalDist().inv_cdf(0.975)
"""Standard deviations of a 95 % interval."""

_LEAST_STRETCHES = 8
"""The least number of half seconds for an estimate of the spread."""

_LEAST_EVENTS = 5.0
"""The least number of events beyond the upper end of an interval."""

_LEAST_INDEPENDENT = 4.0
"""A window must be worth at least so many independent half seconds."""

_DOUBT = 0.5
"""The greatest allowed probability of fewer independent half seconds than `_LEAST_INDEPENDENT`."""

_WOULD_DO = 3.0
"""A window of this multiple of `_LEAST_INDEPENDENT` usually has an interval."""

_EXCESSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Hypotheses of the correlated variance, as a multiple of the independent variance."""

_INDEPENDENT = 0.2
"""Prior weight of the hypothesis without correlated variance. All other hypotheses together weigh
1, each in proportion to the square root of its correlation time. With equal weights, 16 of 100
intervals miss, in windows of 30 s with a correlation time of 10 s (simulated)."""

_NEGLIGIBLE = 1e-4

Bounds = tuple[float, float | None]
"""The ends of an interval in microseconds; a one-sided interval has no upper end."""


class Intervals(msgspec.Struct, frozen=True):
    bounds: Mapping[str, Bounds] = {}
    too_alike: Mapping[str, float] = {}
    """For a percentile without an interval: how many seconds a window would need for one, if known.
    """


def too_alike_to_tell(would_do_s: float) -> str:
    return f"half seconds too alike to tell, a window of {format_duration(would_do_s)} would do"


def percentile_intervals(
    stretches: Sequence[Histogram], censored: Histogram | None = None, *, stretch_s: float = 0.5
) -> Intervals:
    if len(stretches) < _LEAST_STRETCHES:
        return Intervals()
    never_answered_ns = math.inf
    if censored is not None and censored.count:
        never_answered_ns = censored.min
        stretches = [*stretches[:-1], with_censored(stretches[-1], censored)]
    window = _Window(stretches)
    bounds, too_alike = dict[str, Bounds](), dict[str, float]()
    for name, q in PERCENTILES.items():
        value = percentile_ns(window.whole, q)
        if value is None or value >= never_answered_ns:
            continue
        share, rank = 1 - q / 100, bisect_left(window.values, value)
        if (longer := window.spread(rank).would_do) is not None:
            too_alike[name] = _readable(stretch_s * longer)
            continue
        low, high = window.values[window.low(share, rank)], window.high(share, rank)
        sure = high is not None and high < never_answered_ns
        bounds[name] = low / 1e3, high / 1e3 if high is not None and sure else None
    return Intervals(bounds, too_alike)


class _Spread(msgspec.Struct, frozen=True):
    """The share of operations that take at least as long as a value, and its precision."""

    share: float
    independent: float
    """The number of independent operations whose share would have the same variance."""
    would_do: float | None = None
    """The half seconds of a sufficient window, if this window is too short for an interval."""

    @property
    def events(self) -> float:
        return self.share * self.independent


class _Window:
    def __init__(self, stretches: Sequence[Histogram]) -> None:
        self.whole = Histogram()
        self._values = list[list[int]]()
        self._beyond = list[list[int]]()
        """By half second, the operations that take at least as long as each value, and a last 0."""
        for stretch in stretches:
            self.whole.add(stretch)
            buckets = stretch.buckets()
            self._values.append([value for value, _ in buckets])
            sums = accumulate((count for _, count in reversed(buckets)), initial=0)
            self._beyond.append([*sums][::-1])
        self.values = [value for value, _ in self.whole.buckets()]
        self._counts = [stretch.count for stretch in stretches]
        self._spreads = dict[int, _Spread]()

    def spread(self, rank: int) -> _Spread:
        """Return the spread of the operations that take at least as long as the value of a rank."""
        if rank not in self._spreads:
            value = self.values[rank]
            pairs = zip(self._values, self._beyond, strict=True)
            self._spreads[rank] = _spread(
                [beyond[bisect_left(values, value)] for values, beyond in pairs], self._counts
            )
        return self._spreads[rank]

    def low(self, share: float, rank: int) -> int:
        """Return the rank at the lower end of an interval around `rank`, which `share` exceed."""
        first, last = 0, rank
        while first < last:
            middle = (first + last + 1) // 2
            spread = self.spread(middle)
            if _wilson(spread.share, spread.independent)[0] > share:
                first = middle
            else:
                last = middle - 1
        return first

    def high(self, share: float, rank: int) -> int | None:
        """Return the value at the upper end of the interval around `rank`; see `low`.

        None if too few separate events lie beyond the upper end.
        """
        first, last = rank, len(self.values)
        while first < last:
            middle = (first + last) // 2
            spread, exceeding = self.spread(middle), 0.0
            if middle + 1 < len(self.values):
                spread = self.spread(middle + 1)
                exceeding = spread.share
            if _wilson(exceeding, spread.independent)[1] < share:
                last = middle
            else:
                first = middle + 1
        if first == len(self.values) or self.spread(first).events < _LEAST_EVENTS:
            return None
        return self.values[first]


def _spread(beyond: Sequence[int], counts: Sequence[int]) -> _Spread:
    """Return the spread of the operations beyond a value, from their numbers by half second."""
    total, size = sum(counts), len(counts)
    share = sum(beyond) / total
    binomial = total * share * (1 - share)
    off = [part - share * count for part, count in zip(beyond, counts, strict=True)]
    square = sum(x * x for x in off)
    # The share is the same in all half seconds, except for rounding.
    if square < 1 or not binomial:
        return _Spread(share, total)
    energies = _energies(off)
    hypotheses = _hypotheses(size)
    freedom = sum(size // 2**n for n in range(1, size.bit_length()))
    variances, likelihoods = list[float](), list[float]()
    for hypothesis in hypotheses:
        noise = sum(map(mul, energies, hypothesis.precisions)) or 1e-9
        likelihoods.append(hypothesis.log_weight - freedom / 2 * math.log(noise))
        variances.append(max(noise / freedom * size, binomial) * hypothesis.whole)
    maximum = max(likelihoods)
    weights = [math.exp(likelihood - maximum) for likelihood in likelihoods]
    scale = sum(weights)
    mixture = [
        (weight / scale, variance)
        for weight, variance in zip(weights, variances, strict=True)
        if weight > _NEGLIGIBLE * scale
    ]
    # Student's quantile, by the first term of its expansion.
    student = _Z + (_Z**3 + _Z) / (4 * freedom)
    widening = _quantile(mixture) * student / _Z
    too_few = square * size / _LEAST_INDEPENDENT
    would_do = None
    if sum(weight for weight, variance in mixture if variance > too_few) > _DOUBT:
        usual = sum(weight * math.log(variance) for weight, variance in mixture)
        worth = square * size / math.exp(usual / sum(weight for weight, _ in mixture))
        would_do = max(2.0 * size, size * _WOULD_DO * _LEAST_INDEPENDENT / worth)
    return _Spread(share, min(total, total * binomial * (_Z / widening) ** 2), would_do)


class _Hypothesis(msgspec.Struct, frozen=True):
    """Variances for a correlated excess with a correlation time, relative to independent noise."""

    log_weight: float
    """The logarithm of the prior weight and of the likelihood's constant factor."""
    precisions: tuple[float, ...]
    """1 / variance of the differences, by time scale."""
    whole: float
    """The variance of the sum over the window, per half second."""


@lru_cache(maxsize=8)
def _hypotheses(size: int) -> tuple[_Hypothesis, ...]:
    scales = [2**n for n in range(size.bit_length() - 1)]
    times = [2**n for n in range(size.bit_length()) if 2**n <= size]
    weigh = sum(math.sqrt(time) for time in times) * len(_EXCESSES)
    priors = [(0.0, 1.0, _INDEPENDENT)]
    priors += [(e, time, math.sqrt(time) / weigh) for time in times for e in _EXCESSES]
    hypotheses = []
    for excess, time, prior in priors:
        r = math.exp(-1 / time)
        sums = {
            n: n * (1 + r) / (1 - r) - 2 * r * (1 - r**n) / (1 - r) ** 2
            for n in (*scales, 2 * scales[-1], size)
        }
        differences = [1 + excess * (4 * sums[n] - sums[2 * n]) / (2 * n) for n in scales]
        logs = [size // (2 * n) * math.log(v) for n, v in zip(scales, differences, strict=True)]
        hypotheses.append(
            _Hypothesis(
                math.log(prior) - sum(logs) / 2,
                tuple(1 / variance for variance in differences),
                1 + excess * sums[size] / size,
            )
        )
    return tuple(hypotheses)


def _energies(off: Sequence[float]) -> list[float]:
    """Return the sum of squares of the differences between neighbours, at each time scale."""
    energies = []
    while len(off) > 1:
        pairs = list(zip(off[::2], off[1::2], strict=False))
        energies.append(sum((x - y) ** 2 for x, y in pairs) / 2)
        off = [(x + y) * math.sqrt(0.5) for x, y in pairs]
    return energies


def _quantile(mixture: Sequence[tuple[float, float]]) -> float:
    """Return the two-sided 95 % quantile of a mixture of normals, each (weight, variance)."""
    scales = [(weight, math.sqrt(2 * variance)) for weight, variance in mixture]
    lower, upper = min(scale for _, scale in scales), 3 * max(scale for _, scale in scales)
    while upper - lower > 1e-3 * lower:
        middle = (lower + upper) / 2
        if sum(weight * math.erfc(middle / scale) for weight, scale in scales) > 0.05:
            lower = middle
        else:
            upper = middle
    return upper


def _readable(seconds: float) -> float:
    """Round up to tens of seconds, or to whole minutes."""
    unit = 10 if seconds <= 60 else 60
    return float(unit * math.ceil(seconds / unit))


def _wilson(share: float, n: float) -> tuple[float, float]:
    """Return the interval of a share of n independent operations, with continuity correction.

    With half an event or less beyond an end, that end is 0 or 1, because the correction exceeds the
    share (Newcombe 1998).
    """
    twice, square = 2 * n * share, _Z * _Z
    spread = 4 * share * n * (1 - share)
    below = _Z * math.sqrt(max(0.0, square - 1 / n + spread + 4 * share - 2)) + 1
    above = _Z * math.sqrt(max(0.0, square - 1 / n + spread - 4 * share + 2)) + 1
    scale = 2 * (n + square)
    low = max(0.0, twice + square - below) / scale if 2 * n * share > 1 else 0.0
    high = min(scale, twice + square + above) / scale if 2 * n * (1 - share) > 1 else 1.0
    return low, high

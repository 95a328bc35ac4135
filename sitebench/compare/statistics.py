"""Rank statistics of a few repeats, without assumptions about the distribution of the values.

Values are compared as logarithms by the callers, so that a shift is a ratio. Repeats are pairs (A
and B in turns, the first of each pair drawn at random): the estimate is the median of all means of
two differences, and two of these are its interval, cut by Wilcoxon's signed ranks. What slowed both
of a pair cancels out of their difference, and if nothing differs each sign is a coin flip: this
holds on a machine that drifts. Repeats that were measured apart have no such draw to rest on.

The distribution is exact: every equally likely choice of signs is counted. An interval is its test
inverted: without ties it excludes zero exactly if the test's p is at most alpha; with ties it is
wider, never narrower.

Lehmann, Nonparametrics (1975), chapters 3 and 4; Hollander and Wolfe, Nonparametric Statistical
Methods (1973), chapter 3.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence

import msgspec

_EXACT_UP_TO = 60
"""Up to this many values the distribution is counted exactly; beyond, it is taken as normal."""

_POWER = 0.80
"""Probability with which a difference that counts as detectable is found."""

_NORMAL = statistics.NormalDist()


class Shift(msgspec.Struct, frozen=True):
    """How far the second side is from the first; no bounds if there are too few values."""

    estimate: float
    low: float | None
    high: float | None

    @property
    def differs(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def pair_shift(differences: Sequence[float], alpha: float) -> Shift:
    """Return the shift of pairs, from their differences, with its interval."""
    n = len(differences)
    ordered = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    if n <= _EXACT_UP_TO:
        counts = _sign_sums(tuple(range(1, n + 1)))
        return _median_shift(ordered, _cut_count(counts, alpha))
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return _median_shift(ordered, _normal_cut(n * (n + 1) / 4, deviation, alpha))


def detectable(shift: Shift, alpha: float) -> float | None:
    """Return the shift that repeats as noisy as these would show with probability `_POWER`.

    A true shift as large as the reach of the interval is found every other time; the ratio of the
    normal quantiles scales that to `_POWER`.
    """
    if shift.low is None or shift.high is None:
        return None
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    return reach * (1 + _NORMAL.inv_cdf(_POWER) / _NORMAL.inv_cdf(1 - alpha / 2))


def least_pairs(alpha: float) -> int:
    """Return how many pairs are needed before a difference can be found."""
    return next(n for n in range(1, _EXACT_UP_TO) if 2 / 2**n <= alpha)


@functools.lru_cache(maxsize=256)
def _sign_sums(ranks: tuple[int, ...]) -> list[int]:
    """Count the ways to give every rank a sign, by the sum of the positive ones.

    The generating function prod(1 + x^rank) as one integer: its digits, in a base larger than any
    count, are the coefficients.
    """
    width, product = _width(len(ranks)), 1
    for rank in ranks:
        product += product << (rank * width * 8)
    return _digits(product, width, sum(ranks) + 1)


def _width(n: int) -> int:
    """Return bytes that hold 2**n, more than any count of n ranks."""
    return n // 8 + 1


def _digits(number: int, width: int, count: int) -> list[int]:
    raw = number.to_bytes(width * count, "little")
    return [
        int.from_bytes(raw[offset : offset + width], "little")
        for offset in range(0, len(raw), width)
    ]


def _cut_count(counts: Sequence[int], alpha: float) -> int:
    """Return how many differences to cut at each end; 0 if even the ends are too likely."""
    allowed, below, cut = alpha / 2 * sum(counts), 0, 0
    for count in counts:
        below += count
        if below > allowed:
            break
        cut += 1
    return cut


def _normal_cut(mean: float, deviation: float, alpha: float) -> int:
    return max(0, math.floor(mean + 0.5 + _NORMAL.inv_cdf(alpha / 2) * deviation))


def _median_shift(ordered: Sequence[float], cut: int) -> Shift:
    """Return the median, between the `cut`-th smallest and the `cut`-th largest."""
    estimate = statistics.median(ordered)
    if cut == 0:
        return Shift(estimate, None, None)
    return Shift(estimate, ordered[cut - 1], ordered[-cut])

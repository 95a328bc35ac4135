"""Rank statistics of a few repeats, without assumptions about the distribution of values.

The callers pass logarithms, so that a shift is a ratio. Repeats are pairs in random order
(docs/comparing.md). The estimate is the median of all means of two differences. Two of these means,
selected by Wilcoxon's signed ranks, are the ends of its interval.

The distribution is exact: every equally likely choice of signs is counted. An interval is the
inverse of its test: without ties it excludes zero exactly if the test's p is at most alpha; with
ties it is wider, never narrower.

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
"""Up to so many values the distribution is computed exactly; beyond, it is taken as normal."""

_POWER = 0.80
"""Probability of finding a difference that counts as detectable."""

_NORMAL = statistics.NormalDist()


class Shift(msgspec.Struct, frozen=True):
    """The shift of the second side; no bounds with too few values."""

    estimate: float
    low: float | None
    high: float | None


def pair_shift(differences: Sequence[float], alpha: float) -> Shift:
    """Return the shift of pairs, from their differences, with its interval."""
    n = len(differences)
    ordered = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    if n <= _EXACT_UP_TO:
        counts = _sign_sums(tuple(range(1, n + 1)))
        return _median_shift(ordered, _cut_count(counts, alpha))
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    cut = math.floor(n * (n + 1) / 4 + 0.5 + _NORMAL.inv_cdf(alpha / 2) * deviation)
    return _median_shift(ordered, max(0, cut))


def detectable(shift: Shift, alpha: float) -> float | None:
    """Return the shift that repeats with this noise would show with probability `_POWER`.

    If the true shift is as large as the longer arm of the interval, half of all comparisons find
    it. The ratio of normal quantiles scales this shift to `_POWER`.
    """
    if shift.low is None or shift.high is None:
        return None
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    return reach * (1 + _NORMAL.inv_cdf(_POWER) / _NORMAL.inv_cdf(1 - alpha / 2))


def least_pairs(alpha: float) -> int:
    """Return the least number of pairs that can show a difference."""
    return next(n for n in range(1, _EXACT_UP_TO) if 2 / 2**n <= alpha)


@functools.lru_cache(maxsize=256)
def _sign_sums(ranks: tuple[int, ...]) -> list[int]:
    """Count the ways to sign all ranks, by the sum of the positive ones.

    The generating function prod(1 + x^rank) is one integer: in a base larger than any count, its
    digits are the coefficients.
    """
    width, product = len(ranks) // 8 + 1, 1  # `width` bytes hold 2**n, more than any count.
    for rank in ranks:
        product += product << (rank * width * 8)
    digits = product.to_bytes(width * (sum(ranks) + 1), "little")
    return [int.from_bytes(digits[n : n + width], "little") for n in range(0, len(digits), width)]


def _cut_count(counts: Sequence[int], alpha: float) -> int:
    """Return how many means from either end are outside the interval; 0 with too few pairs."""
    allowed, below, cut = alpha / 2 * sum(counts), 0, 0
    for count in counts:
        below += count
        if below > allowed:
            break
        cut += 1
    return cut


def _median_shift(ordered: Sequence[float], cut: int) -> Shift:
    estimate = statistics.median(ordered)
    if cut == 0:
        return Shift(estimate, None, None)
    return Shift(estimate, ordered[cut - 1], ordered[-cut])

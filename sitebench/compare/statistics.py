"""Rank statistics of a few repeats: no assumption about how measurements are distributed.

Values are compared as logarithms by the callers, so that a shift is a ratio. Two designs:

- *two groups* (A measured, then B): Mann-Whitney's U, and Hodges and Lehmann's shift, the median
  of all differences b - a, enclosed by two of these differences in order;
- *pairs* (A and B one after the other, which comes first decided by lot): Wilcoxon's signed
  ranks, and the median of all means of two differences, enclosed by two of these in order.
  Whatever made both of a pair slow is gone from their difference, and under no difference each
  sign is a coin that was thrown: this holds on a machine that drifts, where Mann-Whitney does not.

Exact means: every arrangement that was as likely as the one found is counted, ties as they are
(midranks). The intervals are the tests turned round: without ties, an interval excludes zero
exactly where the test's p is at most its alpha; with ties it is wider, never narrower.

Lehmann, Nonparametrics (1975), chapters 1 to 4; Hollander and Wolfe, Nonparametric Statistical
Methods (1973), chapters 3 and 4.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

EXACT_UP_TO = 60
"""Values that are counted exactly; beyond, ranks are as normal as p is printed."""

POWER = 0.80
"""How often a difference that counts as detectable would be found: four times in five."""

_NORMAL = statistics.NormalDist()


@dataclass(frozen=True)
class RankTest:
    """A test's statistic and its two-sided p; `exact` or by the normal approximation."""

    statistic: float
    p: float
    exact: bool


@dataclass(frozen=True)
class Shift:
    """How far the second is from the first; no bounds where there are too few values for any."""

    estimate: float
    low: float | None
    high: float | None

    @property
    def differs(self) -> bool:
        """Whether zero is outside the interval."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> RankTest:
    """Test whether values of one group tend to be larger; the statistic is U of `b`."""
    n, m = len(b), len(a)
    ranks = _doubled_ranks([*a, *b])
    total = sum(ranks[m:])
    u = total / 2 - n * (n + 1) / 2
    if n + m <= EXACT_UP_TO:
        return RankTest(u, _two_sided(_rank_sums(tuple(sorted(ranks)), n), total), exact=True)
    ties = sum(t**3 - t for t in _ties(ranks)) / ((n + m) * (n + m - 1))
    deviation = math.sqrt(n * m / 12 * (n + m + 1 - ties))
    return RankTest(u, _normal_p(abs(u - n * m / 2), deviation), exact=False)


def signed_rank(differences: Sequence[float]) -> RankTest:
    """Test whether differences lie as much above zero as below; the statistic is the sum above.

    Differences of exactly zero say nothing about the direction and are left out.
    """
    told = [d for d in differences if d]
    n, ranks = len(told), _doubled_ranks([abs(d) for d in told])
    total = sum(rank for rank, d in zip(ranks, told, strict=True) if d > 0)
    if n <= EXACT_UP_TO:
        return RankTest(total / 2, _two_sided(_sign_sums(tuple(sorted(ranks))), total), exact=True)
    ties = sum(t**3 - t for t in _ties(ranks)) / 48
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties)
    return RankTest(total / 2, _normal_p(abs(total / 2 - n * (n + 1) / 4), deviation), exact=False)


def group_shift(a: Sequence[float], b: Sequence[float], alpha: float) -> Shift:
    """Return Hodges and Lehmann's shift from `a` to `b` with its interval."""
    n, m = len(a), len(b)
    ordered = sorted(y - x for x in a for y in b)
    if n + m <= EXACT_UP_TO:
        # The least rank sum is that of U = 0; ranks here are doubled, as everywhere.
        counts = _rank_sums(tuple(range(2, 2 * (n + m) + 1, 2)), n)[n * (n + 1) :: 2]
        return _enclosed(ordered, _cut(counts, alpha))
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    return _enclosed(ordered, _normal_cut(n * m / 2, deviation, alpha))


def pair_shift(differences: Sequence[float], alpha: float) -> Shift:
    """Return the shift of pairs, from their differences, with its interval."""
    n = len(differences)
    ordered = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    if n <= EXACT_UP_TO:
        counts = _sign_sums(tuple(range(2, 2 * n + 1, 2)))[::2]
        return _enclosed(ordered, _cut(counts, alpha))
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return _enclosed(ordered, _normal_cut(n * (n + 1) / 4, deviation, alpha))


def detectable(shift: Shift, alpha: float) -> float | None:
    """Return the shift that repeats as noisy as these would show four times in five.

    A true shift as large as the interval reaches from its estimate is found every other time;
    `POWER` asks for more by the ratio of the normal quantiles.
    """
    if shift.low is None or shift.high is None:
        return None
    reach = max(shift.high - shift.estimate, shift.estimate - shift.low)
    return reach * (1 + _NORMAL.inv_cdf(POWER) / _NORMAL.inv_cdf(1 - alpha / 2))


def least_groups(alpha: float) -> int:
    """Return how many values each of two groups needs before they can differ at all."""
    return next(n for n in range(1, EXACT_UP_TO) if 2 / math.comb(2 * n, n) <= alpha)


def least_pairs(alpha: float) -> int:
    """Return how many pairs are needed before they can differ at all."""
    return next(n for n in range(1, EXACT_UP_TO) if 2 / 2**n <= alpha)


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value: whole numbers, although ties share the middle."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, first = [0] * len(values), 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in order[first : last + 1]:
            ranks[place] = first + last + 2
        first = last + 1
    return ranks


def _ties(ranks: Sequence[int]) -> list[int]:
    """Return how many values share each rank."""
    return [ranks.count(rank) for rank in set(ranks)]


@functools.lru_cache(maxsize=256)
def _rank_sums(ranks: tuple[int, ...], chosen: int) -> list[int]:
    """Count the ways to choose that many of the ranks, by their sum.

    The generating function prod(1 + y x^rank), kept per power of y as one whole number: its
    digits, in a base that no count reaches, are the coefficients.
    """
    width = _width(len(ranks))
    powers = [1] + [0] * chosen
    for seen, rank in enumerate(ranks):
        for k in range(min(chosen, seen + 1), 0, -1):
            powers[k] += powers[k - 1] << (rank * width * 8)
    return _digits(powers[chosen], width, sum(ranks) + 1)


@functools.lru_cache(maxsize=256)
def _sign_sums(ranks: tuple[int, ...]) -> list[int]:
    """Count the ways to give every rank a sign, by the sum of the positive ones."""
    width, product = _width(len(ranks)), 1
    for rank in ranks:
        product += product << (rank * width * 8)
    return _digits(product, width, sum(ranks) + 1)


def _width(n: int) -> int:
    """Return bytes that hold 2**n, more than any count of n ranks."""
    return n // 8 + 1


def _digits(number: int, width: int, count: int) -> list[int]:
    raw = number.to_bytes(width * count, "little")
    return [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]


def _two_sided(counts: Sequence[int], found: int) -> float:
    """Return twice the smaller tail, the found value in both."""
    smaller = min(sum(counts[: found + 1]), sum(counts[found:]))
    return min(1.0, 2 * smaller / sum(counts))


def _normal_p(distance: float, deviation: float) -> float:
    """Return the two-sided p of a whole-numbered statistic, half a step nearer to its mean."""
    if not deviation:
        return 1.0
    return min(1.0, 2 * _NORMAL.cdf(-max(0.0, distance - 0.5) / deviation))


def _cut(counts: Sequence[int], alpha: float) -> int:
    """Return how many differences to leave out at each end; 0 where the ends say too little."""
    allowed, below, cut = alpha / 2 * sum(counts), 0, 0
    for count in counts:
        below += count
        if below > allowed:
            break
        cut += 1
    return cut


def _normal_cut(mean: float, deviation: float, alpha: float) -> int:
    return max(0, math.floor(mean + 0.5 + _NORMAL.inv_cdf(alpha / 2) * deviation))


def _enclosed(ordered: Sequence[float], cut: int) -> Shift:
    """Return the median, between the `cut`-th smallest and the `cut`-th largest."""
    estimate = statistics.median(ordered)
    if cut == 0:
        return Shift(estimate, None, None)
    return Shift(estimate, ordered[cut - 1], ordered[-cut])

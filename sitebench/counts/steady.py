"""Whether throughput had settled: a slope test over the measured window and its parts.

The window is cut into slots of about half a second. The slope of their rates is Theil and Sen's,
the median of all pairs' slopes: one slot lost to another process does not move it. Its significance
is Mann and Kendall's, with the variance inflated by the autocorrelation of neighbouring slots (a
busy machine is busy for seconds at a time) that remains after a rise or a fall of any shape is
taken out.

A window is unsettled when its rate drifts by more than `_DRIFT` and that is significant, over the
whole window or over one of the half windows that roll over it: a window that begins before the
target is warm has a steady end and no steady mean. A larger drift that is not significant means
that the window is too short to tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, pairwise
from statistics import NormalDist, median

MIN_SLOTS = 8
"""With fewer slots only a strictly monotone series is significant."""

_DRIFT = 0.05
"""A change within the window that is as large as what comparisons are to find: 5 %."""

_FALSE_ALARM_RATE = 0.003
"""Three sigmas: how often a steady target may be called unsettled, all spans of a window together.
With an autocorrelation of 0.5 it is up to 5 % (simulated)."""

_SHORTEST_S = 0.4
"""Shorter drains are merged: those at a phase's ends last milliseconds."""

_MAX_SLOTS = 240
"""Longer windows have longer slots: the slope takes all pairs of slots."""

_MAX_AUTOCORRELATION = 0.9
"""Estimates are capped here; beyond it no drift would be significant."""


class Steadiness(StrEnum):
    """Whether the rate of a window was steady, as far as its length shows it."""

    SETTLED = "settled"
    UNSETTLED = "unsettled"
    TOO_SHORT = "too-short"


@dataclass(frozen=True)
class Settled:
    """Whether a window was steady; the slope is its change from end to end, in percent."""

    state: str
    evidence: str
    slope_percent: float | None = None


@dataclass(frozen=True)
class _Drift:
    """Drift of one span: its change as a share of the median rate, and the p-value of that."""

    begin_s: float
    end_s: float
    change: float
    chance: float


def settle(drains: Iterable[tuple[float, int]]) -> Settled:
    """Judge consecutive drains, each (seconds, operations)."""
    rates = list(_rates(drains))
    if len(rates) < MIN_SLOTS:
        evidence = f"{len(rates)} half seconds are too few to tell a drift from chance"
        return Settled(Steadiness.TOO_SHORT, f"{evidence} ({MIN_SLOTS} are enough)")
    if not median(rate for _, _, rate in rates):
        return Settled(Steadiness.TOO_SHORT, "in most half seconds no operation ended")
    spans = list(_spans(len(rates)))
    drifts = [_drift(rates[first:last]) for first, last in spans]
    moved = [
        d for d in drifts if abs(d.change) > _DRIFT and d.chance < _FALSE_ALARM_RATE / len(spans)
    ]
    if moved:
        worst = max(moved, key=lambda drift: abs(drift.change))
        return Settled(Steadiness.UNSETTLED, f"{_change(worst)}: it drifts", worst.change * 100)
    whole = drifts[0]
    if abs(whole.change) > _DRIFT:
        evidence = f"{_change(whole)}: too few half seconds to tell that from chance"
        return Settled(Steadiness.TOO_SHORT, evidence, whole.change * 100)
    return Settled(
        Steadiness.SETTLED, f"{_change(whole)}: {_DRIFT:.0%} is allowed", whole.change * 100
    )


def _change(drift: _Drift) -> str:
    return (
        f"throughput changed by {drift.change:+.1%} between seconds {drift.begin_s:.1f} and "
        f"{drift.end_s:.1f} of the window (p = {drift.chance:.2g})"
    )


def _rates(drains: Iterable[tuple[float, int]]) -> Iterator[tuple[float, float, float]]:
    """Merge drains into slots, and yield each as (begin, end, rate)."""
    drains = list(drains)
    least = max(_SHORTEST_S, sum(seconds for seconds, _ in drains) / _MAX_SLOTS)
    begin = end = 0.0
    operations = 0
    for seconds, count in drains:
        end += seconds
        operations += count
        if end - begin >= least:
            yield begin, end, operations / (end - begin)
            begin, operations = end, 0
    if end - begin >= least / 2:
        yield begin, end, operations / (end - begin)


def _spans(n: int) -> Iterator[tuple[int, int]]:
    """Yield the whole window, then half windows at every quarter, if they have enough slots."""
    yield 0, n
    if n // 2 >= MIN_SLOTS:
        for quarter in range(3):
            first = quarter * n // 4
            yield first, first + n // 2


def _drift(rates: Sequence[tuple[float, float, float]]) -> _Drift:
    at = [(begin + end) / 2 for begin, end, _ in rates]
    y = [rate for _, _, rate in rates]
    pairs = list(combinations(range(len(y)), 2))
    slope = median((y[j] - y[i]) / (at[j] - at[i]) for i, j in pairs)
    rises = sum((y[j] > y[i]) - (y[j] < y[i]) for i, j in pairs)
    trend = _monotone(y if slope > 0 else [-value for value in y])
    rest = [abs(value) - abs(fit) for value, fit in zip(y, trend, strict=True)]
    spread = math.sqrt(_variance(y) * _variance_inflation(rest))
    # Continuity correction: the sum changes in steps of two.
    score = max(0, abs(rises) - 1) / spread if spread else 0.0
    begin_s, end_s = rates[0][0], rates[-1][1]
    change = slope * (end_s - begin_s) / (median(y) or math.inf)
    return _Drift(begin_s, end_s, change, 2 * (1 - NormalDist().cdf(score)))


def _variance(values: Sequence[float]) -> float:
    """Return the variance of Kendall's sum without a trend, corrected for ties."""
    ties: dict[float, int] = {}
    for value in values:
        ties[value] = ties.get(value, 0) + 1
    n = len(values)
    return (_term(n) - sum(_term(tied) for tied in ties.values())) / 18


def _term(n: int) -> int:
    return n * (n - 1) * (2 * n + 5)


def _monotone(values: Sequence[float]) -> list[float]:
    """Return the isotonic regression, by pooling adjacent violators."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, size = value, 1
        while pools and pools[-1][0] >= mean:
            before, members = pools.pop()
            mean, size = (before * members + mean * size) / (members + size), members + size
        pools.append((mean, size))
    return [mean for mean, size in pools for _ in range(size)]


def _variance_inflation(rest: Sequence[float]) -> float:
    """Return the factor on the variance that the autocorrelation of neighbours asks for."""
    mean = sum(rest) / len(rest)
    residuals = [value - mean for value in rest]
    square = sum(value * value for value in residuals)
    if not square:
        return 1.0
    # Of few values the estimate is too low (Kendall's correction of the bias).
    n = len(rest)
    estimate = (n * sum(a * b for a, b in pairwise(residuals)) / square + 1) / (n - 3)
    r = min(_MAX_AUTOCORRELATION, estimate)
    return max(1.0, (1 + r) / (1 - r))

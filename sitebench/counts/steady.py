"""Whether throughput had settled: a slope test over the measured window and its parts.

The slope is Theil and Sen's, the median of all pairs' slopes: one half second lost to another
process does not move it. Its significance is Mann and Kendall's, with the variance widened where
neighbouring half seconds resemble each other (a busy machine is busy for seconds at a time)
beyond what a rise or a fall of any shape explains.

A window is unsettled when it drifts by more than `DRIFT` beyond chance, as a whole or in one of
the halves that roll over it: a window that begins before the target is warm has a steady end and
no steady mean. One that changed by more, and perhaps by chance, is too short to tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, pairwise
from statistics import NormalDist, median

LEAST = 8
"""Fewer half seconds cannot tell a slope from chance, unless it is all there is."""

DRIFT = 0.05
"""A change within the window that would hide what comparisons are to find, 5 %."""

CHANCE = 0.003
"""How often chance alone may call a steady target unsettled, all windows looked at together: three
sigmas. Neighbours that resemble each other by a half make it up to 5 % (simulated)."""

SHORTEST_S = 0.4
"""Drains closer together than this count as one: those at a phase's ends are milliseconds."""

MOST = 240
"""More points than this are taken together: all pairs are looked at."""

ALIKE = 0.9
"""The highest resemblance of neighbours reckoned with; beyond it nothing would be significant."""


class State(StrEnum):
    """What can be said of a window."""

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
    """How one stretch drifted: its change as a share of the median rate, and the odds of that."""

    begin_s: float
    end_s: float
    change: float
    chance: float


def settle(drains: Iterable[tuple[float, int]]) -> Settled:
    """Judge consecutive drains, each (seconds, operations)."""
    rates = list(_rates(drains))
    if len(rates) < LEAST:
        said = (
            f"{len(rates)} half seconds are too few to tell a slope from chance ({LEAST} are not)"
        )
        return Settled(State.TOO_SHORT, said)
    if not median(rate for _, _, rate in rates):
        return Settled(State.TOO_SHORT, "operations took longer than the half seconds looked at")
    spans = list(_spans(len(rates)))
    drifts = [_drift(rates[first:last]) for first, last in spans]
    moved = [d for d in drifts if abs(d.change) > DRIFT and d.chance < CHANCE / len(spans)]
    if moved:
        worst = max(moved, key=lambda drift: abs(drift.change))
        return Settled(State.UNSETTLED, f"{_said(worst)}: it drifts", worst.change * 100)
    whole = drifts[0]
    if abs(whole.change) > DRIFT:
        said = f"{_said(whole)}: too few half seconds to tell that from chance"
        return Settled(State.TOO_SHORT, said, whole.change * 100)
    return Settled(State.SETTLED, f"{_said(whole)}: {DRIFT:.0%} is allowed", whole.change * 100)


def _said(drift: _Drift) -> str:
    return (
        f"throughput changed by {drift.change:+.1%} between seconds {drift.begin_s:.1f} and "
        f"{drift.end_s:.1f} of the window (p = {drift.chance:.2g})"
    )


def _rates(drains: Iterable[tuple[float, int]]) -> Iterator[tuple[float, float, float]]:
    """Yield (begin, end, rate) of stretches long enough, and few enough."""
    drains = list(drains)
    least = max(SHORTEST_S, sum(seconds for seconds, _ in drains) / MOST)
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
    """Yield the whole, then halves that roll over it by quarters, where they are long enough."""
    yield 0, n
    if n // 2 >= LEAST:
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
    spread = math.sqrt(_variance(y) * _widening(rest))
    # A step towards zero: the sum moves in steps of two.
    score = max(0, abs(rises) - 1) / spread if spread else 0.0
    begin_s, end_s = rates[0][0], rates[-1][1]
    change = slope * (end_s - begin_s) / (median(y) or math.inf)
    return _Drift(begin_s, end_s, change, 2 * (1 - NormalDist().cdf(score)))


def _variance(values: Sequence[float]) -> float:
    """Return the variance of Kendall's sum by chance alone, equal values considered."""
    ties: dict[float, int] = {}
    for value in values:
        ties[value] = ties.get(value, 0) + 1
    n = len(values)
    return (_term(n) - sum(_term(tied) for tied in ties.values())) / 18


def _term(n: int) -> int:
    return n * (n - 1) * (2 * n + 5)


def _monotone(values: Sequence[float]) -> list[float]:
    """Return the rising values closest to these, whatever the shape of the rise."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, size = value, 1
        while pools and pools[-1][0] >= mean:
            before, members = pools.pop()
            mean, size = (before * members + mean * size) / (members + size), members + size
        pools.append((mean, size))
    return [mean for mean, size in pools for _ in range(size)]


def _widening(rest: Sequence[float]) -> float:
    """Return how much wider chance spreads where neighbours resemble each other."""
    mean = sum(rest) / len(rest)
    apart = [value - mean for value in rest]
    square = sum(value * value for value in apart)
    if not square:
        return 1.0
    # Few values look less alike than they are (Kendall's correction of the bias).
    n = len(rest)
    alike = (n * sum(a * b for a, b in pairwise(apart)) / square + 1) / (n - 3)
    alike = min(ALIKE, alike)
    return max(1.0, (1 + alike) / (1 - alike))

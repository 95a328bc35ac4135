"""Whether throughput had settled: a slope test over the measured window and its parts.

docs/method.md ("Steady state") has the rules. The slope of the rates of half-second slots is Theil
and Sen's: the median slope of all pairs of slots, which a single slot disturbed by another process
does not move. The significance of a slope depends on the autocorrelation of the rates. It is
estimated from the differences of neighbours, after removal of a monotone trend: if slots are
independent, a rise tends to be followed by a fall; in a random walk it does not. With few slots the
estimate is rounded up, in the target's favour.

Halves of the window are tested too, because a window that begins before the target is warm has a
steady end and no steady mean.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, combinations, pairwise
from statistics import NormalDist, median

import msgspec

from sitebench.counts.queue import LEAST_SHARE
from sitebench.units import format_ns, format_rate

MIN_SLOTS = 8
"""Least number of slots: with fewer slots, only a strictly monotone series is significant."""

MOST_WINDOWS = 3
"""The greatest length of a lengthened window, as a multiple of the default."""

_DRIFT = 0.05
"""The smallest change of the rate within a window that makes the window unsettled: 5 %."""

_LATENCY_DRIFT = 0.25
"""The smallest change of latency that makes a window unsettled. If the target is 80 % busy,
operations that cost 5 % more cause this change."""

_LATENCY_DOUBT = 1.0
"""A change of latency that is not significant makes the window too short only if the latency
doubled or halved. Smaller changes occur in most windows if the target is nearly saturated."""

_FALSE_ALARM_RATE = 0.002
"""The probability that a steady target is called unsettled, for its rate and again for its latency;
up to 4 % if slots have an autocorrelation of 0.95 (simulated)."""

_DOUBT = 4.0
"""Standard errors, 1 / sqrt(slots), that are added to the estimate of the autocorrelation."""

_SMOOTH = 3
"""Slots on each side over which the trend is smoothed, so that it follows chance less."""

_SHORTEST_S = 0.4
"""Shorter drains are merged, because the drains at the ends of a phase last milliseconds."""

_MAX_SLOTS = 240
"""Longer windows have longer slots, because the slope is computed from all pairs."""

_Slot = tuple[float, float, float]
"""A slot's begin and end in seconds, and its value."""


class Steadiness(StrEnum):
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    GROWING = "growing"
    """The queue of an open schedule was growing."""
    TOO_SHORT = "too-short"
    STAGED = "staged"
    """The load changed by stages, so nothing was tested."""


class Settled(msgspec.Struct, frozen=True):
    state: str
    evidence: str
    slope_percent: float | None = None
    """The change from begin to end, in percent of the median; an early fall can exceed 100 %."""


class _Drift(msgspec.Struct, frozen=True):
    """The drift of a part of the window."""

    begin_s: float
    end_s: float
    first: float
    """The value of the fitted line at `begin_s`, a rate or nanoseconds; never below 0."""
    last: float
    """The value of the fitted line at `end_s`."""
    change: float
    """The change from `first` to `last`, relative to the median."""
    chance: float
    """The p-value of the drift."""


class _Series:
    """The slots of a window, tested for a drift."""

    def __init__(
        self,
        name: str,
        slots: Sequence[_Slot],
        limit: float,
        doubt: float,
        *,
        logarithms: bool = False,
    ) -> None:
        self._name, self._limit, self._doubt = name, limit, doubt
        self._logarithms = logarithms
        spans = list(_spans(len(slots)))
        drifts = [_drift(slots[first:last], logarithms=logarithms) for first, last in spans]
        self.whole = drifts[0]
        self.allowed = _FALSE_ALARM_RATE / len(spans)
        moved = [d for d in drifts if self._larger(d, limit) and d.chance < self.allowed]
        self.worst = max(moved, key=lambda drift: abs(drift.change), default=None)

    @property
    def may_be_chance(self) -> bool:
        """Whether the change over the whole window is too large to ignore, but may be chance."""
        return self._larger(self.whole, self._doubt)

    @property
    def drifting(self) -> str:
        """The worst drift in words, with the values at both its ends."""
        if (drift := self.worst) is None:
            return ""
        verb = "rose" if drift.change > 0 else "fell"
        return (
            f"{self._name} {verb} from about {self._format(drift.first)} to "
            f"{self._format(drift.last)} between seconds {drift.begin_s:.1f} and {drift.end_s:.1f} "
            f"of the window (p = {drift.chance:.2g}): it drifts"
        )

    @property
    def wandering(self) -> str:
        """The evidence for a window too short to tell whether a change is a drift or chance."""
        chance, allowed = 100 * self.whole.chance, 100 * self.allowed
        return (
            f"{self._name} of half seconds differs so much that a steady one looks like this in "
            f"{chance:.2g}% of windows; below {allowed:.2g}% it is a drift"
        )

    @property
    def steady(self) -> str:
        if self._larger(self.whole, self._limit):
            return f"{self._name} changed by no more than chance explains"
        return f"{self._name} changed by less than {self._limit:.0%}, which is allowed"

    def _format(self, value: float) -> str:
        if self._logarithms:
            return format_ns(value)
        return f"{format_rate(float(f'{value:.3g}'))}/s"

    def _larger(self, drift: _Drift, limit: float) -> bool:
        """Whether the change of a drift exceeds `limit`, up or down.

        For logarithms, a fall by the factor 1 + `limit` is as large as a rise by this factor.
        """
        fall = 1 / (1 + limit) - 1 if self._logarithms else -limit
        return not fall <= drift.change <= limit


def settle(
    drains: Iterable[tuple[float, int]],
    queue: Sequence[int] = (),
    waited_ns: Sequence[float] = (),
) -> Settled:
    """Judge whether the rate settled, from consecutive drains, each (seconds, operations).

    For an open schedule, `queue` has the queue's length at the end of each drain, and `waited_ns`
    the sum of the latencies of the drain's operations.
    """
    drains = list(drains)
    rates = list(_rates(drains))
    if len(rates) < MIN_SLOTS:
        evidence = f"{len(rates)} of the {MIN_SLOTS} half seconds that tell a drift from chance"
        return Settled(Steadiness.TOO_SHORT, f"it has {evidence}")
    if not median(rate for _, _, rate in rates):
        return Settled(Steadiness.TOO_SHORT, "in most half seconds no operation ended")
    if queue and (grown := _growth(drains, queue)):
        return Settled(Steadiness.GROWING, grown)
    # On an open schedule the throughput is the rate of random arrivals, so it is not tested.
    series = [] if queue else [_Series("the rate", rates, _DRIFT, _DRIFT)]
    latencies = _latencies([seconds for seconds, _ in drains], rates, waited_ns)
    if len(latencies) >= MIN_SLOTS:
        series.append(
            _Series("the mean latency", latencies, _LATENCY_DRIFT, _LATENCY_DOUBT, logarithms=True)
        )
    for one in series:
        if one.worst is not None:
            return Settled(Steadiness.UNSETTLED, one.drifting, one.worst.change * 100)
    for one in series:
        if one.may_be_chance:
            return Settled(Steadiness.TOO_SHORT, one.wandering, one.whole.change * 100)
    evidence, change = "the queue did not grow, and latencies are too few to test", None
    for one in series:
        evidence, change = one.steady, one.whole.change * 100
    return Settled(Steadiness.SETTLED, evidence, change)


def _growth(drains: Sequence[tuple[float, int]], queue: Sequence[int]) -> str:
    ends = list(accumulate(seconds for seconds, _ in drains))
    slots = [(begin, end, float(queue[bisect_left(ends, end)])) for begin, end, _ in _rates(drains)]
    drift, usual = _drift(slots), median(length for _, _, length in slots)
    grown, answered = drift.change * usual, sum(operations for _, operations in drains)
    if drift.chance >= _FALSE_ALARM_RATE or grown <= LEAST_SHARE * (answered + grown):
        return ""
    return (
        f"the operations that were due and not answered became {grown:,.0f} more, "
        f"{grown / (answered + grown):.1%} of those that were due (p = {drift.chance:.2g}): "
        "so latency grows with the length of the window"
    )


def _latencies(
    seconds: Sequence[float], rates: Sequence[_Slot], waited_ns: Sequence[float]
) -> list[_Slot]:
    """Return the logarithm of the mean latency of each slot in which operations ended."""
    waited = _rates(zip(seconds, waited_ns, strict=False))
    pairs = zip(rates, waited, strict=False)
    return [
        (begin, end, math.log(ns) - math.log(rate))
        for (begin, end, rate), (*_, ns) in pairs
        if rate and ns
    ]


def _rates(drains: Iterable[tuple[float, float]]) -> Iterator[_Slot]:
    """Merge drains into slots, and yield each as (begin, end, rate)."""
    drains = list(drains)
    least = max(_SHORTEST_S, sum(seconds for seconds, _ in drains) / _MAX_SLOTS)
    begin = end = operations = 0.0
    for seconds, count in drains:
        end += seconds
        operations += count
        if end - begin >= least:
            yield begin, end, operations / (end - begin)
            begin, operations = end, 0.0
    if end - begin >= least / 2:
        yield begin, end, operations / (end - begin)


def _spans(n: int) -> Iterator[tuple[int, int]]:
    """Yield the whole window, and halves that begin at its quarters, unless they are too short."""
    yield 0, n
    if n // 2 >= MIN_SLOTS:
        for quarter in range(3):
            first = quarter * n // 4
            yield first, first + n // 2


def _drift(rates: Sequence[_Slot], *, logarithms: bool = False) -> _Drift:
    middles = [(begin + end) / 2 for begin, end, _ in rates]
    y = [rate for _, _, rate in rates]
    pairs = list(combinations(range(len(y)), 2))
    slope = median((y[j] - y[i]) / (middles[j] - middles[i]) for i, j in pairs)
    trend = _smooth(_monotone(y) if slope > 0 else [-fit for fit in _monotone([-v for v in y])])
    wander = _wander([value - fit for value, fit in zip(y, trend, strict=True)], middles)
    begin_s, end_s = rates[0][0], rates[-1][1]
    moved = slope * (end_s - begin_s)
    change = math.expm1(min(moved, 100.0)) if logarithms else moved / (median(y) or math.inf)
    score = abs(slope) / wander if wander else math.inf if slope else 0.0
    height = median(value - slope * t for value, t in zip(y, middles, strict=True))
    line = [height + slope * begin_s, height + slope * end_s]
    first, last = (math.exp(min(v, 100.0)) if logarithms else max(v, 0.0) for v in line)
    return _Drift(begin_s, end_s, first, last, change, 2 * (1 - NormalDist().cdf(score)))


def _wander(rest: Sequence[float], middles: Sequence[float]) -> float:
    """Return the standard deviation of the slope, given the autocorrelation of `rest`.

    With a first-order autocorrelation r, the mean square of the difference of values k slots apart
    is V(k) = V(1) (1 - r^k) / (1 - r). The weights of the slope add up to 0, so the variance of the
    slope follows from V alone.
    """
    steps = [following - value for value, following in pairwise(rest)]
    square = sum(step * step for step in steps)
    if not square:
        return 0.0
    taken_back = sum(a * b for a, b in pairwise(steps)) / square
    correlation = min(1.0, max(0.0, 1 + 2 * taken_back + _DOUBT / math.sqrt(len(rest))))
    middle = sum(middles) / len(middles)
    spread = sum((t - middle) ** 2 for t in middles)
    weights = [(t - middle) / spread for t in middles]
    variance = apart = 0.0
    for lag in range(1, len(rest)):
        apart += correlation ** (lag - 1)
        variance -= apart * sum(a * b for a, b in zip(weights, weights[lag:], strict=False))
    return math.sqrt(max(0.0, variance * square / len(steps)))


def _smooth(values: Sequence[float]) -> list[float]:
    """Return means of values and their neighbours, equally many on both sides."""
    reach = [min(_SMOOTH, n, len(values) - 1 - n) for n in range(len(values))]
    return [sum(values[n - k : n + k + 1]) / (2 * k + 1) for n, k in enumerate(reach)]


def _monotone(values: Sequence[float]) -> list[float]:
    """Return the isotonic regression, by pooling adjacent violators."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, size = value, 1
        while pools and pools[-1][0] >= mean:
            earlier, members = pools.pop()
            mean, size = (earlier * members + mean * size) / (members + size), members + size
        pools.append((mean, size))
    return [mean for mean, size in pools for _ in range(size)]

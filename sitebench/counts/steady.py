"""Whether throughput had settled: a slope test over the measured window and its parts.

The window is cut into slots of about half a second. The slope of their rates is Theil and Sen's,
the median of all pairs' slopes: one slot lost to another process does not move it. Whether chance
makes such a slope depends on how far rates wander by themselves: a busy machine is busy for seconds
at a time, and rates that follow each other closely go far without a cause. How they wander is read
from the steps between neighbours, after a rise or a fall of any shape is taken out: how large they
are, and how much of one is taken back by the next. All of it is taken back where slots are
independent, nothing where each goes on from the last. Few slots tell that badly, so the benefit of
the doubt is the target's.

A window is unsettled when its rate drifts by more than `_DRIFT` and that is significant, over the
whole window or over one of the half windows that roll over it: a window that begins before the
target is warm has a steady end and no steady mean. A larger drift that is not significant means
that the window is too short to tell; one whose length was not given is made longer
(`locust.role_local`).

On an open schedule throughput stays steady whatever the target does, and latency shows it. So the
mean latency of the slots is tested there in the same way, in logarithms: a target that warms up has
one mean at the window's begin and another at its end. The queue may not grow either: much of what
waits in that of a target which does not keep up has no latency yet.
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
"""With fewer slots only a strictly monotone series is significant."""

MOST_WINDOWS = 3
"""A window of the default length that cannot tell is made longer, up to so many times that."""

_DRIFT = 0.05
"""A change within the window that is as large as what comparisons are to find: 5 %."""

_LATENCY_DRIFT = 0.25
"""What 5 % in the cost of an operation make of latency in a queue that is busy 80 % of the time."""

_LATENCY_DOUBT = 1.0
"""From a doubling or halving on, a change of latency that may be chance is told: a queue that is
nearly full makes smaller ones in most windows."""

_FALSE_ALARM_RATE = 0.002
"""How often a steady target may be called unsettled, all spans of a window together; up to 4 %
where each slot is 0.95 of the one before it and chance (simulated). Of rate and latency each."""

_DOUBT = 4.0
"""Slots may be more alike than they look, by so many standard errors of 1 / sqrt(slots)."""

_SMOOTH = 3
"""Slots on each side over which the rise that is taken out is smoothed: a stair follows chance."""

_SHORTEST_S = 0.4
"""Shorter drains are merged: those at a phase's ends last milliseconds."""

_MAX_SLOTS = 240
"""Longer windows have longer slots: the slope takes all pairs of slots."""

_Slot = tuple[float, float, float]
"""Begin and end in seconds, and a value."""


class Steadiness(StrEnum):
    """Whether the rate of a window was steady, as far as its length shows it."""

    SETTLED = "settled"
    UNSETTLED = "unsettled"
    GROWING = "growing"
    """The queue of an open schedule was."""
    TOO_SHORT = "too-short"
    STAGED = "staged"
    """It was to change, by stages: nothing was tested."""


class Settled(msgspec.Struct, frozen=True):
    """Whether a window was steady."""

    state: str
    evidence: str
    slope_percent: float | None = None
    """What is tested: the change from end to end, in percent of the median half second. It is below
    -100 where the rate fell and most half seconds came after that."""


class _Drift(msgspec.Struct, frozen=True):
    """Drift of one span: its change as a share of what is usual, and the p-value of that."""

    begin_s: float
    end_s: float
    first: float
    """The fitted line at `begin_s`, as a rate or in nanoseconds; never below 0."""
    last: float
    """The same at `end_s`."""
    change: float
    chance: float


class _Series:
    """What is tested for a drift: slots of a window, each (begin, end, value)."""

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
        """Whether the change over the whole window is large and not significant."""
        return self._larger(self.whole, self._doubt)

    @property
    def drifting(self) -> str:
        """Both ends of the worst drift: the change as a share may exceed all there was."""
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
        """What cannot be told from chance, without the change: it would be read as one."""
        chance, allowed = 100 * self.whole.chance, 100 * self.allowed
        return (
            f"{self._name} of half seconds differs so much that a steady one looks like this in "
            f"{chance:.2g}% of windows; below {allowed:.2g}% it is a drift"
        )

    @property
    def steady(self) -> str:
        """Why it is settled."""
        if self._larger(self.whole, self._limit):
            return f"{self._name} changed by no more than chance explains"
        return f"{self._name} changed by less than {self._limit:.0%}, which is allowed"

    def _format(self, value: float) -> str:
        if self._logarithms:
            return format_ns(value)
        return f"{format_rate(float(f'{value:.3g}'))}/s"

    def _larger(self, drift: _Drift, limit: float) -> bool:
        """Whether a drift is larger than a share; of logarithms in both directions alike."""
        fall = 1 / (1 + limit) - 1 if self._logarithms else -limit
        return not fall <= drift.change <= limit


def settle(
    drains: Iterable[tuple[float, int]],
    queue: Sequence[int] = (),
    waited_ns: Sequence[float] = (),
) -> Settled:
    """Judge consecutive drains, each (seconds, operations).

    Of an open schedule `queue` is what was due and not answered at the end of each, and `waited_ns`
    the sum of the latencies of its operations.
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
    # The throughput of an open schedule is that of its arrivals: random ones differ by themselves.
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
    """Describe how the queue grew over the whole window; nothing if it did not."""
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
    """Return the logarithm of each slot's mean latency; slots in which nothing ended have none."""
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
    """Yield the whole window, then half windows at every quarter, if they have enough slots."""
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
    """Return the standard deviation of the slope of values that wander as these do.

    Two values that are k slots apart differ by V(k) = V(1) (1 - r^k) / (1 - r) on average of the
    squares, where r is how alike neighbours are: first-order autocorrelation. The slope is a sum of
    values with weights that add up to nothing, so its variance follows from V alone.
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
    """Return means over neighbours: as many on each side, at the ends fewer."""
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

"""Repeats of a point, their median, and an interval that encloses the true median.

Repeats are points that differ in `repeat` alone. The interval is exact, from order statistics, and
assumes nothing about the distribution of runs. Of n ordered values, the k-th smallest and the k-th
largest enclose the true median unless fewer than k values lie on one side of it; each value lies on
either side with probability 1/2.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from sitebench.counts.durations import clocks
from sitebench.counts.source import START
from sitebench.runs.point import PointResult, PointSpec, counted_steps, failing
from sitebench.runs.runfile import StoredPoint
from sitebench.verdict.evidence import OtherLoad
from sitebench.verdict.verdict import Quoted

_CONFIDENCE = 0.95
_NOISE = 1.05
"""Two measurements of one rate differ by a smaller factor on most machines."""

_LOAD = frozenset(("arrivals", "threads"))
"""Settings of the load and its generator."""

Of = Callable[[PointResult], float | None]
"""A figure of each repeat; None for a repeat without it."""


class Interval(msgspec.Struct, frozen=True):
    """Two measured values, and the probability that they enclose the true median."""

    low: float
    high: float
    confidence: float


def median_interval(values: Sequence[float], confidence: float = _CONFIDENCE) -> Interval | None:
    """Return the narrowest interval of this confidence; None with too few values."""
    ordered, narrowest = sorted(values), None
    for k in range(1, len(ordered) // 2 + 1):
        sure = _coverage(len(ordered), k)
        if sure < confidence:
            break
        narrowest = Interval(ordered[k - 1], ordered[-k], sure)
    return narrowest


def least_repeats(confidence: float = _CONFIDENCE) -> int:
    """Return the fewest values for which `median_interval` has an interval: 6 for 95 %."""
    return next(n for n in range(2, 64) if _coverage(n, 1) >= confidence)


def _coverage(n: int, k: int) -> float:
    """Return the probability that the k-th smallest and k-th largest of n enclose the median."""
    outside: int = 2 * sum(math.comb(n, i) for i in range(k))
    return 1.0 - outside / float(2**n)


def of_operation(result: PointResult, name: str) -> PointResult:
    steps = tuple(row for row in result.steps if row.program == name)
    step = next((step for step in steps if step.counted), None)
    # If a step before the counted step fails, the operation fails too.
    failures = sum(row.failures for row in failing(result.spec, steps, counted_steps(steps)))
    return replace(
        result,
        operations=0 if step is None else round(step.per_s * result.seconds),
        failures_by_kind={"failed": failures} if failures else {},
        clocks=clocks() if step is None else step.clocks,
        steps=steps,
        # The upper bound of the target's rate is for all operations of the mix together.
        verdict=replace(result.verdict, at_most_per_s=None),
    )


class Series(msgspec.Struct, frozen=True):
    """All repeats of one point, in the order of measurement; `spec` has repeat 0."""

    spec: PointSpec
    results: tuple[PointResult, ...]
    part: bool = False
    """Whether this is one of several operations of a point, which is the sum of all of them."""

    @property
    def operations(self) -> list[str]:
        steps = [step for result in self.results for step in result.steps]
        return list(dict.fromkeys(s.program for s in steps if s.counted and s.count))

    @property
    def parts(self) -> tuple[Series, ...]:
        """The operations whose sum is the point; none if there is only one.

        If starts of users failed, these starts are one of the operations: the point's total
        includes their failures.
        """
        steps = [step for result in self.results for step in result.steps]
        names = [START] * any(step.failures for step in steps if step.program == START)
        names = list(dict.fromkeys([*names, *self.operations]))
        return tuple(map(self.of_operation, names)) if len(names) > 1 else ()

    def of_operation(self, name: str) -> Series:
        results = tuple(of_operation(result, name) for result in self.results)
        return Series(replace(self.spec, operation=f"- {name}"), results, part=True)

    @property
    def n(self) -> int:
        return len(self.results)

    @property
    def valid(self) -> bool:
        """Whether every repeat measured the target, not the load generator."""
        return all(result.verdict.valid for result in self.results)

    @property
    def grade(self) -> Quoted:
        """The grade of the rate: the worst of its repeats."""
        return max((result.verdict.grade for result in self.results), key=list(Quoted).index)

    @property
    def latency_grade(self) -> str:
        """The grade of the latency: "at most" if the grade of the rate is "at least"."""
        return "at most" if self.grade == Quoted.AT_LEAST else self.grade

    @property
    def at_most(self) -> float | None:
        """If the rate is a lower bound: the highest rate that the target's CPU would allow."""
        upper = [r.verdict.at_most_per_s for r in self.results if not r.verdict.valid]
        bounds = [bound for bound in upper if bound is not None]
        return max(bounds) if bounds and len(bounds) == len(upper) else None

    @property
    def usable(self) -> bool:
        return self.grade != Quoted.NOT_USABLE

    @property
    def failures(self) -> int:
        return sum(result.failures for result in self.results)

    def values(self, figure: Of) -> list[float] | None:
        """Return the figure of each repeat; None if one repeat lacks it.

        A median without that repeat would be biased: slow repeats have too few samples for a
        percentile.
        """
        figures = [value for result in self.results if (value := figure(result)) is not None]
        return figures if figures and len(figures) == self.n else None

    def median(self, figure: Of) -> float | None:
        values = self.values(figure)
        return None if values is None else statistics.median(values)

    def interval(self, figure: Of) -> Interval | None:
        """Return the median's 95 % interval; None with too few repeats."""
        values = self.values(figure)
        return None if values is None else median_interval(values)

    def bounds(self, figure: Of) -> tuple[float, float] | None:
        """Return the ends of the interval; with too few repeats, the least and greatest value."""
        if (values := self.values(figure)) is None:
            return None
        interval = median_interval(values)
        return (min(values), max(values)) if interval is None else (interval.low, interval.high)


def best_tries(results: Iterable[PointResult]) -> list[PointResult]:
    """Return one result of each point: of two tries, the one with the higher rate.

    The target's own rate is preferred to a lower bound that is higher by noise only.
    """
    best: dict[str, PointResult] = {}
    for result in results:
        key = replace(result.spec, threads=None).key
        if key not in best or _worth(result) > _worth(best[key]):
            best[key] = result
    return list(best.values())


def counted_points(stored: Sequence[StoredPoint]) -> list[StoredPoint]:
    """Return the points that are done; of two tries, only the one that counts."""
    finished = [point for point in stored if point.status == "done"]
    keys = {r.spec.key for r in best_tries(p.result for p in finished if p.result is not None)}
    return [point for point in finished if point.spec.key in keys]


def rate_at_half(spec: PointSpec, results: Iterable[PointResult]) -> float | None:
    """Return the rate of half as many users, at points that are otherwise equal.

    It is the rate of the repeat with the same number or, if there is none, the median of all
    repeats: the best of several repeats would be luck.
    """

    def at_users(other: PointSpec) -> PointSpec:
        return replace(other, users=spec.users, repeat=0)

    rates = {
        result.spec.repeat: result.ops_per_s
        for result in results
        if 2 * result.spec.users == spec.users
        and result.verdict.valid
        and at_users(result.spec) == at_users(spec)
    }
    if spec.rate is not None or not rates:
        return None
    return rates.get(spec.repeat, statistics.median(rates.values()))


def other_loads(spec: PointSpec, results: Iterable[PointResult]) -> list[OtherLoad]:
    """Return the target's CPU at the other measured loads, if no operation failed there."""

    def at_any_load(other: PointSpec) -> PointSpec:
        settings = {k: v for k, v in other.settings.items() if k not in _LOAD}
        return replace(other, users=0, rate=None, repeat=0, threads=None, settings=settings)

    return [
        OtherLoad(cpu_s / result.seconds, cpu_s / result.operations)
        for result in results
        if at_any_load(result.spec) == at_any_load(spec)
        and result.spec.key != spec.key
        and (cpu_s := result.use.target_cpu_s)
        and result.operations
        and not result.failures
        and result.verdict.grade != Quoted.NOT_USABLE
    ]


def _worth(result: PointResult) -> tuple[bool, float]:
    usable = result.verdict.grade != Quoted.NOT_USABLE
    return usable, result.ops_per_s * (_NOISE if result.verdict.valid else 1.0)


def series(results: Iterable[PointResult]) -> list[Series]:
    groups: dict[str, list[PointResult]] = {}
    for result in best_tries(results):
        groups.setdefault(_first(result.spec).key, []).append(result)
    return [
        Series(_first(group[0].spec), tuple(sorted(group, key=lambda r: r.spec.repeat)))
        for group in groups.values()
    ]


def _first(spec: PointSpec) -> PointSpec:
    return replace(spec, repeat=0, threads=None)

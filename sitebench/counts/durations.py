"""Durations in results: mean, maximum, and the percentiles that have enough samples.

An operation without an answer ranks by the time until it was given up. A percentile among such
operations is a lower bound, written `>= 10 s`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict

from sitebench._engine import Histogram
from sitebench.counts import metrics

LEAST_BEYOND = 100
"""The least number of samples beyond a percentile."""

OVER_TIME = ("p50", "p95", "p99")
"""Percentiles that are drawn over time."""

FAR_OUT = (99.0, 99.9, 99.99, 99.999)


def percentile_ns(histogram: Histogram, q: float) -> int | None:
    """Return a percentile; None if too few samples are beyond it."""
    # Computed in thousandths of a percent, because the float 100.0 - 99.9 is below 0.1.
    beyond = histogram.count * (100_000 - round(q * 1_000))
    return histogram.percentile(q) if beyond >= LEAST_BEYOND * 100_000 else None


def with_censored(answered: Histogram, censored: Histogram) -> Histogram:
    """Return the histogram of all operations, answered and given up."""
    together = answered.copy()
    together.add(censored)
    return together


class Durations(msgspec.Struct, frozen=True):
    """Summary of a histogram, in microseconds; a percentile of too few samples is None."""

    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None
    mean: float | None = None
    n: int = 0
    at_least: tuple[str, ...] = ()
    """Figures that are lower bounds, because of operations that were never answered."""
    intervals: Mapping[str, tuple[float, float | None]] = {}
    """The 95 % intervals of percentiles; an interval without an upper end is one-sided."""
    too_alike: Mapping[str, float] = {}
    """For a percentile without an interval: the seconds of a window that would have one, if known.
    """

    @classmethod
    def of(cls, histogram: Histogram, censored: Histogram | None = None) -> Durations:
        """Summarise a histogram of nanoseconds, and a histogram of operations given up."""
        if censored is not None:
            histogram = with_censored(histogram, censored)
        if not (n := histogram.count):
            return cls()
        percentiles = {name: percentile_ns(histogram, q) for name, q in PERCENTILES.items()}
        bounds: tuple[str, ...] = ()
        if censored is not None and censored.count:
            # Only a percentile at or above the shortest time of a given-up operation is a lower
            # bound.
            least = censored.min
            ranked = (p for p, ns in percentiles.items() if ns is not None and ns >= least)
            bounds = (*ranked, "max", "mean")
        marks: dict[str, Any] = {
            name: None if ns is None else ns / 1e3 for name, ns in percentiles.items()
        }
        maximum, mean = histogram.max / 1e3, histogram.mean / 1e3
        return cls(**marks, max=maximum, mean=mean, n=n, at_least=bounds)

    def to_json(self) -> dict[str, Any]:
        """Return a dict for results, without empty collections."""
        return {name: value for name, value in asdict(self).items() if value not in ((), {})}

    @property
    def percentiles(self) -> Mapping[str, float | None]:
        return {name: getattr(self, name) for name in PERCENTILES}


def heading(name: str) -> str:
    """Return a percentile's name for people: `p99.9` for p99_9."""
    return name.replace("_", ".")


PERCENTILES = {
    name: float(heading(name).removeprefix("p"))
    for name in Durations.__struct_fields__
    if name.startswith("p")
}
"""Percentage of a percentile by field name: 99.9 by p99_9."""


def clocks(**durations: Durations) -> dict[str, Durations]:
    """Return the durations of all clocks; clocks without an argument have empty durations."""
    return {clock: durations.get(clock, Durations()) for clock in metrics.CLOCKS}


def summarise_clocks(times: Mapping[str, Histogram]) -> dict[str, Durations]:
    """Summarise all clocks; the summary of a clock with a `bound` includes operations given up."""
    return {
        clock: Durations.of(times[clock], None if clock.bound is None else times[clock.bound])
        for clock in metrics.CLOCKS
    }

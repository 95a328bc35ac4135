"""Durations as results keep them: percentiles where there are enough samples, mean and maximum.

An operation whose answer never came took at least as long as it was waited for. It ranks there, so
that a percentile which falls among such operations is a lower bound: it is written `>= 10 s`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict

from sitebench._engine import Histogram
from sitebench.counts import metrics

LEAST_BEYOND = 100
"""A percentile needs this many samples beyond it; with fewer it is None."""

OVER_TIME = ("p50", "p95", "p99")
"""Percentiles that are drawn second by second."""

FAR_OUT = (99.0, 99.9, 99.99, 99.999)
"""Percentiles of the tail, which are of all repeats together."""


def percentile_ns(histogram: Histogram, q: float) -> int | None:
    """Return a percentile; None with too few samples beyond it."""
    # In thousandths of a percent: as a float, 100.0 - 99.9 is a little less than 0.1.
    beyond = histogram.count * (100_000 - round(q * 1_000))
    return histogram.percentile(q) if beyond >= LEAST_BEYOND * 100_000 else None


def with_censored(answered: Histogram, censored: Histogram) -> Histogram:
    """Return all operations; one that was never answered ranks as long as it was waited for."""
    together = answered.copy()
    together.add(censored)
    return together


class Durations(msgspec.Struct, frozen=True):
    """Summary of a histogram, in microseconds; None where there are too few samples.

    A percentile is a field here, and its name says which: everything else follows PERCENTILES.
    """

    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None
    mean: float | None = None
    n: int = 0
    at_least: tuple[str, ...] = ()
    """Which of the figures above are lower bounds, because answers never came."""
    intervals: Mapping[str, tuple[float, float | None]] = {}
    """Low and high of percentiles, with 95 %; no high where it is beyond the last sample."""
    too_alike: Mapping[str, float] = {}
    """Of those without an interval, as half seconds are too alike: seconds that would do."""

    @classmethod
    def of(cls, histogram: Histogram, censored: Histogram | None = None) -> Durations:
        """Summarise a histogram of nanoseconds, and what timed out beside it."""
        if censored is not None:
            histogram = with_censored(histogram, censored)
        if not (n := histogram.count):
            return cls()
        percentiles = {name: percentile_ns(histogram, q) for name, q in PERCENTILES.items()}
        bounds: tuple[str, ...] = ()
        if censored is not None and censored.count:
            # Below the shortest wait that timed out, the order is that of the answered alone.
            least = censored.min
            ranked = (p for p, ns in percentiles.items() if ns is not None and ns >= least)
            bounds = (*ranked, "max", "mean")
        marks: dict[str, Any] = {
            name: None if ns is None else ns / 1e3 for name, ns in percentiles.items()
        }
        maximum, mean = histogram.max / 1e3, histogram.mean / 1e3
        return cls(**marks, max=maximum, mean=mean, n=n, at_least=bounds)

    def to_json(self) -> dict[str, Any]:
        """Return what results keep; what there may be none of only where there is some."""
        return {name: value for name, value in asdict(self).items() if value not in ((), {})}

    @property
    def percentiles(self) -> Mapping[str, float | None]:
        """Every percentile by its name."""
        return {name: getattr(self, name) for name in PERCENTILES}


def heading(name: str) -> str:
    """Return how a percentile's field is written for people: p99.9."""
    return name.replace("_", ".")


PERCENTILES = {
    name: float(heading(name).removeprefix("p"))
    for name in Durations.__struct_fields__
    if name.startswith("p")
}
"""Per cent by the field."""


def clocks(**durations: Durations) -> dict[str, Durations]:
    """Return the durations of every clock: those that are known, and none of the others."""
    return {clock: durations.get(clock, Durations()) for clock in metrics.CLOCKS}


def summarise_clocks(times: Mapping[str, Histogram]) -> dict[str, Durations]:
    """Summarise every clock; what was never answered ranks in it where the table says so."""
    return {
        clock: Durations.of(times[clock], None if clock.bound is None else times[clock.bound])
        for clock in metrics.CLOCKS
    }

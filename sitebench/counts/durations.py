"""Durations as results keep them: percentiles where there are enough samples, mean and maximum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitebench._engine import Histogram

LEAST_BEYOND = 100
"""A percentile needs this many samples beyond it; with fewer it is None."""

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}


def percentile_ns(histogram: Histogram, q: float) -> int | None:
    """Return a percentile; None with too few samples beyond it."""
    # In thousandths of a percent: as a float, 100.0 - 99.9 is a little less than 0.1.
    beyond = histogram.count * (100_000 - round(q * 1_000))
    return histogram.percentile(q) if beyond >= LEAST_BEYOND * 100_000 else None


@dataclass(frozen=True)
class Durations:
    """Summary of a histogram, in microseconds; None where there are too few samples."""

    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None
    mean: float | None = None
    n: int = 0

    @classmethod
    def of(cls, histogram: Histogram) -> Durations:
        """Summarise a histogram of nanoseconds."""
        if not (n := histogram.count):
            return cls()
        found = {name: percentile_ns(histogram, q) for name, q in PERCENTILES.items()}
        marks = {name: None if ns is None else ns / 1e3 for name, ns in found.items()}
        return cls(**marks, max=histogram.max / 1e3, mean=histogram.mean / 1e3, n=n)

    @property
    def percentiles(self) -> Mapping[str, float | None]:
        """Every percentile by its name."""
        return {name: getattr(self, name) for name in PERCENTILES}

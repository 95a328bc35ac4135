"""Durations as results keep them: percentiles where there are samples enough, and moments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sitebench._engine import Histogram

LEAST_BEYOND = 100
"""A percentile is a number only with this many samples beyond it; otherwise it is null."""

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}


def percentile_ns(histogram: Histogram, q: float) -> int | None:
    """Return a percentile; None with too few samples beyond it to be one."""
    # In whole thousandths: 100.0 - 99.9 is a little less than a tenth.
    beyond = histogram.count * (100_000 - round(q * 1_000))
    return histogram.percentile(q) if beyond >= LEAST_BEYOND * 100_000 else None


@dataclass(frozen=True)
class Durations:
    """Summary of a histogram, in microseconds; null where there are too few samples."""

    n: int
    mean: float | None
    max: float | None
    percentiles: Mapping[str, float | None]

    @classmethod
    def of(cls, histogram: Histogram) -> Durations:
        """Summarise a histogram of nanoseconds."""
        n = histogram.count
        marks = {name: percentile_ns(histogram, q) for name, q in PERCENTILES.items()}
        found = {name: None if ns is None else ns / 1e3 for name, ns in marks.items()}
        return cls(
            n, histogram.mean / 1e3 if n else None, histogram.max / 1e3 if n else None, found
        )

    def to_json(self) -> dict[str, Any]:
        """Return the percentiles and moments, flat."""
        return {**self.percentiles, "max": self.max, "mean": self.mean, "n": self.n}

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Durations:
        """Read what `to_json` wrote."""
        percentiles = {name: found.get(name) for name in PERCENTILES}
        return cls(found["n"], found["mean"], found["max"], percentiles)


NOTHING = Durations(0, None, None, dict.fromkeys(PERCENTILES))
"""No sample at all."""

"""The measures compared at every point: a value per repeat, and words for more and less of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sitebench.runs.point import PointResult


@dataclass(frozen=True)
class Measure:
    """One value of a repeat; `more` and `less` say what B is if it has more or less of it."""

    key: str
    title: str
    of: Callable[[PointResult], float | None]
    more: str
    less: str
    unit: str


def _target_cpu(result: PointResult) -> float | None:
    seconds = result.use.target_cpu_s
    return None if seconds is None or not result.operations else seconds / result.operations * 1e6


WORSE = frozenset(("slower", "more CPU"))
"""Answers that are bad for B."""

MEASURES = (
    Measure("ops_per_s", "Operations/s", lambda r: r.ops_per_s, "faster", "slower", "operations/s"),
    Measure("p50", "Latency p50", lambda r: r.latency.percentiles["p50"], "slower", "faster", "us"),
    Measure("p99", "Latency p99", lambda r: r.latency.percentiles["p99"], "slower", "faster", "us"),
    Measure("target_cpu", "Target CPU/op", _target_cpu, "more CPU", "less CPU", "us"),
    Measure(
        "generator_cpu",
        "Generator CPU/op",
        lambda r: r.cpu_us_per_op,
        "more CPU",
        "less CPU",
        "us",
    ),
)

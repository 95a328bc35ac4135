"""Throughput against response time as load grows, and the knee of that curve.

The knee is the load with the highest ratio of throughput to response time, Kleinrock's "power"
("Power and deterministic rules of thumb for probabilistic problems in computer communications",
1979). Beyond the knee response time grows faster than throughput.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

import msgspec

from sitebench.counts.metrics import LATENCY
from sitebench.runs.point import PointResult, PointSpec
from sitebench.units import format_ns, format_rate

MOST_FAILED = 0.001
"""The largest share of failures in a usable point, because failures can be faster than answers."""
WIDTH, HEIGHT = 60, 12
_LEAST_SPOTS = 3
"""With two loads the curve is a line without a knee."""


def failed_share(results: Iterable[PointResult]) -> float:
    pairs = [(result.failures, result.operations) for result in results]
    tried = sum(map(sum, pairs))
    return sum(failures for failures, _ in pairs) / tried if tried else 0.0


class Spot(msgspec.Struct, frozen=True):
    """A load: its throughput and mean response time, as medians over repeats."""

    load: float
    rate: float
    response_us: float
    valid: bool


def spots(results: Iterable[PointResult], load_of: Callable[[PointSpec], float]) -> list[Spot]:
    """Return a spot per load, lowest first; points without a successful operation are left out."""
    groups: dict[float, list[PointResult]] = {}
    for result in results:
        if result.clocks[LATENCY].mean is not None and result.operations:
            groups.setdefault(load_of(result.spec), []).append(result)
    return [
        Spot(
            load,
            statistics.median(result.ops_per_s for result in group),
            statistics.median(result.clocks[LATENCY].mean or 0.0 for result in group),
            all(result.verdict.valid for result in group) and failed_share(group) <= MOST_FAILED,
        )
        for load, group in sorted(groups.items())
    ]


def knee(curve: Sequence[Spot]) -> Spot | None:
    """Return the knee; None if valid points are too few, or if the last spot has the best ratio."""
    sound = [spot for spot in curve if spot.valid and spot.response_us > 0]
    if len(sound) < _LEAST_SPOTS:
        return None
    best = max(sound, key=lambda spot: spot.rate / spot.response_us)
    return None if best is sound[-1] else best


def plot(curve: Sequence[Spot], bend: Spot | None) -> str:
    if len(curve) < 2:
        return ""
    most_rate = max(spot.rate for spot in curve)
    most_time = max(spot.response_us for spot in curve)
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for spot in curve:
        column = round(spot.rate / most_rate * (WIDTH - 1))
        row = HEIGHT - 1 - round(spot.response_us / most_time * (HEIGHT - 1))
        if grid[row][column] != "K":
            grid[row][column] = "K" if spot == bend else "o" if spot.valid else "x"
    top = format_ns(most_time * 1e3)
    margin, labels = len(top), [top, *[""] * (HEIGHT - 2), "0"]
    lines = [
        f"{label:>{margin}} |{''.join(cells)}".rstrip()
        for label, cells in zip(labels, grid, strict=True)
    ]
    right = f"{format_rate(most_rate)}/s"
    axis = " " * (margin + 1) + "+" + "-" * WIDTH
    scale = " " * (margin + 2) + "0" + right.rjust(WIDTH - 1)
    marks = {"o": "measured", "x": "lower bound or not usable", "K": "knee"}
    drawn = {cell for row in grid for cell in row}
    legend = ", ".join(f"{mark} {means}" for mark, means in marks.items() if mark in drawn)
    title = f"mean response time over throughput ({legend})"
    return "\n".join([title, *lines, axis, scale])

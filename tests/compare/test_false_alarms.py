"""How often a comparison of equal sides finds a difference, on steady and unsteady machines.

Each case has two hundred comparisons, through `analyse`, in the order of `Interleaving`. The noise
of a measure is the machine's, from turn to turn; an opened target's own noise (from the placement
of its memory) is drawn anew with every turn, as every turn opens a target.
"""

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from math import exp, log, sqrt

import pytest
from msgspec.structs import replace

from sitebench.compare.comparison import Analysis, Design, analyse
from sitebench.compare.interleave import plan
from sitebench.compare.matching import Matched
from sitebench.monitor.use import ProcessUse
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series
from tests.compare.made import a_repeat
from tests.support.evidence import changed
from tests.support.points import a_spec

COMPARISONS, REPEATS = 200, 12
MOST = COMPARISONS * 0.05 + 3 * sqrt(COMPARISONS * 0.05 * 0.95)
"""One comparison in twenty may be wrong; this share of 200, plus three standard errors."""


def correlated(phi: float, deviation: float) -> Callable[[random.Random], Iterator[float]]:
    """Return a stationary series with correlated neighbours (AR(1))."""

    def noise(lot: random.Random) -> Iterator[float]:
        at = lot.gauss(0, deviation)
        while True:
            yield at
            at = phi * at + lot.gauss(0, deviation * sqrt(1 - phi * phi))

    return noise


def walk(lot: random.Random) -> Iterator[float]:
    return itertools.accumulate(iter(lambda: lot.gauss(0, 0.01), None))


# Rates of 54 windows of lookups at one slapd, in order, on a shared machine: they drift, some are a
# third lower, and neighbours are correlated.
REAL = (
    *(15089, 14487, 14820, 14711, 14510, 14331, 14782, 15177, 14412, 14197, 15434, 15256, 14528),
    *(15205, 16108, 15886, 14781, 15134, 16154, 14221, 13926, 14408, 14652, 14790, 14302, 14728),
    *(14971, 14405, 13830, 14368, 14438, 14655, 14061, 13739, 14340, 14077, 15343, 15081, 14790),
    *(14998, 15230, 16554, 15035, 10824, 12989, 16230, 14399, 16046, 16095, 16267, 14933, 15246),
    *(15044, 15011),
)


def real(lot: random.Random) -> Iterator[float]:
    """Return the real series from a random place on, repeatedly."""
    start = lot.randrange(len(REAL))
    return (log(rate / 15_000) for rate in itertools.cycle(REAL[start:] + REAL[:start]))


NOISE = {
    "real": real,
    "iid": correlated(0.0, 0.03),
    "AR(.8)": correlated(0.8, 0.03),
    "AR(.95)": correlated(0.95, 0.05),
    "random walk": walk,
}


@functools.cache
def a_result() -> PointResult:
    return a_repeat(a_spec(), 15_000)[1]


def repeat_of(repeat: int, rate: float, p99: float, cpu: float) -> PointResult:
    """Return a repeat whose figures are off by these logarithms."""
    base = a_result()
    slower = exp(-rate)
    tail = slower * exp(p99)
    latency = replace(
        base.clocks["latency"], p50=4_200 * slower, p95=5_400 * tail, p99=5_900 * tail
    )
    use = replace(base.use, target=ProcessUse(1.9 * exp(cpu), 50_000_000))
    spec, seconds = replace(base.spec, repeat=repeat), base.seconds * slower
    return changed(base, spec=spec, seconds=seconds, latency=latency, use=use)


def a_comparison(design: Design, noise: str, seed: int, *, instance: float, b: float) -> Analysis:
    """Compare twelve repeats of each side; B's rate is off by the logarithm `b`."""
    lot = random.Random(f"{design} {noise} {seed}")
    order = [
        (turn.side, turn.repeat)
        for turn in plan("ils run {}", "1", "2", repeats=REPEATS, seed=seed).turns()
    ]
    if design is Design.APART:
        order.sort()
    machine = [NOISE[noise](lot) for _ in range(3)]
    sides: dict[str, list[PointResult]] = {"a": [], "b": []}
    for side, repeat in order:
        rate, p99, cpu = (next(level) + lot.gauss(0, instance) for level in machine)
        sides[side].append(repeat_of(repeat, rate + b * (side == "b"), p99, cpu))
    series_a, series_b = (Series(a_spec(), tuple(results)) for results in sides.values())
    return analyse([Matched(series_a, series_b)], design)


def differing(found: Sequence[Analysis]) -> int:
    return sum(any(row.differs for row in one.points[0].rows) for one in found)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(
    ("design", "instance"), [(Design.PAIRS, 0.0), (Design.APART, 0.0), (Design.PAIRS, 0.02)]
)
def test_false_alarms_stay_below_the_stated_level(
    design: Design, instance: float, noise: str
) -> None:
    seeds = range(COMPARISONS)
    found = [a_comparison(design, noise, n, instance=instance, b=0.0) for n in seeds]
    assert differing(found) <= MOST


@pytest.mark.parametrize("noise", NOISE)
def test_pairs_nearly_always_detect_a_rate_that_is_a_fifth_lower(noise: str) -> None:
    found = [a_comparison(Design.PAIRS, noise, n, instance=0.02, b=-0.2) for n in range(50)]
    assert differing(found) >= 48

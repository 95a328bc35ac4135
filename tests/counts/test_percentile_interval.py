"""Intervals of percentiles hold the true one as often as they say, in slow spells too."""

import math
import random
from collections.abc import Iterator
from statistics import NormalDist

import pytest

from sitebench._engine import Histogram
from sitebench.counts.durations import PERCENTILES, Durations
from sitebench.counts.percentile_interval import percentile_intervals
from sitebench.counts.until import Until
from tests.support.drains import histogram

STRETCHES, EACH, WINDOWS = 20, 600, 60
SPREAD = 0.4


def windows(alike: float, moving: float) -> Iterator[list[Histogram]]:
    """Yield windows of 20 half seconds whose latencies' scale moves (AR(1))."""
    lot, at = random.Random(f"{alike} {moving}"), 0.0
    for _ in range(WINDOWS):
        window = []
        for _ in range(STRETCHES):
            at = alike * at + lot.gauss(0, moving * math.sqrt(1 - alike * alike))
            draws = (lot.lognormvariate(at, SPREAD) for _ in range(EACH))
            window.append(histogram(*(round(1e6 * x) for x in draws)))
        yield window


@pytest.mark.parametrize(
    ("alike", "moving", "least"), [(0.0, 0.0, 0.9), (0.0, 0.2, 0.88), (0.5, 0.2, 0.8)]
)
def test_intervals_hold_the_true_percentile_as_often_as_they_say(
    alike: float, moving: float, least: float
) -> None:
    # A lognormal whose scale is lognormal is one again.
    normal, deviation = NormalDist(), math.hypot(SPREAD, moving)
    true = {n: 1e3 * math.exp(deviation * normal.inv_cdf(q / 100)) for n, q in PERCENTILES.items()}
    held, known = (dict.fromkeys(("p50", "p90", "p99"), 0) for _ in range(2))
    for window in windows(alike, moving):
        found = percentile_intervals(window)
        for name in held:
            low, high = found[name]
            held[name] += low <= true[name] * 1.0005 and (
                high is None or true[name] <= high * 1.0005
            )
            known[name] += high is not None
    assert min(held.values()) >= least * WINDOWS, held
    assert known["p50"] == WINDOWS
    assert moving or known["p99"] == WINDOWS


def test_one_stall_is_one_event_and_not_two_hundred_samples() -> None:
    calm = [histogram() for _ in range(STRETCHES)]
    for each in calm:
        each.record(1_000_000, 5_000)
    calm[7].record(20_000_000, 1_200)
    low, high = percentile_intervals(calm)["p99"]
    assert low < 1_010
    assert high is None or high > 19_900


def test_of_few_half_seconds_there_is_no_interval() -> None:
    each = histogram()
    each.record(1_000_000, 50_000)
    assert percentile_intervals([each] * 7) == {}
    assert percentile_intervals([]) == {}
    assert percentile_intervals([each] * 8)["p99"] == pytest.approx((1_000, 1_000), rel=1e-3)


def test_an_interval_counts_operations_that_were_given_up_as_its_percentile_does() -> None:
    answered, given_up = [histogram() for _ in range(STRETCHES)], histogram()
    for each in answered:
        for us in range(1_000, 6_000):
            each.record(us * 1_000)
    given_up.record(10**10, 500)
    whole = histogram()
    for each in answered:
        whole.add(each)
    figures = Durations.of(whole, given_up)
    found = percentile_intervals(answered, given_up)
    # 0.5 % were given up: the p99 of all is the p99.5 of those that were answered.
    assert figures.p99 is not None
    assert figures.p99 > 5_970
    low, high = found["p99"]
    assert low <= figures.p99
    # All may have been given up in one event: then the rank above is theirs.
    assert high is None
    assert figures.at_least == ("p99_9", "max", "mean")
    assert "p99_9" not in found
    assert figures.p50 is not None
    low, high = found["p50"]
    assert high is not None
    assert low <= figures.p50 <= high
    assert not Until.parse("p99:50%").known(found)
    assert Until.parse("p99:50%").known(percentile_intervals(answered))

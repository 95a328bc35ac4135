"""Repeats: the interval of a median, and points that differ only in their repeat."""

import random
from dataclasses import replace

import pytest

from sitebench.runs.point import PointResult
from sitebench.runs.repeats import (
    Series,
    least_repeats,
    median_interval,
    other_loads,
    rate_at_half,
    series,
)
from tests.support.points import a_result, a_spec


def repeated(*counts: int, entries: int = 1_000) -> list[PointResult]:
    specs = [a_spec(entries=entries, repeat=n) for n in range(len(counts))]
    return [a_result(spec, count) for spec, count in zip(specs, counts, strict=True)]


def rate(result: PointResult) -> float:
    return result.ops_per_s


@pytest.mark.parametrize(
    ("n", "k"),
    # The table in every textbook of order statistics: 95 %, two-sided.
    [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (20, 6), (30, 10), (50, 18)],
)
def test_the_interval_is_the_textbooks(n: int, k: int) -> None:
    values = [float(value) for value in range(1, n + 1)]
    random.Random(n).shuffle(values)
    found = median_interval(values)
    assert found is not None
    assert (found.low, found.high) == (k, n + 1 - k)
    assert found.confidence >= 0.95


def test_fewer_than_six_values_give_no_interval_of_95_percent() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert median_interval([]) is None
    assert least_repeats() == 6
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0], confidence=0.9) is not None
    assert least_repeats(0.9) == 5


def test_the_interval_covers_the_true_median_as_often_as_it_says() -> None:
    draw = random.Random(1997)
    hits = 0
    for _ in range(2_000):
        # Skewed on purpose: its mean is e, its median 1.
        found = median_interval([draw.lognormvariate(0, 1) for _ in range(9)])
        assert found is not None
        hits += found.low <= 1.0 <= found.high
    # 96.1 % by the binomial; five standard deviations of 2,000 draws are 2.2 %.
    assert hits / 2_000 == pytest.approx(0.961, abs=0.022)


def test_repeats_are_grouped_in_order_of_first_appearance() -> None:
    small, large = repeated(100, 300, 200), repeated(10, 20, 30, entries=5_000)
    mixed = [found for pair in zip(large, small, strict=True) for found in pair]
    found = series(reversed(mixed))
    assert [(each.spec.entries, each.n) for each in found] == [(1_000, 3), (5_000, 3)]
    assert [result.spec.repeat for result in found[0].results] == [0, 1, 2]
    assert found[0].spec == a_spec()
    assert found[0].median(rate) == 100.0
    assert found[0].spread(rate) == (50.0, 150.0)
    assert found[0].interval(rate) is None


def test_six_repeats_have_an_interval() -> None:
    (found,) = series(repeated(120, 100, 140, 80, 160, 60))
    interval = found.interval(rate)
    assert interval is not None
    assert (interval.low, interval.high) == (30.0, 80.0)
    assert found.median(rate) == 55.0


def test_a_number_that_one_repeat_lacks_is_not_said_of_all() -> None:
    (found,) = series(repeated(20_000, 20_000, 50))
    assert found.median(lambda result: result.clocks["latency"].percentiles["p99"]) is None
    assert found.spread(lambda result: result.clocks["latency"].percentiles["p99"]) is None
    assert found.median(rate) == 10_000.0


def test_one_invalid_repeat_makes_the_series_invalid() -> None:
    good, bad = repeated(100, 100)
    assert Series(good.spec, (good, good)).valid
    spoilt = replace(bad, verdict=replace(bad.verdict, valid=False))
    assert not Series(good.spec, (good, spoilt)).valid


def test_the_rate_at_half_is_that_of_the_same_repeat_or_the_median() -> None:
    halves = [
        a_result(a_spec(users=8, repeat=n), count)
        for n, count in enumerate((20_000, 10_000, 30_000))
    ]
    assert rate_at_half(a_spec(users=16, repeat=1), halves) == 5_000
    assert rate_at_half(a_spec(users=16, repeat=3), halves) == 10_000
    assert rate_at_half(a_spec(users=32), halves) is None
    assert rate_at_half(a_spec(users=16, rate=100), halves) is None


def test_other_loads_are_those_of_the_same_target_and_none_that_failed() -> None:
    spec = a_spec(users=16, settings={"users": "16", "keys": "uniform"})
    lighter = a_result(replace(spec, users=4, settings={**spec.settings, "users": "4"}))
    thread_more = a_result(replace(spec, threads=2), 40_000)
    other_keys = a_result(replace(lighter.spec, settings={"users": "4", "keys": "zipfian"}))
    larger = a_result(replace(lighter.spec, entries=9_000))
    failed = replace(lighter, failures_by_kind={"timeout": 1})
    unsettled = replace(lighter.verdict, valid=False, bound="unsettled")
    unsteady = replace(lighter, verdict=unsettled)
    assert other_loads(spec, [other_keys, larger, failed, unsteady, a_result(spec)]) == []
    found = other_loads(spec, [lighter, thread_more])
    assert [each.cores for each in found] == [0.95, 0.95]
    assert [each.cost_s * 1e6 for each in found] == pytest.approx([95.0, 47.5])

"""Repeats: the interval of a median, and points that differ only in their repeat."""

import random
from typing import Any

import pytest
from msgspec.structs import replace

from sitebench.counts.tally import Tally
from sitebench.measure.summarise import summarise
from sitebench.runs import repeats
from sitebench.runs.point import PointResult, PointSpec, StepResult
from sitebench.verdict.verdict import Bound, Quoted
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_result, a_spec, a_use, judged


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
def test_median_interval_matches_the_textbook(n: int, k: int) -> None:
    values = [float(value) for value in range(1, n + 1)]
    random.Random(n).shuffle(values)
    interval = repeats.median_interval(values)
    assert interval is not None
    assert (interval.low, interval.high) == (k, n + 1 - k)
    assert interval.confidence >= 0.95


def test_fewer_than_six_values_have_no_interval_of_95_percent() -> None:
    assert repeats.median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert repeats.median_interval([]) is None
    assert repeats.least_repeats() == 6
    assert repeats.median_interval([1.0, 2.0, 3.0, 4.0, 5.0], confidence=0.9) is not None
    assert repeats.least_repeats(0.9) == 5


def test_median_interval_covers_the_true_median_at_its_level() -> None:
    draw = random.Random(1997)
    hits = 0
    for _ in range(2_000):
        # A skewed distribution: its mean is e, its median 1.
        found = repeats.median_interval([draw.lognormvariate(0, 1) for _ in range(9)])
        assert found is not None
        hits += found.low <= 1.0 <= found.high
    # 96.1 % by the binomial; five standard deviations of 2,000 draws are 2.2 %.
    assert hits / 2_000 == pytest.approx(0.961, abs=0.022)


def test_repeats_are_grouped_in_order_of_first_appearance() -> None:
    small, large = repeated(100, 300, 200), repeated(10, 20, 30, entries=5_000)
    mixed = [found for pair in zip(large, small, strict=True) for found in pair]
    found = repeats.series(reversed(mixed))
    assert [(each.spec.entries, each.n) for each in found] == [(1_000, 3), (5_000, 3)]
    assert [result.spec.repeat for result in found[0].results] == [0, 1, 2]
    assert found[0].spec == a_spec()
    assert found[0].median(rate) == 100.0
    assert found[0].bounds(rate) == (50.0, 150.0)
    assert found[0].interval(rate) is None


def test_six_repeats_have_an_interval() -> None:
    (found,) = repeats.series(repeated(120, 100, 140, 80, 160, 60))
    interval = found.interval(rate)
    assert interval is not None
    assert (interval.low, interval.high) == (30.0, 80.0)
    assert found.median(rate) == 55.0


def test_figure_missing_in_one_repeat_is_unknown_for_the_series() -> None:
    (found,) = repeats.series(repeated(20_000, 20_000, 50))
    assert found.median(lambda result: result.clocks["latency"].percentiles["p99"]) is None
    assert found.bounds(lambda result: result.clocks["latency"].percentiles["p99"]) is None
    assert found.median(rate) == 10_000.0


def test_one_invalid_repeat_makes_the_series_invalid() -> None:
    good, bad = repeated(100, 100)
    assert repeats.Series(good.spec, (good, good)).valid
    assert not repeats.Series(good.spec, (good, judged(bad, valid=False))).valid


def with_bound(
    bound: str, count: int = 20_000, at_most: float | None = None, **spec: Any
) -> PointResult:
    valid = bound == Bound.SOFTWARE
    return judged(a_result(a_spec(**spec), count), bound=bound, valid=valid, at_most_per_s=at_most)


@pytest.mark.parametrize(
    ("bounds", "grade"),
    [
        ((Bound.SOFTWARE, Bound.SOFTWARE), Quoted.MEASURED),
        ((Bound.SOFTWARE, Bound.GENERATOR), Quoted.AT_LEAST),
        ((Bound.GENERATOR, Bound.UNSETTLED, Bound.SOFTWARE), Quoted.NOT_USABLE),
    ],
)
def test_grade_of_a_series_is_that_of_its_worst_repeat(
    bounds: tuple[str, ...], grade: Quoted
) -> None:
    (found,) = repeats.series(with_bound(bound, repeat=n) for n, bound in enumerate(bounds))
    assert found.grade == grade
    assert found.usable == (grade != Quoted.NOT_USABLE)


def test_series_has_an_upper_bound_if_every_repeat_has_one() -> None:
    own = with_bound(Bound.SOFTWARE)
    low, high, unbounded = (
        with_bound(Bound.GENERATOR, at_most=bound) for bound in (20_000.0, 30_000.0, None)
    )

    def at_most(*results: PointResult) -> float | None:
        return repeats.Series(a_spec(), results).at_most

    assert at_most(low, high) == 30_000.0
    assert at_most(low, own) == 20_000.0
    assert at_most(low, unbounded) is None
    assert at_most(with_bound(Bound.SOFTWARE, at_most=9.0)) is None


def of_two_operations(spec: PointSpec, finds: int, writes: int, failed: int = 0) -> PointResult:
    """Return a point of 2 s with two operations: a search of 50 us and a change of 900 us."""
    steps = []
    for name, done, failures, ns in (
        ("find", finds, {}, 50_000),
        ("write", writes, {"timeout": failed} if failed else {}, 900_000),
    ):
        took = histogram()
        took.record(ns, done)
        count = done + sum(failures.values())
        steps.append(Step(name, name, count, failures, 104 * count, 1_283 * count, took))
    tally = Tally.starting(Drain(0, 10))
    tally.add(Drain(10, 10 + 2_000_000_000, tuple(steps), cpu_ns=(800_000_000,)))
    counts = [(step.program, step.step) for step in steps]
    return summarise(spec, tally, counts, a_use(), target_cores=1, native=True)


def test_total_is_the_sum_of_operations_with_their_own_figures() -> None:
    points = [
        of_two_operations(a_spec("mix", repeat=0), 1_000, 200),
        of_two_operations(a_spec("mix", repeat=1), 3_000, 400, failed=7),
    ]
    (found,) = repeats.series(points)
    assert not found.part
    find, write = found.parts
    assert (find.part, write.part) == (True, True)
    assert [each.spec.operation for each in (find, write)] == ["- find", "- write"]
    assert find.values(rate) == [500.0, 1_500.0]
    assert write.values(rate) == [100.0, 200.0]
    assert [each.operations for each in write.results] == [200, 400]
    assert (find.failures, write.failures) == (0, 7)
    assert [each.failures for each in write.results] == [0, 7]
    for part, us in ((find, 50), (write, 900)):
        median = part.values(lambda result: result.clocks["latency"].percentiles["p50"])
        assert median == pytest.approx([us, us], rel=0.02)
    assert {step.program for result in write.results for step in result.steps} == {"write"}


def test_failure_of_an_earlier_step_counts_for_the_operation() -> None:
    mixed = of_two_operations(a_spec("mix"), 1_000, 200, failed=7)
    read = StepResult("write", "read", count=212, failures=5, per_s=103.5, counted=False)
    mixed = replace(mixed, steps=(*mixed.steps, read))
    assert [repeats.of_operation(mixed, name).failures for name in ("find", "write")] == [0, 12]


def test_start_steps_are_a_part_of_the_series_only_if_some_of_them_failed() -> None:
    mixed = of_two_operations(a_spec("mix"), 1_000, 200)

    def parts(failures: int) -> list[tuple[str, int, int]]:
        login = StepResult("start", "login", count=9, failures=failures, per_s=4.5, counted=False)
        (whole,) = repeats.series([replace(mixed, steps=(*mixed.steps, login))])
        return [
            (part.spec.operation, part.failures, part.results[0].operations) for part in whole.parts
        ]

    operations = [("- find", 0, 1_000), ("- write", 0, 200)]
    assert parts(0) == operations
    assert parts(7) == [("- start", 7, 0), *operations]


def test_single_operation_has_no_parts() -> None:
    (single,) = repeats.series(repeated(100, 200))
    assert single.parts == ()
    mixed = of_two_operations(a_spec("mix"), 1_000, 0)
    assert repeats.series([mixed])[0].parts == ()
    absent = repeats.of_operation(mixed, "nothing")
    assert (absent.operations, absent.failures, absent.steps) == (0, 0, ())
    limited = judged(mixed, at_most_per_s=9_000.0)
    # The upper bound of the target belongs to the mixture.
    assert repeats.of_operation(limited, "find").verdict.at_most_per_s is None


def test_higher_rate_of_two_tries_counts_and_a_valid_try_wins_within_noise() -> None:
    def tried(threads: int, bound: str, count: int) -> PointResult:
        return with_bound(bound, count, threads=threads)

    own, tester = Bound.SOFTWARE, Bound.GENERATOR

    def chosen(*results: PointResult) -> int:
        (found,) = repeats.best_tries(results)
        return found.operations

    assert chosen(tried(1, tester, 100), tried(2, tester, 101)) == 101
    assert chosen(tried(1, tester, 101), tried(2, tester, 100)) == 101
    assert chosen(tried(1, own, 100), tried(2, tester, 104)) == 100
    assert chosen(tried(1, tester, 104), tried(2, own, 100)) == 100
    assert chosen(tried(1, own, 100), tried(2, tester, 106)) == 106
    # An invalid try never counts, however high its rate.
    assert chosen(tried(1, own, 100), tried(2, Bound.UNSETTLED, 900)) == 100
    # Of equal tries the first counts.
    assert repeats.best_tries([tried(1, own, 100), tried(2, own, 100)])[0].spec.threads == 1


def test_rate_at_half_load_is_taken_from_the_same_repeat_or_is_the_median() -> None:
    halves = [
        a_result(a_spec(users=8, repeat=n), count)
        for n, count in enumerate((20_000, 10_000, 30_000))
    ]
    assert repeats.rate_at_half(a_spec(users=16, repeat=1), halves) == 5_000
    assert repeats.rate_at_half(a_spec(users=16, repeat=3), halves) == 10_000
    assert repeats.rate_at_half(a_spec(users=32), halves) is None
    assert repeats.rate_at_half(a_spec(users=16, rate=100), halves) is None


def test_costs_at_other_loads_are_those_of_successful_points_of_the_target() -> None:
    spec = a_spec(users=16, settings={"keys": "uniform"})
    lighter = a_result(replace(spec, users=4))
    thread_more = a_result(replace(spec, threads=2), 40_000)
    other_keys = a_result(replace(lighter.spec, settings={"keys": "zipfian"}))
    larger = a_result(replace(lighter.spec, entries=9_000))
    failed = replace(lighter, failures_by_kind={"timeout": 1})
    unsteady = judged(lighter, valid=False, bound="unsettled")
    assert repeats.other_loads(spec, [other_keys, larger, failed, unsteady, a_result(spec)]) == []
    found = repeats.other_loads(spec, [lighter, thread_more])
    assert [each.cores for each in found] == [0.95, 0.95]
    assert [each.cost_s * 1e6 for each in found] == pytest.approx([95.0, 47.5])

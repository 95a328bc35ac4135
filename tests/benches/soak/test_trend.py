"""What a long run is blamed for, and what not: drift and leaks planted in figures made up."""

from dataclasses import replace

from benches.soak.reading import Course
from benches.soak.trend import CPU, MEMORY, PARTS, RATE, Part, Trend, judge

PART = Part(
    seconds=360.0,
    operations=30_000_000,
    target_cpu_s=180.0,
    tester_cpu_s=270.0,
    target_bytes=1e9,
    entries=1_030_000,
    p50_s=600e-6,
    p99_s=3e-3,
)
AT_S = [36.0 * n for n in range(90)]
EVEN = Trend(AT_S, [150e6 + 1e5 * (n % 7) for n in range(90)])


def wrong(
    last: Part = PART, directory: Trend = EVEN, tester: Trend = EVEN, first: Part = PART
) -> list[str]:
    parts = [first, *[PART] * (PARTS - 2), last]
    return [each.what for each in judge(parts, directory, tester) if not each.holds]


def growing(share: float) -> Trend:
    """Return memory that grows by a share, beside its noise."""
    return Trend(AT_S, [v * (1 + share * n / 89) for n, v in enumerate(EVEN.values)])


def test_an_even_run_is_blamed_for_nothing() -> None:
    assert wrong() == []


def test_memory_that_grows_is_a_leak_of_that_side() -> None:
    assert wrong(tester=growing(0.03)) == [MEMORY["tester"]]
    assert wrong(directory=growing(0.03)) == [MEMORY["even"]]
    assert wrong(tester=growing(0.01), directory=growing(-0.2)) == []


def test_a_step_in_the_middle_counts_as_growth_and_one_that_goes_again_does_not() -> None:
    values = list(EVEN.values)
    stepped = Trend(AT_S, values[:45] + [v * 1.06 for v in values[45:]])
    passing = Trend(AT_S, values[:40] + [v * 1.08 for v in values[40:50]] + values[50:])
    assert wrong(tester=stepped) == [MEMORY["tester"]]
    assert wrong(tester=passing) == []


def test_an_operation_that_takes_more_cpu_time_at_the_end_is_blamed_on_its_side() -> None:
    assert wrong(replace(PART, target_cpu_s=180.0 * 1.3)) == [CPU["target"]]
    assert wrong(replace(PART, tester_cpu_s=270.0 * 1.3)) == [CPU["tester"]]


def test_a_rate_that_falls_is_told_apart_from_operations_that_cost_more() -> None:
    slowed = replace(PART, operations=18_000_000, target_cpu_s=108.0, tester_cpu_s=162.0)
    assert wrong(slowed) == [RATE]
    assert wrong(first=slowed) == []
    dearer = replace(slowed, target_cpu_s=108.0 * 1.3)
    assert wrong(dearer) == [RATE, CPU["target"]]


def test_nothing_done_at_the_end_is_told_and_not_stumbled_over() -> None:
    assert RATE in wrong(replace(PART, operations=0))


def test_a_count_grows_evenly_between_readings_and_a_gauge_holds() -> None:
    course = Course([0.0, 10.0, 30.0], [5.0, 25.0, 15.0])
    assert course.between(0, 5) == 10.0
    assert course.between(10, 20) == -5.0
    assert [course.held(t) for t in (-1, 0, 9, 10, 99)] == [5.0, 5.0, 5.0, 25.0, 15.0]
    assert [course.most(t) for t in (-1, 9, 10, 99)] == [5.0, 5.0, 25.0, 25.0]

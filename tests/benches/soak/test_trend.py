"""The findings of a long run: drift and leaks planted in invented figures."""

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
    """Return memory that grows by a share, with noise."""
    return Trend(AT_S, [v * (1 + share * n / 89) for n, v in enumerate(EVEN.values)])


def test_run_without_a_trend_has_no_findings() -> None:
    assert wrong() == []


def test_growing_memory_is_reported_as_a_leak_of_its_process() -> None:
    assert wrong(tester=growing(0.03)) == [MEMORY["tester"]]
    assert wrong(directory=growing(0.03)) == [MEMORY["even"]]
    assert wrong(tester=growing(0.01), directory=growing(-0.2)) == []


def test_lasting_step_of_memory_is_growth_and_temporary_step_is_not() -> None:
    values = list(EVEN.values)
    stepped = Trend(AT_S, values[:45] + [v * 1.06 for v in values[45:]])
    passing = Trend(AT_S, values[:40] + [v * 1.08 for v in values[40:50]] + values[50:])
    assert wrong(tester=stepped) == [MEMORY["tester"]]
    assert wrong(tester=passing) == []


def test_rising_cpu_per_operation_is_reported_for_target_and_generator() -> None:
    assert wrong(replace(PART, target_cpu_s=180.0 * 1.3)) == [CPU["target"]]
    assert wrong(replace(PART, tester_cpu_s=270.0 * 1.3)) == [CPU["tester"]]


def test_falling_rate_and_rising_cpu_cost_are_separate_findings() -> None:
    slowed = replace(PART, operations=18_000_000, target_cpu_s=108.0, tester_cpu_s=162.0)
    assert wrong(slowed) == [RATE]
    assert wrong(first=slowed) == []
    dearer = replace(slowed, target_cpu_s=108.0 * 1.3)
    assert wrong(dearer) == [RATE, CPU["target"]]


def test_zero_operations_at_the_end_are_a_falling_rate() -> None:
    assert RATE in wrong(replace(PART, operations=0))


def test_counts_are_interpolated_between_readings_and_gauges_are_not() -> None:
    course = Course([0.0, 10.0, 30.0], [5.0, 25.0, 15.0])
    assert course.between(0, 5) == 10.0
    assert course.between(10, 20) == -5.0
    assert [course.held(t) for t in (-1, 0, 9, 10, 99)] == [5.0, 5.0, 5.0, 25.0, 15.0]
    assert [course.most(t) for t in (-1, 9, 10, 99)] == [5.0, 5.0, 25.0, 25.0]

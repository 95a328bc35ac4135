"""What `vary` says of each level beside the base, and of more threads."""

from dataclasses import replace

from rich.console import Console

from sitebench.runs.point import PointResult
from sitebench.suite_base.vary import Level, scaled, table
from sitebench.verdict.verdict import Bound
from tests.support.points import a_result, a_spec


def point(threads: int, count: int, bound: str = Bound.TARGET_CPU) -> PointResult:
    made = a_result(a_spec(settings={"threads": str(threads)}), count)
    verdict = replace(made.verdict, bound=bound, valid=bound == Bound.TARGET_CPU)
    return replace(made, verdict=verdict)


def level(result: PointResult) -> tuple[Level, str]:
    return Level("threads", result.spec.settings["threads"], None), result.spec.key


def shown(base: PointResult, *others: PointResult) -> list[str]:
    console = Console(record=True, width=200)
    console.print(table([base, *others], base.spec.key, [level(each) for each in others]))
    return [line for line in console.export_text().splitlines() if " threads " in f" {line}"]


def test_a_level_is_compared_with_the_base_where_both_are_measured() -> None:
    (line,) = shown(point(1, 20_000), point(2, 30_000))
    assert "15,000" in line
    assert "+50.0%" in line


def test_a_rate_that_the_tester_bounds_is_marked_and_brings_no_gain() -> None:
    (line,) = shown(point(1, 20_000), point(2, 30_000, Bound.GENERATOR))
    assert ">= 15,000" in line
    assert "%" not in line
    (line,) = shown(point(1, 20_000, Bound.UNSETTLED), point(2, 30_000))
    assert "%" not in line


def test_what_more_threads_brought_is_said_in_plain_words_of_measured_points_alone() -> None:
    one, two, six = point(1, 20_000), point(2, 30_000), point(6, 60_000)
    assert scaled([one, two, six], [level(each) for each in (one, two, six)]) == [
        "threads 1 to 2: +50 %, 75% of what twice the threads could bring",
        "threads 2 to 6: +100 %, 67% of what 3 times the threads could bring",
    ]
    full = point(2, 30_000, Bound.GENERATOR)
    assert scaled([one, full], [level(one), level(full)]) == []

"""Printed comparisons of `vary`: each level with the base, and more threads."""

import contextlib
import math
import random
import re
from dataclasses import replace

import pytest
from msgspec import structs

from sitebench.compare.effect import effect, odd_and_even
from sitebench.measure.sweep import Stage, repeat_stages
from sitebench.runs.point import PointResult
from sitebench.suite_base.vary import Level, _cells, read, scaling_lines, table
from sitebench.targets.limits import Limits
from sitebench.verdict.verdict import Bound
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec, a_test, judged
from tests.support.shown import shown
from web_bench.options import WebOptions

INTERVAL = re.compile(r"([+-][\d.]+)% to ([+-][\d.]+)%")


def point(threads: int, count: int, bound: str = Bound.TARGET_CPU) -> PointResult:
    made = a_result(a_spec(settings={"threads": str(threads)}), count)
    return judged(made, bound=bound, valid=bound == Bound.TARGET_CPU)


def level(result: PointResult) -> tuple[Level, str]:
    return Level("threads", result.spec.settings["threads"], WebOptions()), result.spec.key


Repeats = PointResult | list[PointResult]
"""The points of a level: one, or its repeats."""


def drawn(*levels: Repeats) -> list[str]:
    """Return the lines of the table that compares levels with the first of them."""
    repeats = [one if isinstance(one, list) else [one] for one in levels]
    base, *others = (one[0] for one in repeats)
    every = [result for one in repeats for result in one]
    varied = table(every, base.spec.key, [level(other) for other in others])
    return shown([varied]).splitlines()


def rows(*levels: Repeats) -> list[str]:
    return [line for line in drawn(*levels) if " threads " in f" {line}"]


def null_line(*levels: Repeats) -> str | None:
    return next((line for line in drawn(*levels) if "(null)" in line), None)


def scaling(*points: PointResult) -> list[str]:
    return scaling_lines([*points], [level(point) for point in points])


def test_level_is_compared_with_the_base_if_both_are_measured() -> None:
    (line,) = rows(point(1, 20_000), point(2, 30_000))
    assert "15,000" in line
    assert "+50.0%" in line


def test_tables_without_an_effect_seldom_show_a_gain() -> None:
    """With an interval of 95 % for each of eight levels, one table in four showed a gain."""
    lot, tables, false = random.Random(1997), 60, 0
    made = point(1, 20_000)
    for _ in range(tables):
        levels = [
            [
                structs.replace(
                    made,
                    spec=structs.replace(made.spec, settings={"threads": str(n)}, repeat=repeat),
                    operations=round(20_000 * math.exp(lot.gauss(0, 0.03))),
                )
                for repeat in range(10)
            ]
            for n in range(1, 10)
        ]
        lines = drawn(*levels)
        assert sum(map(bool, map(INTERVAL.search, lines))) == 9  # The null's, and each level's.
        gains = [gain for line in lines if "(null)" not in line for gain in INTERVAL.findall(line)]
        false += any(float(low) > 0 or float(high) < 0 for low, high in gains)
    assert false <= 0.1 * tables


def test_each_repeat_has_every_level_once_in_random_order() -> None:
    specs = [a_spec(settings={"threads": str(n)}) for n in range(4)]
    stages = [Stage("", [a_test(spec)], contextlib.nullcontext) for spec in specs]  # type: ignore[arg-type]
    found = repeat_stages(stages, 20, random.Random(1997))
    rounds = [[each.tests[0].spec for each in found[n : n + 4]] for n in range(0, 80, 4)]
    for n, made in enumerate(rounds):
        assert {spec.repeat for spec in made} == {n}
        assert sorted(spec.settings["threads"] for spec in made) == ["0", "1", "2", "3"]
    first = [made[0].settings["threads"] for made in rounds]
    assert all(first.count(str(n)) < 11 for n in range(4))
    assert repeat_stages(stages, 20, random.Random(1997)) == found


def test_rate_limited_by_the_generator_is_marked_and_shows_no_gain() -> None:
    (line,) = rows(point(1, 20_000), point(2, 30_000, Bound.GENERATOR))
    assert ">= 15,000" in line
    assert "%" not in line
    (line,) = rows(point(1, 20_000, Bound.UNSETTLED), point(2, 30_000))
    assert "%" not in line


def failing(result: PointResult, failures: int) -> PointResult:
    return structs.replace(result, failures_by_kind={"timeout": failures})


def test_level_with_fast_failures_shows_no_gain() -> None:
    """For a server with slow answers, a timeout of 20 ms had a gain of 15 %: 6 of 100 failed."""
    base, faster = point(1, 20_000), point(2, 23_000)
    (line,) = rows(base, failing(faster, 200))
    assert "+15.0%" in line  # Under 1 %, as without --allow-failures.
    for one, other in ((base, failing(faster, 1_500)), (failing(base, 1_500), faster)):
        (line,) = rows(one, other)
        assert "%" not in line
        assert scaling(one, other) == []
    assert scaling(base, faster) != []
    # One repeat of two suffices.
    one, other = repeats(2, 23_000, 23_000)
    (line,) = rows(repeats(1, 20_000, 20_000), [one, failing(other, 1_500)])
    assert "%" not in line


def at_a_rate(threads: int, p50_us: float, lost: bool = False) -> PointResult:
    """Return a point that kept 10,000/s, with this median latency."""
    settings = {"threads": str(threads), "arrivals": "poisson"}
    made = a_result(a_spec(settings=settings, rate=10_000.0))
    bounds = ("p50",) if lost else ()
    return changed(
        made, latency=structs.replace(made.clocks["latency"], p50=p50_us, at_least=bounds)
    )


def test_gain_at_a_fixed_rate_is_that_of_the_latency() -> None:
    """All levels keep the rate: a level with half the latency had a gain of 0.0 %."""
    one, two = at_a_rate(1, 800.0), at_a_rate(2, 400.0)
    (line,) = rows(one, two)
    assert "400 us" in line
    assert "-50.0%" in line
    text = "\n".join(drawn(one, two))
    assert "Gain" not in text
    assert "Change" in text
    assert scaling(one, two) == []


def test_latency_bounds_and_latencies_without_rate_are_not_compared() -> None:
    base = at_a_rate(1, 800.0)
    for other in (at_a_rate(2, 400.0, lost=True), point(2, 30_000)):
        (line,) = rows(base, other)
        assert "%" not in line


def test_scaling_by_threads_is_stated_only_for_measured_points() -> None:
    one, two, six = point(1, 20_000), point(2, 30_000), point(6, 60_000)
    assert scaling(one, two, six) == [
        "threads 1 to 2: +50 %, 75% of the possible gain of twice the threads",
        "threads 2 to 6: +100 %, 67% of the possible gain of 3 times the threads",
    ]
    assert scaling(two, point(4, 60_000)) == [
        "threads 2 to 4: +100 %, 100% of the possible gain of twice the threads"
    ]
    assert scaling(one, point(2, 30_000, Bound.GENERATOR)) == []


def test_each_level_differs_from_the_base_in_one_option() -> None:
    limits = Limits(processors=2, memory=1 << 30)
    base = WebOptions(target_limits=limits, directives={"KeepAlive": "on"})
    asked = ("processors=1", "workers=3", "keepalive=on, off", "config:MaxClients=9", "users=7")
    made = read(base, asked)
    assert [(each.factor, each.value) for each in made] == [
        *(("processors", "1"), ("workers", "3"), ("keepalive", "on"), ("keepalive", "off")),
        *(("config:MaxClients", "9"), ("users", "7")),
    ]
    assert [each.options for each in made] == [
        replace(base, target_limits=structs.replace(limits, processors=1)),
        replace(base, target_threads=3),
        replace(base, keepalive=True),
        replace(base, keepalive=False),
        replace(base, directives={"KeepAlive": "on", "MaxClients": "9"}),
        replace(base, users=7),
    ]


@pytest.mark.parametrize(
    ("word", "on"),
    [("on", True), ("true", True), ("yes", True), ("off", False), ("false", False), ("no", False)],
)
def test_each_word_for_on_or_off_sets_a_varied_switch(word: str, on: bool) -> None:
    (made,) = read(WebOptions(keepalive=not on), [f"keepalive={word}"])
    assert vars(made.options)["keepalive"] is on


def repeats(threads: int, *counts: int, bound: str = Bound.TARGET_CPU) -> list[PointResult]:
    made = [point(threads, count, bound) for count in counts]
    return [
        structs.replace(each, spec=structs.replace(each.spec, repeat=n))
        for n, each in enumerate(made)
    ]


def test_null_line_compares_odd_with_even_repeats_of_all_levels() -> None:
    lot = random.Random(1997)
    base, level_ = (
        repeats(n, *(round(20_000 * math.exp(lot.gauss(0, 0.03))) for _ in range(32)))
        for n in (1, 2)
    )
    logs = [[math.log(each.ops_per_s) for each in one] for one in (base, level_)]
    pairs = [odd_and_even(one) for one in logs]
    odd, even = ([*pairs[0][n], *pairs[1][n]] for n in (0, 1))

    def compare(line: str | None, odd: list[float], even: list[float], alpha: float) -> None:
        interval = _cells(effect(odd, even, alpha))[1]
        assert INTERVAL.fullmatch(interval)
        assert line is not None
        assert interval in line

    compare(null_line(base, level_), odd, even, 0.05)
    # There is no null line for points bound by the load generator or without operations.
    bounded = repeats(2, *(9_000, 1_000) * 16, bound=Bound.GENERATOR)
    nothing = repeats(3, *(9_000, 0) * 16)
    compare(null_line(base, bounded, nothing), *pairs[0], 0.025)
    assert null_line(bounded) is None


def test_repeat_without_operations_is_left_out_of_the_gain() -> None:
    (line,) = rows(repeats(1, 20_000, 20_000), repeats(2, 30_000, 0))
    assert "+50.0%" in line


def test_only_the_base_level_is_marked_as_the_base() -> None:
    base, bounded = point(1, 20_000), point(2, 30_000, Bound.GENERATOR)
    same, other = rows(base, base, bounded)
    assert "is the base" in same
    assert "is the base" not in other


def test_scaling_is_stated_only_for_numeric_levels_of_a_scalable_option() -> None:
    few, many = point(1, 20_000), point(2, 30_000)
    for factor, first, then in (
        ("keys", "1", "2"),
        ("threads", "one", "2"),
        ("threads", "1", "two"),
        ("threads", "2", "1"),
        ("threads", "0", "2"),
        ("threads", "2", "2"),
    ):
        levels = [
            (Level(factor, value, WebOptions()), each.spec.key)
            for value, each in ((first, few), (then, many))
        ]
        assert scaling_lines([few, many], levels) == [], (factor, first, then)
    apart = [(Level("threads", "1", WebOptions()), few.spec.key)]
    apart += [(Level("workers", "2", WebOptions()), many.spec.key)]
    assert scaling_lines([few, many], apart) == []
    assert scaling(point(1, 0), many) == []

"""Intervals contain the true percentile at the stated level, in slow periods too.

A few windows of a fixed seed; `make truth-intervals` takes hundreds of each kind.
"""

import math
import random
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import NormalDist

import pytest

from sitebench._engine import Histogram
from sitebench.counts import durations
from sitebench.counts.durations import PERCENTILES, Durations
from sitebench.counts.percentile_interval import Intervals, percentile_intervals
from sitebench.counts.until import Until
from sitebench.plan import model
from tests.support.drains import histogram

STRETCHES, EACH = 20, 300
SPREAD, MOVING = 0.4, 0.2
DRAWN = [math.exp(NormalDist(0, SPREAD).inv_cdf((n + 0.5) / 1_000)) for n in range(1_000)]
"""The lognormal as equally probable values; drawing from the distribution takes thrice as long."""


def correlated(draw: random.Random, deviation: float, alike: float, count: int) -> Iterator[float]:
    """Yield deviations that resemble their neighbours (AR(1))."""
    off = draw.gauss(0, deviation)
    for _ in range(count):
        yield off
        off = alike * off + draw.gauss(0, deviation * math.sqrt(1 - alike**2))


def window(
    lot: random.Random, alike: float, half_seconds: int, moving: float, count: int = EACH
) -> list[Histogram]:
    """Return half seconds whose latencies' scale moves with correlated neighbours (AR(1))."""
    scales = (1e6 * math.exp(off) for off in correlated(lot, moving, alike, half_seconds))
    return [histogram(*[round(at * x) for x in lot.choices(DRAWN, k=count)]) for at in scales]


def true_us(moving: float) -> dict[str, float]:
    """Return the percentiles of all windows: a lognormal with a lognormal scale is lognormal."""
    normal, deviation = NormalDist(), math.hypot(SPREAD, moving)
    return {n: 1e3 * math.exp(deviation * normal.inv_cdf(q / 100)) for n, q in PERCENTILES.items()}


def one_queue(lot: random.Random, rate: int, busy: float, seconds: int) -> list[Histogram]:
    """Return half seconds of one server with random arrivals and service times (M/M/1)."""
    stretches = [histogram() for _ in range(2 * seconds)]
    free_s = at_s = -20.0
    while (at_s := at_s + lot.expovariate(rate)) < seconds:
        free_s = max(at_s, free_s) + lot.expovariate(rate / busy)
        if at_s >= 0:
            last = min(2 * seconds - 1, int(2 * free_s))
            stretches[last].record(round(1e9 * (free_s - at_s)))
    return stretches


class Held:
    """The number of windows with an interval, and of intervals with the true percentile."""

    def __init__(self) -> None:
        self.windows = self.bounded = self.two_sided = self.held = 0

    def add(self, intervals: Intervals, name: str, true: float) -> None:
        self.windows += 1
        if name in intervals.bounds:
            low, high = intervals.bounds[name]
            self.bounded += 1
            self.two_sided += high is not None
            # Within the histogram's three digits.
            self.held += low <= true * 1.001 and (high is None or true <= high * 1.001)

    @property
    def missed(self) -> int:
        return self.bounded - self.held

    def __repr__(self) -> str:
        return f"of {self.windows}, {self.bounded} with an interval, {self.missed} wrong"


def held(
    make_window: Callable[[], list[Histogram]], true: dict[str, float], windows: int
) -> dict[str, Held]:
    """Return the counts of `windows` windows for these percentiles."""
    figures = {name: Held() for name in true}
    for _ in range(windows):
        intervals = percentile_intervals(make_window())
        for name, counts in figures.items():
            counts.add(intervals, name, true[name])
    return figures


def test_intervals_cover_the_true_percentile_at_their_stated_level() -> None:
    lot = random.Random(1997)
    true = {name: us for name, us in true_us(0).items() if name in {"p50", "p90"}}
    figures = held(lambda: window(lot, 0, 60, 0, count=100), true, 20)
    for counts in figures.values():
        assert counts.two_sided >= 18, figures
        assert counts.missed <= 1, figures


def test_interval_of_independent_operations_is_1_4_to_6_percent_wide() -> None:
    """Independent operations: 20,000 give p50 to 0.7 %; half seconds leave more uncertainty."""
    lot = random.Random(5)
    low, high = percentile_intervals(window(lot, 0, 60, 0, count=330)).bounds["p50"]
    assert 0.014 <= ((high or 0.0) - low) / low <= 0.06


@pytest.mark.parametrize(("alike", "moving"), [(0.9, 0.05), (0.95, 0.1), (0.5, MOVING)])
def test_intervals_cover_the_percentile_of_correlated_half_seconds(
    alike: float, moving: float
) -> None:
    """With 50 operations in each, a correlation of 0.9 looks like 0.3: 10 of 25 p50s were wrong."""
    lot = random.Random(1997)
    true = {"p50": true_us(moving)["p50"], "p90": true_us(moving)["p90"]}
    figures = held(lambda: window(lot, alike, 120, moving, count=50), true, 25)
    assert all(counts.missed <= 3 for counts in figures.values()), figures
    assert sum(counts.bounded for counts in figures.values()) >= 10, figures


def test_percentile_within_few_bursts_has_no_upper_bound() -> None:
    """At 90 % load a queue exceeds its p99 once in a minute: 7 of 25 intervals were wrong."""
    lot = random.Random(1997)
    true = {"p99": -math.log(0.01) * 1e6 * 0.9 / 200 / 0.1}
    figures = held(lambda: one_queue(lot, 200, 0.9, 60), true, 25)["p99"]
    assert figures.missed <= 2, figures
    assert figures.two_sided == 0 < figures.bounded, figures


def test_too_correlated_half_seconds_have_no_interval_but_a_required_window() -> None:
    lot, refused = random.Random(1997), list[float]()
    for _ in range(20):
        intervals = percentile_intervals(window(lot, 0.9, STRETCHES, MOVING))
        assert not set(intervals.bounds) & set(intervals.too_alike)
        refused += [intervals.too_alike["p50"]] if "p50" in intervals.too_alike else []
    assert len(refused) >= 16
    # With a correlation of 0.9, 19 half seconds are worth one independent half second.
    assert 30 <= statistics.median(refused) <= 300
    assert all(seconds >= 20 and seconds % 10 == 0 for seconds in refused)


def test_window_of_the_advised_length_has_an_interval() -> None:
    lot = random.Random(1)
    short = [percentile_intervals(window(lot, 0.8, 40, MOVING)) for _ in range(8)]
    would_do_s = statistics.median(s for one in short for s in one.too_alike.values())
    long = [window(lot, 0.8, round(2 * would_do_s), MOVING, count=100) for _ in range(5)]
    assert sum("p50" in percentile_intervals(stretches).bounds for stretches in long) >= 4


def stalls(
    lot: random.Random, every_s: float, length_s: float, seconds: int
) -> tuple[list[Histogram], int]:
    """Return half seconds of a target with random stalls at 1,000/s, and the number of stalls."""
    found, times = [histogram() for _ in range(2 * seconds)], 0
    begins_s = lot.expovariate(1 / every_s)
    for n in range(1_000 * seconds):
        due_s = n / 1_000
        if due_s >= begins_s + length_s:
            begins_s += length_s + lot.expovariate(1 / every_s)
        times += begins_s <= due_s < begins_s + 1e-3
        waits_s = begins_s + length_s - due_s if due_s >= begins_s else 0.0
        found[int(2 * due_s)].record(round(1e6 * (1 + lot.random() / 5) + 1e9 * waits_s))
    return found, times


def p99_of_stalls(every_s: float, length_s: float) -> float:
    """Return the true p99 in microseconds: 1 % of the arrivals wait longer in their stall."""
    return 1e6 * (length_s - 0.01 * (every_s + length_s)) + 1_100


def test_interval_of_a_window_with_a_rare_stall_covers_the_stall() -> None:
    lot, with_any, with_none = random.Random(1997), Held(), Held()
    for _ in range(30):
        stretches, times = stalls(lot, 10.0, 0.2, 10)
        figures = with_any if times else with_none
        figures.add(percentile_intervals(stretches), "p99", p99_of_stalls(10.0, 0.2))
    assert with_any.held == with_any.bounded >= 0.5 * with_any.windows, with_any
    # A window without a stall cannot cover one.
    assert with_none.missed == with_none.two_sided, with_none


def test_one_stall_counts_as_one_event() -> None:
    calm = [histogram() for _ in range(STRETCHES)]
    for each in calm:
        each.record(1_000_000, 5_000)
    calm[7].record(20_000_000, 1_200)
    low, high = percentile_intervals(calm).bounds["p99"]
    assert low < 1_010
    assert high is None or high > 19_900


def test_too_few_half_seconds_have_no_interval() -> None:
    each = histogram()
    each.record(1_000_000, 50_000)
    assert percentile_intervals([each] * 7) == Intervals()
    assert percentile_intervals([]) == Intervals()
    assert percentile_intervals([each] * 8).bounds["p99"] == pytest.approx((1_000, 1_000), rel=1e-3)


def test_interval_and_percentile_include_abandoned_operations_alike() -> None:
    answered, given_up = [histogram() for _ in range(STRETCHES)], histogram()
    for each in answered:
        for us in range(1_000, 6_000):
            each.record(us * 1_000)
    given_up.record(10**10, 500)
    whole = histogram()
    for each in answered:
        whole.add(each)
    figures = Durations.of(whole, given_up)
    intervals = percentile_intervals(answered, given_up)
    bounds = intervals.bounds
    # 0.5 % were abandoned: the p99 of all is the p99.5 of the answered operations.
    p99, p50 = figures.p99 or 0.0, figures.p50 or 0.0
    assert p99 > 5_970
    low, high = bounds["p99"]
    assert low <= p99
    # All may have been abandoned in one event: then the upper bound is one of them.
    assert high is None
    assert figures.at_least == ("p99_9", "max", "mean")
    assert "p99_9" not in bounds
    low, high = bounds["p50"]
    assert low <= p50 <= (high or 0.0)
    assert not Until.parse("p99:50%").is_precise(intervals)
    assert Until.parse("p99:50%").is_precise(percentile_intervals(answered))


@pytest.mark.parametrize("lost", [0, 110, 119])
def test_interval_contains_the_percentile_for_independent_half_seconds(lost: int) -> None:
    """Half seconds counted for less than one operation: a p99 of 1.283 ms was 1.011 to 1.278 ms."""
    for seed in range(20):
        lot, window, never = random.Random(seed), list[Histogram](), Histogram()
        for _ in range(20):
            window.append(histogram(*[10**6 + 1_000 * lot.randrange(300)] * 600))
        never.record(3 * 10**9, lost)
        whole = never.copy()
        for stretch in window:
            whole.add(stretch)
        found = percentile_intervals(window, never).bounds
        if "p99" not in found:
            continue  # too correlated, by chance
        for name, (low, high) in found.items():
            value = whole.percentile(PERCENTILES[name]) / 1e3
            assert low <= value, (seed, name)
            assert high is None or value <= high, (seed, name)
        assert found["p99"][1] is None
        assert not Until.parse("p99:5%").is_precise(Intervals(found))


# Percentiles are declared once, as fields of `Durations`.

ROOT = Path(__file__).parents[2]
LISTED = re.compile(r"p99[._]9|\bp999\b")


def test_percentile_names_match_their_values() -> None:
    assert PERCENTILES == {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}
    assert model.PERCENTILES == {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
    assert list(Durations().percentiles) == list(PERCENTILES)


def test_only_one_file_names_p99_9() -> None:
    """Five files named p99_9: a new percentile had to be added to each of them."""
    product = [
        file
        for room in ("sitebench", "ils_bench", "ps_bench", "web_bench")
        for suffix in ("py", "js")
        for file in (ROOT / room).rglob(f"*.{suffix}")
        if "data" not in file.parts and ".min." not in file.name
    ]
    assert Path(durations.__file__) in product
    assert [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in product
        if file != Path(durations.__file__)
        for line in file.read_text(encoding="utf-8").splitlines()
        if LISTED.search(line)
    ] == []

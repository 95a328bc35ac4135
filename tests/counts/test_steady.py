"""Whether a window was steady: invented series, and real targets that settle or never settle."""

import itertools
import math
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench._engine import Directory, Engine
from sitebench.counts.steady import MIN_SLOTS, MOST_WINDOWS, Settled, Steadiness, _wander, settle
from sitebench.counts.tally import Tally
from tests.counts.test_percentile_interval import correlated
from tests.engine.test_freeze import engine
from tests.support.frozen import PEOPLE
from tests.support.people import small_population
from tests.support.relay import Changing, paced, relayed

HALF_S = 0.5
Series = list[tuple[float, int]]


def series(rate: Callable[[float], float], seconds: float, noise: float, seed: int = 1) -> Series:
    """Return half seconds of a rate over time with random noise."""
    draw = random.Random(seed)
    middles = (HALF_S * (n + 0.5) for n in range(int(seconds / HALF_S)))
    return [(HALF_S, round(rate(at) * HALF_S * draw.gauss(1, noise))) for at in middles]


def test_message_for_a_window_of_half_a_second_is_grammatical() -> None:
    found = settle(series(lambda _: 10_000, 0.5, 0.02))
    said = f"it has 1 of the {MIN_SLOTS} half seconds that tell a drift from chance"
    assert (found.state, found.evidence) == (Steadiness.TOO_SHORT, said)


def test_constant_rate_is_settled() -> None:
    found = settle(series(lambda _: 10_000, 10, 0.02))
    assert found.state == Steadiness.SETTLED
    assert found.slope_percent is not None
    assert abs(found.slope_percent) < 5


@pytest.mark.parametrize("change", [-0.5, -0.12, 0.12, 1.0])
def test_drifting_rate_is_unsettled_with_its_slope(change: float) -> None:
    found = settle(series(lambda at: 10_000 * (1 + change * at / 20), 20, 0.01))
    assert found.state == Steadiness.UNSETTLED
    middle = change / (1 + change / 2)
    assert found.slope_percent == pytest.approx(100 * middle, rel=0.35)
    assert f"the rate {'rose' if change > 0 else 'fell'} from about " in found.evidence


def test_drift_is_reported_with_its_first_and_last_rate() -> None:
    evidence = settle(series(lambda at: 8_056 - 525.8 * at, 10, 0)).evidence
    assert evidence.startswith(
        "the rate fell from about 8,060/s to 2,800/s between seconds 0.0 and 10.0 of the window"
    )
    waited = [50 * 2e6 * 1.1**n for n in range(20)]
    evidence = settle([(HALF_S, 50)] * 20, [0] * 20, waited).evidence
    assert evidence.startswith("the mean latency rose from about 1.91 ms to 12.8 ms between ")


def test_reported_rate_is_never_negative() -> None:
    found = settle(series(lambda at: 10_000 * math.exp(-at / 2), 10, 0.01))
    assert found.state == Steadiness.UNSETTLED
    assert (found.slope_percent or 0) < -100, "of the median, which is small"
    assert re.match(r"the rate fell from about [\d,]+/s to 0/s between ", found.evidence)
    assert "%" not in found.evidence


@pytest.mark.parametrize(
    ("busy_s", "words"),
    [
        (0.0, "a steady one looks like this in 30% of windows; below 0.2% it is a drift$"),
        (0.004, "^the mean latency of half seconds differs so much that "),
    ],
    ids=["rate", "latency"],
)
def test_insignificant_large_change_is_not_called_steady(busy_s: float, words: str) -> None:
    zigzag = [(HALF_S, 5_000 + 120 * n + 900 * (n % 2)) for n in range(10)]
    waited = [50 * busy_s * 2.5 ** (n / 10) * (1 + 4 * (n % 2)) * 1e9 for n in range(10)]
    found = settle([(HALF_S, 50)] * 10, [0] * 10, waited) if busy_s else settle(zigzag)
    assert found.state == Steadiness.TOO_SHORT
    assert re.search(words, found.evidence)
    # An insignificant slope is not printed.
    assert not re.search(r"[-+]\d|from about", found.evidence), found.evidence


def test_window_within_the_targets_warm_up_is_unsettled() -> None:
    # A fifth of the window at half the rate: the slope of the whole window is insignificant.
    found = settle(series(lambda at: 10_000 * min(1.0, 0.5 + at / 12), 30, 0.01))
    assert found.state == Steadiness.UNSETTLED
    assert "between seconds 0.0 and" in found.evidence


def test_a_few_half_seconds_without_operations_are_no_drift() -> None:
    steady = series(lambda _: 10_000, 10, 0.01)
    for lost in (3, 16, 17):
        steady[lost] = (HALF_S, 500)
    assert settle(steady).state == Steadiness.SETTLED


@pytest.mark.parametrize("slots", [20, 60])
@pytest.mark.parametrize(("alike", "most"), [(0.0, 0.01), (0.5, 0.01), (0.8, 0.03), (0.95, 0.06)])
def test_steady_targets_are_seldom_called_unsettled(alike: float, most: float, slots: int) -> None:
    """Rates 5 % around their mean with correlated neighbours: 0.95 is a memory of ten seconds."""
    called, times = 0, 4_000 // slots
    for seed in range(times):
        offs = correlated(random.Random(seed), 0.05, alike, slots)
        drains = [(HALF_S, round(5_000 * (1 + off))) for off in offs]
        called += settle(drains).state == Steadiness.UNSETTLED
    assert called <= most * times


def test_slope_is_the_median_of_all_pairs_over_the_whole_window() -> None:
    counts = [5_000, 5_020, 4_990, 5_040, 5_060, 4_000, 5_050, 5_080, 5_110, 5_090]
    rates, n = [2 * count for count in counts], len(counts)
    slopes = [(rates[j] - rates[i]) / (j - i) for i, j in itertools.combinations(range(n), 2)]
    change = 100 * statistics.median(slopes) * n / statistics.median(rates)
    found = settle([(HALF_S, count) for count in counts])
    assert found.state == Steadiness.SETTLED
    assert found.slope_percent == pytest.approx(change)
    assert found.evidence == "the rate changed by less than 5%, which is allowed"


def test_short_drains_are_merged_to_half_seconds() -> None:
    counts = [5_000 + 300 * n + 7 * n * n % 90 for n in range(12)]
    whole = settle([(HALF_S, count) for count in counts])
    halves = [(HALF_S / 2, part) for count in counts for part in (count - 2_000, 2_000)]
    assert settle(halves) == whole
    # A remainder of at least half a slot is a separate slot.
    assert "and 6.1 of" not in settle([*halves, (0.1, 0)]).evidence
    assert "and 6.3 of" in settle([*halves, (0.3, 5_160)]).evidence


def test_spread_of_slopes_matches_that_of_random_walks() -> None:
    draw, at = random.Random(3), [float(n) for n in range(24)]
    middle = statistics.mean(at)
    spread = sum((t - middle) ** 2 for t in at)
    slopes, told = [], []
    for _ in range(300):
        value, values = 0.0, []
        for _ in at:
            value += draw.gauss(0, 1)
            values.append(value)
        slopes.append(sum((t - middle) * v for t, v in zip(at, values, strict=True)) / spread)
        told.append(_wander(values, at))
    assert 0.9 <= statistics.median(told) / statistics.pstdev(slopes) <= 2.0


def test_too_few_half_seconds_cannot_be_judged() -> None:
    rising = [(HALF_S, 100 * n) for n in range(1, MIN_SLOTS)]
    assert settle(rising).state == Steadiness.TOO_SHORT
    assert settle([*rising, (HALF_S, 100 * MIN_SLOTS)]).state == Steadiness.UNSETTLED
    assert settle([]).state == Steadiness.TOO_SHORT


def test_undecided_long_window_does_not_report_too_few_half_seconds() -> None:
    """The message called 290 half seconds too few, and p = 0.0026 chance."""
    chance = random.Random(2)
    wandering = [(HALF_S, 5_000 + int(1_500 * chance.gauss(0, 1)) + 4 * n) for n in range(290)]
    found = settle(wandering)
    assert found.state == Steadiness.TOO_SHORT
    assert "too few" not in found.evidence
    assert "below 0.05% it is a drift" in found.evidence, "a window of four spans"


def test_operations_longer_than_half_a_second_cannot_be_judged() -> None:
    assert settle([(HALF_S, int(n % 3 == 0)) for n in range(20)]).state == Steadiness.TOO_SHORT


def test_short_drains_are_weighted_by_their_length() -> None:
    cut = [part for each in series(lambda _: 10_000, 10, 0.01) for part in (each, (0.002, 0))]
    assert settle(cut).state == Steadiness.SETTLED


@given(
    st.lists(
        st.tuples(st.floats(1e-4, 5), st.integers(0, 10**7), st.integers(0, 10**18)), max_size=60
    )
)
def test_steadiness_of_any_series_can_be_serialised(found_in: list[tuple[float, int, int]]) -> None:
    drains = [(seconds, done) for seconds, done, _ in found_in]
    found = settle(drains, [0] * len(drains), [waited for _, _, waited in found_in])
    assert msgspec.convert(msgspec.to_builtins(found), Settled) == found


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}", small_population(PEOPLE))
    yield serving
    serving.stop()


def judged(running: Engine, step: str, half_seconds: int) -> Settled:
    """Judge this many half seconds of eight lanes, after the time for connecting."""
    running.start_lanes("p", 8)
    time.sleep(0.2)
    measured = Tally.starting(running.drain())
    for _ in range(half_seconds):
        time.sleep(HALF_S)
        measured.add(running.drain())
    running.stop(5.0)
    return settle(measured.operations([("p", step)]))


def decided(directory: Directory, per_s: Callable[[float], float]) -> Settled:
    """Judge a directory of this pace, again if a busy machine leaves the result open.

    The window has twice the half seconds that a judgement needs, so that a busy machine affects a
    small share of them.
    """
    for _ in range(MOST_WINDOWS):
        with relayed(directory.port, paced(per_s)) as port:
            found = judged(*engine("directory", port, {"kind": "closed"}), 2 * MIN_SLOTS + 1)
        if found.state != Steadiness.TOO_SHORT:
            break
    return found


def test_directory_with_rising_latency_never_settles(directory: Directory) -> None:
    # The rate falls by the same share in each second, so every window has the same drift.
    tau_s = 12
    found = decided(directory, lambda at_s: 200 * math.exp(-at_s / tau_s))
    assert found.state == Steadiness.UNSETTLED, found
    # The drift is that of the window or of a part of it. A busy machine may move operations to the
    # next half second.
    span = re.search(r"between seconds ([\d.]+) and ([\d.]+)", found.evidence)
    assert span is not None, found
    begin_s, end_s = map(float, span.groups())
    assert found.slope_percent == pytest.approx(-100 * (end_s - begin_s) / tau_s, rel=0.4), found


def test_directory_of_constant_latency_settles(directory: Directory) -> None:
    found = decided(directory, lambda _: 200)
    assert found.state == Steadiness.SETTLED, found


def test_queue_growth_of_one_and_a_half_percent_of_the_rate_is_reported() -> None:
    lot = random.Random(5)
    drains = [(HALF_S, 500)] * 16
    for slope in (0.015, 0.03, 1.0):
        queue = [round(20 + 500 * slope * n + lot.gauss(0, 2)) for n in range(16)]
        found = settle(drains, queue)
        assert found.state == Steadiness.GROWING
        assert "latency grows with the length of the window" in found.evidence
    # A stall at the window's end affects its latencies, but it is no trend.
    assert settle(drains, [20] * 15 + [270]).state == Steadiness.SETTLED


@pytest.mark.parametrize("busy", [0.5, 0.8, 0.9])
def test_fluctuating_queue_is_seldom_reported_as_growing(busy: float) -> None:
    lot = random.Random(3)
    drains = [(HALF_S, 200)] * 20
    settled = [settle(drains, in_one_queue(lot, busy)[1]).state for _ in range(60)]
    assert settled.count(Steadiness.GROWING) <= 1


def latencies(
    mean_s: Callable[[float], float], rate: int, seconds: int, lot: random.Random
) -> tuple[Series, list[int], list[float]]:
    """Return half seconds of a target with this mean latency over time, at a fixed rate."""
    middles = [HALF_S * (n + 0.5) for n in range(int(seconds / HALF_S))]
    off = 0.6 / math.sqrt(rate * HALF_S)  # of a mean of latencies that scatter by 60 %
    means = [mean_s(at) * lot.gauss(1, off) for at in middles]
    done = round(rate * HALF_S)
    waited_ns = [done * mean * 1e9 for mean in means]
    return [(HALF_S, done)] * len(means), [round(rate * mean) for mean in means], waited_ns


@pytest.mark.parametrize("rate", [20, 100, 1_000, 10_000])
@pytest.mark.parametrize(("tau_s", "seconds"), [(1, 10), (2, 10), (2, 30), (5, 30), (8, 30)])
def test_falling_latency_is_unsettled(rate: int, tau_s: float, seconds: int) -> None:
    """From 404 to 4 ms, after a warm-up of 2 s, with the schedule's rate throughout."""
    lot = random.Random(1)
    falling = latencies(lambda at: 0.4 * math.exp(-(at + 2) / tau_s) + 0.004, rate, seconds, lot)
    found = settle(*falling)
    assert found.state == Steadiness.UNSETTLED
    assert found.evidence.startswith("the mean latency fell from about ")
    assert (found.slope_percent or 0) < -20


@pytest.mark.parametrize("rate", [100, 1_000, 10_000])
@pytest.mark.parametrize("to", [1.6, 10])
def test_latency_that_rises_within_the_window_is_unsettled(rate: int, to: float) -> None:
    lot = random.Random(1)
    found = settle(*latencies(lambda at_s: 0.013 * to ** (at_s / 30), rate, 30, lot))
    assert found.state == Steadiness.UNSETTLED
    assert found.evidence.startswith("the mean latency rose from about ")
    # An increase by a tenth is less than the variation caused by random load.
    found = settle(*latencies(lambda at_s: 0.013 * (1 + at_s / 300), rate, 30, lot))
    assert found.state == Steadiness.SETTLED
    assert found.evidence == "the mean latency changed by less than 25%, which is allowed"


def in_one_queue(lot: random.Random, busy: float) -> tuple[Series, list[int], list[float]]:
    """Return twenty half seconds of one queue, of 400 random arrivals a second."""
    done, waited, queue = [0] * 20, [0.0] * 20, [0] * 20
    at_s = free_s = -4.0
    while at_s < 10:
        at_s += lot.expovariate(400)
        free_s = max(at_s, free_s) + lot.expovariate(400 / busy)
        if 0 <= free_s < 10:
            done[int(free_s / HALF_S)] += 1
            waited[int(free_s / HALF_S)] += (free_s - at_s) * 1e9
        for n in range(max(0, math.ceil(at_s / HALF_S) - 1), min(20, int(free_s / HALF_S))):
            queue[n] += 1
    return [(HALF_S, each) for each in done], queue, waited


@pytest.mark.parametrize("busy", [0.5, 0.8, 0.9, 0.95])
def test_latencies_of_a_fluctuating_queue_are_seldom_unsettled(busy: float) -> None:
    lot = random.Random(1997)
    states = [settle(*in_one_queue(lot, busy)).state for _ in range(60)]
    assert states.count(Steadiness.UNSETTLED) + states.count(Steadiness.GROWING) <= 1


def test_random_arrivals_make_no_window_too_short() -> None:
    """The throughput of half seconds varies although the queue is steady."""
    lot = random.Random(8)
    states = [settle(*in_one_queue(lot, 0.7)).state for _ in range(40)]
    assert states.count(Steadiness.TOO_SHORT) <= 1
    assert states.count(Steadiness.SETTLED) >= 39


@pytest.mark.parametrize("slots", [20, 60])
@pytest.mark.parametrize(("alike", "most"), [(0.0, 0.01), (0.5, 0.01), (0.8, 0.03), (0.95, 0.06)])
def test_rates_on_a_busy_machine_are_seldom_unsettled(
    alike: float, most: float, slots: int
) -> None:
    """The rates vary by a third, with correlated neighbours."""
    called, times = 0, 4_000 // slots
    for seed in range(times):
        offs = correlated(random.Random(seed), 0.3, alike, slots)
        waited = [500 * 5e6 * math.exp(off) for off in offs]
        found = settle([(HALF_S, 500)] * slots, [2] * slots, waited)
        called += found.state == Steadiness.UNSETTLED
    assert called <= most * times


@pytest.mark.parametrize(("of_capacity", "grows"), [(1.015, True), (0.8, False)])
def test_only_a_directory_below_the_offered_rate_is_unsettled(
    directory: Directory, of_capacity: float, grows: bool
) -> None:
    # The directory is throttled after its lanes have connected, so it can make up for delays by the
    # machine. Above its capacity its queue grows by 6 a second; over three times the half seconds
    # that a judgement needs, the delays of a busy machine are small beside that. Delays of the load
    # itself are no queue of the directory, which then catches up: therefore several windows.
    for _ in range(MOST_WINDOWS if grows else 1):
        found, queue = judged_at(directory, 400, of_capacity)
        if (found.state == Steadiness.GROWING) is grows:
            return
    raise AssertionError((found, queue))


def judged_at(directory: Directory, capacity: int, share: float) -> tuple[Settled, list[int]]:
    """Judge a directory at this share of its capacity; return its queue, too."""
    way = Changing()
    with relayed(directory.port, way) as port:
        running, step = engine("directory", port, {"kind": "open", "rate": capacity * share})
        running.start_lanes("p", 64)
        time.sleep(0.3)
        way.now = paced(lambda _: capacity)
        measured = Tally.starting(running.cut())
        for _ in range(3 * MIN_SLOTS):
            time.sleep(HALF_S)
            measured.add(running.drain())
        running.stop(0.0)
    return settle(measured.operations([("p", step)]), measured.queue), [*measured.queue]

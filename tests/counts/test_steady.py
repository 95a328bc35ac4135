"""Whether a window was steady: made-up series, and real targets that settle or never do."""

import random
import time
from collections.abc import Callable, Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench._engine import Directory, Engine
from sitebench.counts.steady import MIN_SLOTS, Settled, Steadiness, settle
from sitebench.counts.tally import Tally
from tests.engine.test_freeze import engine
from tests.support.frozen import PEOPLE
from tests.support.people import small_population
from tests.support.relay import delaying, relayed

HALF_S = 0.5
Series = list[tuple[float, int]]


def series(rate: Callable[[float], float], seconds: float, noise: float, seed: int = 1) -> Series:
    """Return half seconds of a rate over time, each off by chance."""
    draw = random.Random(seed)
    middles = (HALF_S * (n + 0.5) for n in range(int(seconds / HALF_S)))
    return [(HALF_S, round(rate(at) * HALF_S * draw.gauss(1, noise))) for at in middles]


def test_a_steady_rate_is_settled() -> None:
    found = settle(series(lambda _: 10_000, 10, 0.02))
    assert found.state == Steadiness.SETTLED
    assert found.slope_percent is not None
    assert abs(found.slope_percent) < 5


@pytest.mark.parametrize("change", [-0.5, -0.12, 0.12, 1.0])
def test_a_rate_that_drifts_is_unsettled_and_by_how_much(change: float) -> None:
    found = settle(series(lambda at: 10_000 * (1 + change * at / 20), 20, 0.01))
    assert found.state == Steadiness.UNSETTLED
    assert found.slope_percent is not None
    middle = change / (1 + change / 2)
    assert found.slope_percent == pytest.approx(100 * middle, rel=0.35)
    assert f"{found.slope_percent / 100:+.1%}" in found.evidence


def test_a_window_that_begins_before_the_target_is_warm_is_unsettled() -> None:
    # A fifth of the window at half the rate: the whole has no slope that is worth speaking of.
    found = settle(series(lambda at: 10_000 * min(1.0, 0.5 + at / 12), 30, 0.01))
    assert found.state == Steadiness.UNSETTLED
    assert "between seconds 0.0 and" in found.evidence


def test_a_few_lost_half_seconds_do_not_make_a_drift() -> None:
    steady = series(lambda _: 10_000, 10, 0.01)
    for lost in (3, 16, 17):
        steady[lost] = (HALF_S, 500)
    assert settle(steady).state == Steadiness.SETTLED


@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_steady_targets_are_seldom_called_unsettled(alike: float) -> None:
    called = 0
    for seed in range(200):
        draw, off, drains = random.Random(seed), 0.0, []
        for _ in range(20):
            off = alike * off + draw.gauss(0, 0.05)
            drains.append((HALF_S, round(5_000 * (1 + off))))
        called += settle(drains).state == Steadiness.UNSETTLED
    # Three in a thousand are promised; neighbours that are alike cost some of that.
    assert called <= (10 if alike else 2)


def test_too_few_half_seconds_cannot_be_judged() -> None:
    rising = [(HALF_S, 100 * n) for n in range(1, MIN_SLOTS)]
    assert settle(rising).state == Steadiness.TOO_SHORT
    assert settle([*rising, (HALF_S, 100 * MIN_SLOTS)]).state == Steadiness.UNSETTLED
    assert settle([]).state == Steadiness.TOO_SHORT


def test_a_change_that_chance_may_have_made_is_not_called_steady_either() -> None:
    zigzag = [(HALF_S, 5_000 + 120 * n + 900 * (n % 2)) for n in range(10)]
    found = settle(zigzag)
    assert found.state == Steadiness.TOO_SHORT
    assert "too few half seconds to tell that from chance" in found.evidence


def test_operations_longer_than_half_a_second_cannot_be_judged() -> None:
    assert settle([(HALF_S, int(n % 3 == 0)) for n in range(20)]).state == Steadiness.TOO_SHORT


def test_drains_of_a_moment_weigh_no_more_than_a_moment() -> None:
    cut = [part for each in series(lambda _: 10_000, 10, 0.01) for part in (each, (0.002, 0))]
    assert settle(cut).state == Steadiness.SETTLED


@given(
    st.lists(
        st.tuples(st.floats(1e-4, 5), st.integers(0, 10**7)),
        max_size=60,
    )
)
def test_any_series_gets_an_answer_that_survives_being_written(drains: Series) -> None:
    found = settle(drains)
    assert msgspec.convert(msgspec.to_builtins(found), Settled) == found


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}", small_population(PEOPLE))
    yield serving
    serving.stop()


def judged(running: Engine, step: str, half_seconds: int) -> Settled:
    """Judge as many half seconds of eight lanes, after a moment to connect."""
    running.start_lanes("p", 8)
    time.sleep(0.2)
    measured = Tally.starting(running.drain())
    for _ in range(half_seconds):
        time.sleep(HALF_S)
        measured.add(running.drain())
    running.stop(5.0)
    return settle(measured.operations([("p", step)]))


@pytest.mark.alone
def test_a_directory_that_gets_slower_and_slower_never_settles(directory: Directory) -> None:
    with relayed(directory.port, delaying(lambda at_s: 0.002 + 0.01 * at_s)) as port:
        found = judged(*engine("directory", port, {"kind": "closed"}), MIN_SLOTS + 1)
    assert found.state == Steadiness.UNSETTLED, found
    assert found.slope_percent is not None
    assert found.slope_percent < -50


@pytest.mark.alone
def test_a_directory_that_takes_its_time_evenly_settles(directory: Directory) -> None:
    with relayed(directory.port, delaying(lambda _: 0.08)) as port:
        for _ in range(5):  # The machine's other guests may take the processors from one of them.
            found = judged(*engine("directory", port, {"kind": "closed"}), MIN_SLOTS + 1)
            if found.state == Steadiness.SETTLED:
                return
    raise AssertionError(found)

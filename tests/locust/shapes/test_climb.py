"""The way up to the knee, against targets whose knee is known."""

from dataclasses import replace

import pytest

from sitebench.counts.durations import PERCENTILES, Durations
from sitebench.locust.shapes.climb import Climb
from sitebench.measure.objective import Objective
from sitebench.runs.point import PointResult
from sitebench.verdict.verdict import Bound
from tests.support.points import a_result

SERVICE_S = 100e-6


def gave(users: int, parallel: int, slowness: float = 1.0) -> PointResult:
    """Return what users who never think get of a target that serves so many at a time."""
    rate = min(users, parallel) / SERVICE_S / slowness
    response_us = users / rate * 1e6
    latency = Durations(100_000, response_us, response_us, dict.fromkeys(PERCENTILES, response_us))
    return replace(a_result(), seconds=1.0, operations=int(rate), latency=latency)


def climbed(climb: Climb, parallel: int, slow_at: int | None = None) -> list[int]:
    """Return the loads of a climb, with that which it holds at its end."""
    loads = [climb.users]
    while not climb.held:
        climb.learn(gave(climb.users, parallel, 3.0 if climb.users == slow_at else 1.0))
        loads.append(climb.users)
    return loads


def test_two_loads_beyond_the_knee_end_the_climb_and_the_knee_is_held() -> None:
    climb = Climb(1, 2.0, 1_000)
    assert climbed(climb, parallel=8) == [1, 2, 4, 8, 16, 32, 8]
    assert climb.said == "32 users: 80,000/s; the knee is behind; held from now on: 8 users"


def test_one_load_that_met_a_busy_moment_does_not_end_it() -> None:
    assert climbed(Climb(1, 2.0, 1_000), parallel=16, slow_at=4)[-1] == 16


def test_without_a_knee_the_most_users_are_held() -> None:
    climb = Climb(1, 2.0, 12)
    assert climbed(climb, parallel=100) == [1, 2, 4, 8, 12, 12]
    assert "no knee up to there" in climb.said


@pytest.mark.parametrize(("objective", "held"), [("p99<250us", 8), ("p99<1us", 1), ("p99<1h", 4)])
def test_the_load_before_the_one_that_breaks_the_objective_is_held(
    objective: str, held: int
) -> None:
    climb = Climb(1, 2.0, 1_000, Objective.parse(objective))
    assert climbed(climb, parallel=4)[-1] == held
    assert (objective in climb.said) == (held != 4)


def test_nothing_that_succeeds_is_too_much_load() -> None:
    climb = Climb(4, 2.0, 1_000)
    climb.learn(gave(4, parallel=8))
    climb.learn(replace(gave(8, parallel=8), operations=0))
    assert (climb.users, climb.held) == (4, True)
    assert "nothing succeeded" in climb.said


def test_loads_that_were_the_testers_are_no_part_of_the_curve() -> None:
    climb = Climb(1, 2.0, 64)
    while not climb.held:
        found = gave(climb.users, parallel=2)
        invalid = replace(found.verdict, bound=Bound.GENERATOR, valid=False)
        climb.learn(replace(found, verdict=invalid))
    assert climb.users == 64


@pytest.mark.parametrize("factor", [1.1, 1.5, 3.0])
def test_every_step_goes_up(factor: float) -> None:
    loads = climbed(Climb(1, factor, 40), parallel=1_000)[:-1]
    assert loads == sorted(set(loads))
    assert loads[-1] == 40

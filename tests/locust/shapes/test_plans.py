"""The users that load shapes want, second by second."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench.errors import BadInput
from sitebench.locust.shapes.plans import (
    KneePlan,
    ShapePlan,
    SpikePlan,
    StepsPlan,
    refuse_slow_spawning,
)


def course(plan: ShapePlan) -> list[int]:
    """Return the users of every second."""
    return [plan.users_at(second) for second in range(int(plan.lasts_s))]


def test_steps_go_up_to_the_top_and_stay_there() -> None:
    steps = StepsPlan(top=10, step_users=4, step_s=2.0)
    assert course(steps) == [4, 4, 8, 8, 10, 10]
    assert steps.users_at(1_000.0) == 10


def test_steps_go_down_again_as_they_went_up() -> None:
    steps = StepsPlan(top=10, step_users=4, step_s=2.0, down=True)
    assert course(steps) == [4, 4, 8, 8, 10, 10, 8, 8, 4, 4]
    assert steps.users_at(1_000.0) == 4
    assert course(StepsPlan(top=3, step_users=4, step_s=2.0, down=True)) == [3, 3]


def test_a_spike_comes_and_goes_and_comes_again() -> None:
    spike = SpikePlan(top=9, calm_users=2, calm_s=3.0, spike_s=1.0)
    assert course(spike) == [2, 2, 2, 9, 2, 2, 2]
    assert spike.users_at(7.5) == 9


def test_a_spike_to_fewer_users_than_before_it_is_refused() -> None:
    with pytest.raises(BadInput, match=r"--calm-users \(8\) must be fewer than -u \(8\)"):
        SpikePlan(top=8, calm_users=8, calm_s=1.0, spike_s=1.0)


@pytest.mark.parametrize(
    ("most", "steps", "knee"), [(85.0, [4, 8, 16, 8], 8), (1e9, [4, 8, 16, 20], 20)]
)
def test_users_double_up_to_the_knee_and_are_those_of_the_knee_at_the_end(
    most: float, steps: list[int], knee: int
) -> None:
    """Ten operations a second of each user, and no more than `most` of all."""
    plan = KneePlan(top=20, users=4)
    tried = [plan.users]
    while plan.after_step(min(most, 10.0 * plan.users)):
        tried.append(plan.users)
    assert (tried, plan.users) == (steps, knee)


def test_users_that_start_too_slowly_for_their_stage_are_refused() -> None:
    refuse_slow_spawning(8, per_s=4.0, within_s=2.0)
    with pytest.raises(BadInput, match="-r 4 or more"):
        refuse_slow_spawning(8, per_s=1.0, within_s=2.0)


@given(
    top=st.integers(1, 500),
    step_users=st.integers(1, 500),
    step_s=st.floats(0.1, 100.0),
    moment=st.floats(0.0, 1e5),
)
def test_steps_never_go_down_nor_beyond_their_top(
    top: int, step_users: int, step_s: float, moment: float
) -> None:
    steps = StepsPlan(top, step_users, step_s)
    assert 1 <= steps.users_at(moment) <= steps.users_at(moment + step_s) <= top
    assert steps.users_at(steps.lasts_s) == top

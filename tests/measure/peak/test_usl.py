"""The Universal Scalability Law: exact data, noisy data, and what it refuses to say."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench.errors import BeyondMeasured
from sitebench.measure.peak.usl import Usl, fit

LOADS = (2, 4, 8, 14, 28, 56, 112)


def law(n: int, per_client: float, contention: float, coherency: float) -> float:
    return per_client * n / (1 + contention * (n - 1) + coherency * n * (n - 1))


def curve(*parameters: float, loads: tuple[int, ...] = LOADS) -> list[tuple[int, float]]:
    return [(n, law(n, *parameters)) for n in loads]


def fitted(points: list[tuple[int, float]]) -> Usl:
    found = fit(points)
    assert found is not None
    return found


@given(
    st.floats(1, 1e5),
    st.one_of(st.just(0.0), st.floats(1e-4, 1.0)),
    st.one_of(st.just(0.0), st.floats(1e-6, 1e-2)),
)
def test_exact_data_gives_its_parameters_back(
    per_client: float, contention: float, coherency: float
) -> None:
    found = fitted(curve(per_client, contention, coherency))
    assert found.per_client == pytest.approx(per_client, rel=1e-6)
    assert found.contention == pytest.approx(contention, rel=1e-5, abs=1e-7)
    assert found.coherency == pytest.approx(coherency, rel=1e-5, abs=1e-9)
    assert found.worst_error < 1e-6


def test_noise_moves_the_parameters_little_and_shows_in_the_goodness_of_fit() -> None:
    draw = random.Random(1997)
    noisy = [(n, x * draw.gauss(1, 0.03)) for n, x in curve(1_000, 0.05, 0.0005)]
    found = fitted(noisy)
    assert found.per_client == pytest.approx(1_000, rel=0.1)
    assert found.contention == pytest.approx(0.05, rel=0.35)
    assert 0.97 < found.r_squared < 1
    assert 0.001 < found.worst_error < 0.1


def test_no_parameter_is_negative_where_throughput_grows_faster_than_clients() -> None:
    found = fitted([(1, 100), (2, 220), (4, 480), (8, 1_000), (16, 2_100)])
    assert found.contention == 0
    assert found.coherency == 0
    assert found.best_clients is None


def test_a_curve_that_turns_over_has_its_best_load() -> None:
    found = fitted(curve(1_000, 0.02, 0.0004))
    assert found.best_clients == 49  # sqrt((1 - A) / B)
    # All wait for one: throughput is flat from the start and never falls.
    flat = fitted([(n, 5_000.0) for n in LOADS])
    assert flat.contention == pytest.approx(1)
    assert flat.best_clients is None


def test_a_best_load_too_far_out_is_not_said() -> None:
    # sqrt((1 - 0) / 1e-6) = 1,000 clients; 112 were measured.
    assert fitted(curve(1_000, 0.0, 1e-6)).best_clients is None


def test_it_speaks_of_twice_the_measured_load_and_refuses_more() -> None:
    found = fitted(curve(1_000, 0.05, 0.0005))
    assert found.at(224) == pytest.approx(law(224, 1_000, 0.05, 0.0005), rel=1e-6)
    with pytest.raises(BeyondMeasured, match=r"225 clients.*measured load is 112") as caught:
        found.at(225)
    assert "measure 113 clients" in caught.value.remedy
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(2, 100.0), (4, 190.0), (8, 300.0)],
        [(2, 100.0), (2, 101.0), (4, 190.0), (8, 300.0)],
        [(2, 0.0), (4, 190.0), (8, 300.0), (14, 400.0)],
    ],
)
def test_too_few_loads_have_no_law(points: list[tuple[int, float]]) -> None:
    assert fit(points) is None


def test_the_goodness_of_fit_tells_data_that_follow_no_such_law() -> None:
    found = fitted([(2, 100.0), (4, 900.0), (8, 100.0), (14, 900.0), (28, 100.0)])
    assert found.r_squared < 0.5
    assert found.worst_error > 0.5

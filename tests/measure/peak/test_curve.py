"""The throughput-latency curve: its knee and its drawing."""

import pytest
from msgspec.structs import replace

from sitebench.measure.peak.curve import HEIGHT, WIDTH, Spot, knee, plot, spots
from tests.support.points import a_result, a_spec


def closed(clients: int, service_us: float = 100.0, parallel: int = 8) -> Spot:
    """A target that serves `parallel` requests at a time; further requests only queue."""
    rate = min(clients, parallel) / service_us * 1e6
    return Spot(clients, rate, clients / rate * 1e6, valid=True)


LOADS = (2, 4, 8, 14, 28, 56, 112)


@pytest.mark.parametrize(
    ("curve", "load"),
    [
        ([closed(clients) for clients in LOADS], 8),
        ([closed(clients, parallel=1) for clients in LOADS], 2),
        ([closed(clients, parallel=200) for clients in LOADS], None),
        ([closed(2), closed(28)], None),
        ([replace(closed(clients), valid=clients != 8) for clients in LOADS], 14),
    ],
    ids=["in the middle", "at the first load", "beyond the loads", "two loads", "invalid points"],
)
def test_knee_of_the_curve_is_where_queueing_begins(curve: list[Spot], load: int | None) -> None:
    spot = knee(curve)
    assert (None if spot is None else spot.load) == load


def test_repeats_of_a_load_are_one_spot_at_their_medians() -> None:
    results = [
        a_result(a_spec(users=users, repeat=repeat), 10_000 * users + repeat * 1_000)
        for repeat in range(3)
        for users in (4, 2)
    ]
    found = spots(results, lambda spec: spec.users)
    assert [(spot.load, spot.rate) for spot in found] == [(2, 10_500), (4, 20_500)]
    assert found[0].response_us == pytest.approx(50, rel=0.001)


def test_point_without_success_has_no_spot_on_the_curve() -> None:
    assert spots([a_result(count=0)], lambda spec: spec.users) == []


def test_curve_and_knee_are_drawn_within_the_frame() -> None:
    curve = [closed(clients) for clients in LOADS]
    drawn = plot([*curve[:-1], replace(curve[-1], valid=False)], knee(curve))
    title, *lines = drawn.splitlines()
    assert "o measured, x lower bound or not usable, K knee" in title
    assert len(lines) == HEIGHT + 2
    assert all(len(line) <= WIDTH + 12 for line in lines)
    canvas = [line.partition("|")[2] for line in lines[:HEIGHT]]
    assert sum(line.count("K") for line in canvas) == 1
    assert sum(line.count("x") for line in canvas) == 1
    assert canvas[0].rstrip().endswith("x")
    assert lines[0].startswith("1.4 ms")
    assert lines[-1].endswith("80,000/s")


def test_single_spot_is_not_drawn_as_a_curve() -> None:
    assert plot([closed(2)], None) == ""

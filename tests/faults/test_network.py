"""A network that delays, drops, truncates and trickles between real lanes and real servers."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.served import LANES, Served
from tests.support.aftermath import Ground
from tests.support.relay import (
    Changing,
    Way,
    cutting,
    delaying,
    in_turn,
    losing,
    relayed,
    trickling,
)
from tests.support.waiting import eventually

CLIENTS = (
    pytest.param("directory", ("--client", "native"), id="directory"),
    pytest.param("site", (), id="site"),
    pytest.param("directory", ("--client", "ldap3"), id="ldap3"),
)

slower = delaying(lambda _: 0.02)
"""Delays answers, because four lanes at full speed and their relay would use all cores."""

any_client = pytest.mark.parametrize(("served", "client"), CLIENTS, indirect=["served"])


Measure = Callable[..., dict[str, Any]]


@pytest.fixture
def measure(ground: Ground, served: Served, client: tuple[str, ...]) -> Measure:
    """Return a point in whose window the network became faulty, once lanes were running."""

    def measure_with(bad: Callable[[], Way], *more: str) -> dict[str, Any]:
        way = Changing(slower)

        def worsen(over: Callable[[], bool]) -> None:
            way.now = bad()
            # The network works again before the end, because a target without an answer then is
            # an error of the run.
            eventually(lambda: ground.failures() >= 4 * LANES or over())
            way.now = slower

        with relayed(served.port, way) as port:
            window = ("--warmup", "0s", "--measure", "4s", *more)
            return ground.befallen(worsen, *served.run(port), *client, *window)

    return measure_with


def waited_in_vain(point: dict[str, Any], least_us: float) -> int:
    """Count the unanswered operations; each must have waited at least `least_us`."""
    steps = [step["censored"] for step in point["steps"] if step["step"] != "sequence"]
    assert all(each["mean"] >= least_us for each in steps if each["n"])
    return sum(int(each["n"]) for each in steps)


LONGER = ("--measure", "6s")
"""For tests in which the end of the window must be undisturbed."""

both = pytest.mark.parametrize("served", ["directory", "site"], indirect=True)


@both
def test_network_delay_is_part_of_the_latencies(ground: Ground, served: Served) -> None:
    with relayed(served.port, delaying(lambda _: 0.1)) as port:
        point = ground.point(*served.run(port), "--warmup", "0s", "--measure", "1500ms")
    assert point["failures_by_kind"] == {}
    assert point["operations"] >= LANES
    assert point["latency_us"]["mean"] >= 99_000


@any_client
def test_lossy_network_causes_timeouts(ground: Ground, measure: Measure) -> None:
    point = measure(lambda: losing(1.5), "--timeout", "400ms", *LONGER)
    assert set(point["failures_by_kind"]) == {"timeout"}
    # Each lane gave its connection up and tried another one, which did not answer either.
    assert point["failures"] >= 2 * LANES
    assert waited_in_vain(point, 390_000) == point["failures"]
    assert ground.right_again()


@any_client
def test_truncated_answers_have_their_failure_kind(served: Served, measure: Measure) -> None:
    def alternating() -> Way:
        most = [slower] * 11
        return in_turn(*most, cutting(reset=False), *most, cutting(reset=True))

    point = measure(alternating)
    ends = {"closed", "reset"} if served.scheme == "ldap" else {"truncated", "reset"}
    assert ends <= set(point["failures_by_kind"]) <= ends | {"closed"}
    assert LANES <= point["failures"] < point["operations"]


@any_client
def test_answer_that_trickles_in_times_out(measure: Measure) -> None:
    def some_for_long() -> Way:
        quickly, slowly = trickling(0.016, single=10), trickling(0.02, single=150)
        return in_turn(quickly, slowly, slowly, slowly)

    point = measure(some_for_long, "--timeout", "1s")
    assert set(point["failures_by_kind"]) == {"timeout"}
    assert point["failures"] >= LANES
    assert 150_000 <= point["service_us"]["max"] < 1_500_000
    assert waited_in_vain(point, 990_000) == point["failures"]

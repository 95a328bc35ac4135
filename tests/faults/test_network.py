"""A network that delays, loses, cuts and trickles between real lanes and real servers."""

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
"""Four lanes at full speed, and what relays their answers, would keep all cores busy."""

any_client = pytest.mark.parametrize(("served", "client"), CLIENTS, indirect=["served"])


def measured(
    ground: Ground, served: Served, client: tuple[str, ...], bad: Callable[[], Way], *more: str
) -> dict[str, Any]:
    """Return a point in whose window the network went bad, once lanes were at work."""
    way = Changing(slower)
    window = ("--warmup", "0s", "--measure", "4s", *more)

    def worsen(over: Callable[[], bool]) -> None:
        way.now = bad()
        # Whole again before the end: a target that does not answer then is an error of the run.
        eventually(lambda: ground.failures() >= 4 * LANES or over())
        way.now = slower

    with relayed(served.port, way) as port:
        return ground.befallen(worsen, *served.run(port), *client, *window)


def waited_in_vain(point: dict[str, Any], least_us: float) -> int:
    """Count the operations that ended without an answer; each was waited for as long as this."""
    steps = [step["censored"] for step in point["steps"] if step["step"] != "sequence"]
    assert all(each["mean"] >= least_us for each in steps if each["n"])
    return sum(int(each["n"]) for each in steps)


LONGER = ("--measure", "6s")
"""Where the end of the window has to be as if nothing had been."""

both = pytest.mark.parametrize("served", ["directory", "site"], indirect=True)


@both
def test_network_delay_is_in_the_latencies(ground: Ground, served: Served) -> None:
    with relayed(served.port, delaying(lambda _: 0.1)) as port:
        point = ground.point(*served.run(port), "--warmup", "0s", "--measure", "1500ms")
    assert point["failures_by_kind"] == {}
    assert point["operations"] >= LANES
    assert point["latency_us"]["mean"] >= 99_000


@any_client
def test_lossy_network_causes_timeouts(
    ground: Ground, served: Served, client: tuple[str, ...]
) -> None:
    point = measured(ground, served, client, lambda: losing(1.5), "--timeout", "400ms", *LONGER)
    assert set(point["failures_by_kind"]) == {"timeout"}
    # Each lane gave its connection up and tried with another one, which was silent as well.
    assert point["failures"] >= 2 * LANES
    assert waited_in_vain(point, 390_000) == point["failures"]
    assert ground.right_again()


@any_client
def test_truncated_answers_are_named(
    ground: Ground, served: Served, client: tuple[str, ...]
) -> None:
    def alternating() -> Way:
        most = [slower] * 11
        return in_turn(*most, cutting(reset=False), *most, cutting(reset=True))

    point = measured(ground, served, client, alternating)
    ends = {"closed", "reset"} if served.scheme == "ldap" else {"truncated", "reset"}
    assert ends <= set(point["failures_by_kind"]) <= ends | {"closed"}
    assert LANES <= point["failures"] < point["operations"]


@any_client
def test_trickling_answer_times_out(
    ground: Ground, served: Served, client: tuple[str, ...]
) -> None:
    def some_for_long() -> Way:
        quickly, slowly = trickling(0.016, single=10), trickling(0.02, single=150)
        return in_turn(quickly, slowly, slowly, slowly)

    point = measured(ground, served, client, some_for_long, "--timeout", "1s")
    assert set(point["failures_by_kind"]) == {"timeout"}
    assert point["failures"] >= LANES
    assert 150_000 <= point["service_us"]["max"] < 1_500_000
    assert waited_in_vain(point, 990_000) == point["failures"]

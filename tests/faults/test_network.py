"""A network that delays, loses, cuts and trickles between real lanes and real servers."""

from typing import Any

import pytest

from tests.faults.served import LANES, Served
from tests.support.aftermath import Ground
from tests.support.relay import (
    Way,
    after,
    cutting,
    delaying,
    in_turn,
    losing,
    passing,
    relayed,
    trickling,
)

NATIVE = (
    pytest.param("directory", "native", id="directory"),
    pytest.param("openldap", "native", id="slapd"),
    pytest.param("site", "native", id="site"),
)
PORTABLE = (
    pytest.param("directory", "ldap3", id="ldap3"),
    pytest.param("site", "fasthttp", id="fasthttp"),
)
ON_ITS_WAY = 60
"""Pieces of answers that pass before the network goes bad: those of probes, and a lane's first."""

whoever = pytest.mark.parametrize(("served", "client"), [*NATIVE, *PORTABLE], indirect=["served"])


def measured(
    ground: Ground, served: Served, client: str, way: Way, measure: str, *more: str
) -> dict[str, Any]:
    with relayed(served.port, way) as port:
        argv = (*served.run(port), "--client", client, "--warmup", "0s", "--measure", measure)
        return ground.point(*argv, *more)


both = pytest.mark.parametrize("served", ["directory", "site"], indirect=True)


@both
def test_a_network_that_delays_is_seen_in_the_latencies(ground: Ground, served: Served) -> None:
    point = measured(ground, served, "native", delaying(lambda _: 0.1), "1500ms")
    assert point["failures_by_kind"] == {}
    assert point["operations"] >= LANES
    assert point["latency_us"]["mean"] >= 99_000


@whoever
def test_a_network_that_loses_everything_for_a_while_costs_timeouts_and_lanes_come_back(
    ground: Ground, served: Served, client: str
) -> None:
    way = after(ON_ITS_WAY, lambda: losing(1.5))
    point = measured(ground, served, client, way, "3500ms", "--timeout", "400ms")
    assert set(point["failures_by_kind"]) == {"timeout"}
    # Each lane gave its connection up and tried with another one, which was silent as well.
    assert point["failures"] >= 2 * LANES
    assert point["censored_us"]["mean"] >= 390_000
    assert ground.right_at_the_end()


@whoever
def test_a_network_that_cuts_answers_is_named_and_lanes_connect_anew(
    ground: Ground, served: Served, client: str
) -> None:
    def alternating() -> Way:
        most = [passing] * 11
        return in_turn(*most, cutting(reset=False), *most, cutting(reset=True))

    point = measured(ground, served, client, after(ON_ITS_WAY, alternating), "3s")
    ends = {"closed", "reset"} if served.scheme == "ldap" else {"truncated", "reset"}
    if client == "fasthttp":
        ends = {"wrong-length", "reset"}
    assert ends <= set(point["failures_by_kind"]) <= ends | {"closed"}
    assert LANES <= point["failures"] < point["operations"]


@whoever
def test_an_answer_that_trickles_is_right_and_one_that_trickles_for_too_long_is_a_timeout(
    ground: Ground, served: Served, client: str
) -> None:
    def some_for_long() -> Way:
        quickly, slowly = trickling(0.001, single=150), trickling(0.02, single=150)
        return in_turn(quickly, slowly, slowly, slowly)

    way = after(ON_ITS_WAY, some_for_long)
    point = measured(ground, served, client, way, "4s", "--timeout", "1s")
    assert set(point["failures_by_kind"]) == {"timeout"}
    assert point["failures"] >= LANES
    assert 150_000 <= point["service_us"]["max"] < 1_200_000
    assert point["censored_us"]["mean"] >= 990_000

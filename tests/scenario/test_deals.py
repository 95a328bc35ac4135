"""Rows that are dealt once or to one user at a time: the behaviour and messages without a row."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenario.people import BASE, Place, a_place, write_accounts

ROWS = 400
ONCE = f"""
base = "{BASE}"

data.person = {{ file = "accounts.csv", deal = "once" }}

[[operation]]
name = "look"
step = [
  {{ search = "(uid={{person.uid}})", expect.entries = 1 }},
  {{ think = "5ms", distribution = "constant" }},
]
"""
"""With 4 users, more than half a second: 100 passes of at least 5 ms."""
LOAD = ("--users", "4", "--threads", "2", "--warmup", "0s", "--json")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path, ROWS) as opened:
        opened.write(ONCE)
        yield opened


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_window_ends_with_the_last_row(client: str, place: Place) -> None:
    point = place.run(*LOAD, "--measure", "60s", "--client", client).point
    measured_s = point["measure_s"]
    # Operations that end while users are still starting belong to no window.
    assert ROWS - 100 < point["operations"] <= ROWS
    assert point["failures"] == 0
    # Without the half second after which the end is noticed.
    assert 0.3 < measured_s < 20
    assert point["ops_per_s"] == pytest.approx(point["operations"] / measured_s, rel=0.01)
    (warning,) = [each for each in point["warnings"] if each["kind"] == "data-used-up"]
    assert warning["message"].startswith("data used up after ")
    assert warning["message"].endswith(f": {measured_s:.1f} s of 60 s were measured")
    assert "--measure" in warning["remedy"]


def test_arrivals_without_a_free_row_are_not_late(place: Place) -> None:
    (point,) = place.run(*LOAD, "--measure", "60s", "--rate", "300").objects
    assert (point["failures"], point["operations"]) == (0, pytest.approx(ROWS, abs=8))
    assert point["queue_end"] == {"backlog": 0, "in_flight": 0}
    # Arrivals due before the window ended in it. Without rows 300 come each second.
    due_before = sum(point["queue_start"].values())
    assert point["lag_us"]["n"] == pytest.approx(point["operations"] - due_before, abs=4)
    assert point["measure_s"] < 20
    # A busy machine may take longer for 400 rows at 300 a second, and then the load generator is
    # late.
    late = point["verdict"] in ("generator", "others") and point["measure_s"] > 1.5
    assert point["valid"] or late, point


def test_percentile_is_unknown_for_lack_of_rows(place: Place) -> None:
    (point,) = place.run(*LOAD, "--measure", "1s", "--until", "p99:5%").objects
    (warning,) = [each for each in point["warnings"] if each["kind"] == "not-known"]
    assert warning["message"] == "p99 was not known to 5% when the data were used up"
    assert warning["remedy"] == "give the file more rows, or ask for less"


def test_advice_is_given_if_data_are_exhausted_in_the_warm_up(place: Place) -> None:
    advice = "give the file more rows, or warm up for less time (--warmup 0s)"
    ran = place.run(*LOAD, "--warmup", "60s", "--measure", "1s")
    ran.check(1, "before anything was measured", advice)


def test_advice_is_given_if_data_end_before_a_window_without_warm_up(place: Place) -> None:
    write_accounts(place.folder, 4)
    # The first user has used all rows seconds before the last user starts, and so before the
    # window.
    ran = place.locust("-u", "20", "-r", "5", "--warmup", "0s", "--measure", "1s")
    ran.check(1, "before anything was measured", "give the file more rows")
    assert "--warmup" not in ran.err


def test_locust_test_ends_with_the_last_row(place: Place) -> None:
    ran = place.locust("-u", "4", "--warmup", "0s", "--json").check(0)
    counted = {each["name"]: each["num_requests"] for each in json.loads(ran.out)}
    assert counted["search"] == ROWS
    assert "data used up after " in ran.err


def test_workers_share_the_rows(place: Place) -> None:
    # Slow, because operations that end before all users have started belong to no window.
    place.write(ONCE.replace('"5ms"', '"20ms"'))
    point = place.with_workers(*LOAD, "--measure", "60s").point
    # The rows of one worker are half of all rows; without sharing there would be twice as many.
    assert ROWS / 2 < point["operations"] <= ROWS
    assert point["measure_s"] < 20
    assert "data-used-up" in [each["kind"] for each in point["warnings"]]


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_waits_for_rows_are_reported(client: str, place: Place) -> None:
    place.write(ONCE.replace('"once"', '"exclusive"').replace('"5ms"', '"50ms"'))
    write_accounts(place.folder, 2)
    (point,) = place.run(*LOAD, "--measure", "1s", "--client", client).objects
    assert point["failures"] == 0
    assert point["operations"] > 10
    (warning,) = [each for each in point["warnings"] if each["kind"] == "rows-held"]
    assert warning["message"].startswith("users waited ")
    if client == "native":
        # No operation's time includes a wait, which would be 100 ms or more.
        assert point["service_us"]["mean"] < 50_000


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [('"5ms"', '"50ms"', "data-used-up"), ('"once"', '"exclusive"', "rows-held")],
)
def test_enough_rows_cause_no_warning(old: str, new: str, kind: str, place: Place) -> None:
    place.write(ONCE.replace(old, new))
    (point,) = place.run(*LOAD, "--measure", "600ms").objects
    assert kind not in [warning["kind"] for warning in point["warnings"]]

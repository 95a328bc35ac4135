"""The clocks of the portable lane, in this process: for answered and unanswered requests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from ils_bench.ldap3_lane import Ldap3Lanes
from ils_bench.options import IlsOptions
from ils_bench.points import engine_config
from ils_bench.sequences import LOOKUP, Add, Bind, Connect, Repeat, Search, Sequence, Think
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Directory, PortableUsers
from sitebench.counts.littles_law import littles_law
from sitebench.counts.tally import Tally
from sitebench.scenario.script import Script, from_text
from sitebench.suite_base.points import Load
from tests.support.people import BASE, small_population
from tests.support.relay import delaying, relayed

PEOPLE = small_population(50)


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}", PEOPLE)
    yield serving
    serving.stop()


@contextmanager
def lanes(port: int, sequence: Script, **more: Any) -> Iterator[Ldap3Lanes]:
    """Yield portable lanes that report only to this test."""
    deaf = SimpleNamespace(events=SimpleNamespace(request=SimpleNamespace(fire=lambda **_: None)))
    target = OpenDirectory("relayed", DirectoryAddress("127.0.0.1", port), BASE)
    options = IlsOptions(entries=50, base=BASE, **more)
    config = engine_config(Load(options, target, [sequence], first_added=1_000))
    running = Ldap3Lanes(deaf, target, PortableUsers(config, PEOPLE), options=options)
    running.start_lanes(sequence.name, 1)
    yield running
    running.stop_lanes(sequence.name, 1)


def passes(running: Ldap3Lanes, program: str, n: int) -> Tally:
    """Run `n` passes of a lane; return the records."""
    tally = Tally.starting(running.drain())
    lane = running.lane(program)
    for _ in range(n):
        lane.run_pass()
    tally.add(running.drain())
    lane.close()
    return tally


def assert_littles_law(tally: Tally) -> None:
    law = littles_law(tally.lane_s, tally.clock_s, tally.seconds)
    assert law is not None
    assert law.holds, law


def test_missing_answer_is_censored_with_its_waiting_time(directory: Directory) -> None:
    answers = 0

    def delay(_: float) -> float:
        nonlocal answers
        answers += 1
        return 0.0 if answers < 40 else 2.0

    with (
        relayed(directory.port, delaying(delay)) as port,
        lanes(port, LOOKUP, timeout=1.0) as running,
    ):
        tally = passes(running, "lookup", 1)
    lookup, sequence = tally.steps["lookup", "lookup"], tally.steps["lookup", "sequence"]
    assert lookup.failures == {"timeout": 1}
    counts = lookup.clocks["service"].count, lookup.clocks["censored"].count
    assert counts == (lookup.count - 1, 1)
    assert lookup.clocks["censored"].min >= 0.99e9
    assert lookup.clocks["service"].max < lookup.clocks["censored"].min
    assert (sequence.clocks["service"].count, sequence.clocks["censored"].count) == (0, 1)
    assert lookup.counters["processing"] > 0
    assert_littles_law(tally)


def test_wrong_answers_have_a_separate_clock() -> None:
    directory = Directory("{}", small_population(50, seed=2))
    with lanes(directory.port, LOOKUP) as running:
        tally = passes(running, "lookup", 1)
    directory.stop()
    lookup = tally.steps["lookup", "lookup"]
    assert set(lookup.failures) == {"wrong-answer"}
    assert (lookup.clocks["service"].count, lookup.clocks["wrong"].count) == (0, lookup.count)
    assert lookup.clocks["censored"].count == 0


def test_delete_before_an_add_is_not_in_the_time_of_the_add(directory: Directory) -> None:
    adds = Sequence("add", (Connect(), Bind(), Repeat(4, (Add(),))), "add").script()
    with lanes(directory.port, adds, ring=2) as running:
        tally = passes(running, "add", 2)
    assert {key: t.failures for key, t in tally.steps.items() if t.failures} == {}
    # Two adds had room; each of the other six was preceded by a removal.
    assert (tally.steps["add", "add"].count, tally.steps["add", "remove"].count) == (8, 6)
    assert_littles_law(tally)


PAUSED = """
[[operation]]
name = "visit"
step = [
  { search = "(cn=nobody)" },
  { think = "500ms", distribution = "constant" },
  { search = "(cn=nobody)" },
]
"""


def test_think_times_of_an_operation_are_summed_separately(directory: Directory) -> None:
    """A warm-up shorter than a pass's think times is too short, as with the engine's lanes."""
    with lanes(directory.port, from_text("visits", PAUSED)) as running:
        tally = passes(running, "visits", 2)
    visits = tally.steps["visit", "sequence"]
    assert visits.count == 2
    assert visits.counters["paused"] == pytest.approx(2 * 500e6, rel=0.2)
    assert visits.clocks["service"].max < 500e6


def test_time_of_one_pass_over_a_sequence_includes_its_think_times(directory: Directory) -> None:
    steps = (Connect(), Bind(), Think(50, "constant"), Search("(cn=nobody)"))
    with lanes(directory.port, Sequence("visits", steps).script()) as running:
        tally = passes(running, "visits", 2)
    visits = tally.steps["visits", "sequence"]
    assert visits.count == 2
    assert visits.clocks["service"].min >= 50e6
    assert visits.counters["paused"] == 0


ONE_ROW = """
data.row = { range = [1, 1], deal = "exclusive" }
[[operation]]
name = "visit"
step = [{ search = "(cn={row})" }, { search = "(cn=x{row})" }]
"""


def test_operation_begins_with_its_row_even_if_its_user_wakes_late(directory: Directory) -> None:
    with lanes(directory.port, from_text("visits", ONE_ROW)) as running:
        running.start_lanes("visits", 1)
        tally = Tally.starting(running.drain())
        first, second = running.lane("visits"), running.lane("visits")
        while not first.clock.unfinished or first.clock.since_ns < first.clock.operation_ns:
            first._do(first._next())
        woke_ns: list[int] = []

        def sleep_too_long(seconds: float) -> None:
            if not woke_ns:
                first.run_pass()
            time.sleep(seconds + 0.2)
            woke_ns.append(time.monotonic_ns())

        running.sleep = sleep_too_long  # type: ignore[method-assign]
        second.run_pass()
        tally.add(drained := running.drain())
        assert second.clock.operation_ns >= woke_ns[-1]
        assert drained.row_wait_ns >= 0.2e9
        for lane in (first, second):
            lane.close()
        running.stop_lanes("visits", 1)
    visits = tally.steps["visit", "sequence"]
    assert visits.count == 2
    assert visits.clocks["service"].min < 0.2e9

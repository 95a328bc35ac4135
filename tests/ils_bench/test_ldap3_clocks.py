"""The clocks of the portable lane, in this process: what is answered, and what never is."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from ils_bench.engine_config import engine_config
from ils_bench.ldap3_lane import Ldap3Lanes
from ils_bench.options import IlsOptions
from ils_bench.sequences import LOOKUP, Add, Bind, Connect, Repeat, Sequence
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Directory, PortableUsers
from sitebench.counts.littles_law import littles_law
from sitebench.counts.tally import Tally
from sitebench.counts.worker_slot import WorkerSlot
from tests.support.people import BASE, small_population
from tests.support.relay import delaying, relayed

PEOPLE = small_population(50)


@contextmanager
def lanes(port: int, sequence: Sequence, **more: Any) -> Iterator[Ldap3Lanes]:
    """Yield portable lanes that report only to this test."""
    deaf = SimpleNamespace(events=SimpleNamespace(request=SimpleNamespace(fire=lambda **_: None)))
    target = OpenDirectory("relayed", DirectoryAddress("127.0.0.1", port), BASE)
    options = IlsOptions(entries=50, base=BASE, **more)
    config = engine_config(
        options, target.address, [sequence], slot=WorkerSlot(), first_added=1_000
    )
    made = Ldap3Lanes(deaf, target, PortableUsers(config, PEOPLE), options=options)
    made.start_lanes(sequence.name, 1)
    yield made
    made.stop_lanes(sequence.name, 1)


def passes(running: Ldap3Lanes, program: str, n: int) -> Tally:
    """Run a lane so often; return what it recorded."""
    tally = Tally.starting(running.drain())
    lane = running.lane(program)
    for _ in range(n):
        lane.run_pass()
    tally.add(running.drain())
    lane.close()
    return tally


def test_an_answer_that_never_comes_is_censored_and_its_wait_is_accounted_for() -> None:
    directory = Directory("{}", PEOPLE)
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
    directory.stop()
    lookup, sequence = tally.steps["lookup", "lookup"], tally.steps["lookup", "sequence"]
    assert lookup.failures == {"timeout": 1}
    assert (lookup.clocks["service"].count, lookup.clocks["censored"].count) == (
        lookup.count - 1,
        1,
    )
    assert lookup.clocks["censored"].min >= 0.99e9
    assert lookup.clocks["service"].max < lookup.clocks["censored"].min
    assert (sequence.clocks["service"].count, sequence.clocks["censored"].count) == (0, 1)
    assert lookup.counters["processing"] > 0
    law = littles_law(tally.lane_s, tally.clock_s, tally.seconds)
    assert law is not None
    assert law.holds, law


def test_wrong_answers_have_a_clock_of_their_own() -> None:
    directory = Directory("{}", small_population(50, seed=2))
    with lanes(directory.port, LOOKUP) as running:
        tally = passes(running, "lookup", 1)
    directory.stop()
    lookup = tally.steps["lookup", "lookup"]
    assert set(lookup.failures) == {"wrong-answer"}
    assert (lookup.clocks["service"].count, lookup.clocks["wrong"].count) == (0, lookup.count)
    assert lookup.clocks["censored"].count == 0


def test_making_way_for_a_person_is_no_part_of_adding_one() -> None:
    directory = Directory("{}", PEOPLE)
    adds = Sequence("add", (Connect(), Bind(), Repeat(4, (Add(),))), "add")
    with lanes(directory.port, adds, ring=2) as running:
        tally = passes(running, "add", 2)
    directory.stop()
    assert {key: t.failures for key, t in tally.steps.items() if t.failures} == {}
    # Two found room; each of the six that followed had one of them removed first.
    assert (tally.steps["add", "add"].count, tally.steps["add", "remove"].count) == (8, 6)
    law = littles_law(tally.lane_s, tally.clock_s, tally.seconds)
    assert law is not None
    assert law.holds, law

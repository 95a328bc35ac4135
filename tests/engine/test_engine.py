"""Lanes run scenarios on real sockets, and every operation is in exactly one snapshot."""

import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ils_bench.sequences import text_of
from sitebench._engine import Directory, Engine, EngineError, Snapshot, WebServer
from sitebench.counts.littles_law import littles_law
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally
from tests.support.people import BASE, small_population
from tests.support.waiting import eventually

PEOPLE = small_population(200)
SCENARIOS = [{"name": name, "text": text_of(name)} for name in ("lookup", "add")]


def config(port: int, **more: Any) -> str:
    target = {"host": "127.0.0.1", "port": port, "base": BASE, "profile": "paper"}
    return json.dumps({"target": target, "scenarios": SCENARIOS, **more})


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}", PEOPLE)
    yield serving
    serving.stop()


def run(engine: Engine, program: str, lanes: int, seconds: float) -> list[Snapshot]:
    """Run lanes with drains at the bridge's interval; return every snapshot."""
    engine.start_lanes(program, lanes)
    drained = []
    for _ in range(5):
        time.sleep(seconds / 5)
        drained.append(engine.drain())
    return [*drained, engine.stop(5.0)]


def settled(directory: Directory) -> dict[str, int]:
    """Return the counters after all connections are closed; threads publish them in turns."""
    stats = directory.stats()
    while stats["disconnections"] < stats["connections"] or stats != directory.stats():
        time.sleep(0.05)
        stats = directory.stats()
    return stats


def counted(snapshots: list[Snapshot], step: str) -> int:
    return sum(each.count for one in snapshots for each in one.steps if each.step == step)


def failures(snapshots: list[Snapshot]) -> dict[str, int]:
    return {kind: n for one in snapshots for each in one.steps for kind, n in each.failures.items()}


@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_and_directory_count_the_same_requests(directory: Directory, threads: int) -> None:
    snapshots = run(Engine(config(directory.port, threads=threads), PEOPLE), "lookup", 4, 0.5)
    stats = settled(directory)
    assert failures(snapshots) == {}
    assert counted(snapshots, "lookup") == stats["searches"] == stats["entries_sent"] > 0
    assert counted(snapshots, "connect") == stats["connections"]
    assert counted(snapshots, "bind") == stats["binds"]


def test_lanes_and_directory_count_the_same_bytes(directory: Directory) -> None:
    snapshots = run(Engine(config(directory.port), PEOPLE), "lookup", 2, 0.2)
    stats = settled(directory)
    own = [step for snapshot in snapshots for step in snapshot.steps if step.step != "sequence"]
    # Stopped lanes unbind, with 7 bytes that belong to no operation.
    goodbyes = stats["bytes_in"] - sum(step.counters["bytes_out"] for step in own)
    assert goodbyes in (0, 7, 14)
    assert sum(step.counters["bytes_in"] for step in own) == stats["bytes_out"]


def test_adds_stay_within_their_ring_of_people(directory: Directory) -> None:
    adds = {"start": 1_000, "keys": 50}
    engine = Engine(config(directory.port, adds=adds), PEOPLE)
    snapshots: list[Snapshot] = []
    engine.start_lanes("add", 2)
    while counted(snapshots, "add") <= 50:
        snapshots.append(engine.drain())
    snapshots.append(engine.stop(5.0))
    assert failures(snapshots) == {}
    assert counted(snapshots, "add") == settled(directory)["adds"]
    assert directory.stats()["entries"] <= 200 + 2 + 50


def test_windows_are_consecutive_without_a_gap(directory: Directory) -> None:
    before = time.monotonic_ns()
    snapshots = run(Engine(config(directory.port), PEOPLE), "lookup", 2, 0.3)
    assert before <= snapshots[0].t0_ns
    assert snapshots[-1].t1_ns <= time.monotonic_ns()
    for one, next_one in itertools.pairwise(snapshots):
        assert one.t0_ns < one.t1_ns == next_one.t0_ns
        assert one.lanes == 2
        assert one.cpu_ns <= next_one.cpu_ns
    assert snapshots[-1].lanes == 0


def test_open_schedule_starts_the_operations_that_are_due(directory: Directory) -> None:
    schedule = {"kind": "open", "rate": 1_000.0}
    opened = run(Engine(config(directory.port, schedule=schedule), PEOPLE), "lookup", 4, 0.5)
    lookups = [step for one in opened for step in one.steps if step.step == "lookup"]
    assert sum(step.clocks["lag"].count for step in lookups) == counted(opened, "lookup")
    # Operations due between the first and the last drain have ended or are in the queue.
    begin, *between = opened[:-1]
    queues = [one.backlog + one.in_flight for one in (begin, between[-1])]
    due = (between[-1].t1_ns - begin.t1_ns) / 1e9 * 1_000.0
    assert counted(between, "lookup") + queues[1] - queues[0] == pytest.approx(due, abs=2)


def test_stopping_some_lanes_does_not_affect_other_lanes(directory: Directory) -> None:
    engine = Engine(config(directory.port), PEOPLE)
    engine.start_lanes("lookup", 5)
    engine.stop_lanes("lookup", 3)
    assert eventually(lambda: engine.drain().lanes == 2)
    time.sleep(0.2)
    assert engine.drain().lanes == 2
    engine.stop()


def test_missing_target_is_a_connect_refused_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    snapshots = run(Engine(config(port), PEOPLE), "lookup", 2, 0.3)
    assert set(failures(snapshots)) == {"connect-refused"}


def test_wait_for_an_answer_releases_the_gil() -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.01):
            ticks += 1

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        engine = Engine(config(deaf.getsockname()[1]), PEOPLE)
        engine.start_lanes("lookup", 1)
        with deaf.accept()[0] as accepted:
            assert accepted.recv(1)  # a request: the lane now waits
            ticker = threading.Thread(target=tick)
            ticker.start()
            last = engine.stop(0.5)
        done.set()
        ticker.join()
    assert failures([last]) == {"timeout": 1}
    # If Python were blocked, only the first and the last tick would occur.
    assert ticks >= 3


def test_stopped_engine_refuses_calls(directory: Directory) -> None:
    engine = Engine(config(directory.port), PEOPLE)
    engine.stop()
    for refused in (engine.stop, engine.drain, lambda: engine.start_lanes("lookup", 1)):
        with pytest.raises(EngineError, match="stopped"):
            refused()


def test_unknown_program_is_named(directory: Directory) -> None:
    engine = Engine(config(directory.port), PEOPLE)
    with pytest.raises(EngineError, match="dance"):
        engine.start_lanes("dance", 1)
    with pytest.raises(EngineError, match="only 0 run"):
        engine.stop_lanes("lookup", 1)
    with pytest.raises(OverflowError):
        engine.start_lanes("lookup", -1)


@pytest.mark.parametrize("timeout_s", [-1.0, float("nan"), float("inf")])
def test_impossible_timeout_is_refused(directory: Directory, timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s"):
        Engine(config(directory.port), PEOPLE).stop(timeout_s)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"threads": 0}, "threads"),
        ({"schedule": {"kind": "open", "rate": -1.0}}, "rate"),
        ({"height": 1}, "height"),
    ],
)
def test_impossible_configuration_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        Engine(config(1, **more), PEOPLE)


# Requests to a cleartext and to a TLS port: their phases, and the time of each lane.

LANES = 4
PHASES = {"connecting", "handshake", "first byte", "request"}
TEXT = """
connection.main.per = "step"
connection.secure = { per = "step", tls = true }
operation = [
  { name = "clear", get = "/file" },
  { name = "secret", get = "/file", on = "secure" },
]
"""


def totals(tally: Tally, step: str) -> StepTotals:
    return tally.merge_steps([("p", step)])


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Tally:
    """A window during which all lanes ran."""
    docroot = tmp_path_factory.mktemp("docroot")
    (docroot / "file").write_bytes(b"x" * 3_000)
    config: dict[str, Any] = {"docroot": str(docroot), "threads": 1}
    clear = WebServer(json.dumps(config))
    secure = WebServer(json.dumps(config | {"tls": {}}))
    target = {
        "protocol": "http",
        "host": "127.0.0.1",
        "port": clear.port,
        "secure": {"port": secure.port, "tls": {"ca_pem": secure.made_ca}},
        "phases": True,
    }
    scenario = {"name": "p", "text": TEXT, "classes": True}
    engine = Engine(json.dumps({"target": target, "scenarios": [scenario], "threads": 2}))
    try:
        engine.start_lanes("p", LANES)
        tally = Tally.starting(engine.drain())
        while totals(tally, "secret").count < 200 or min(tally.lane_counts) < 5:
            time.sleep(0.02)
            tally.add(engine.drain())
    finally:
        engine.stop()
        clear.stop()
        secure.stop()
    return tally


def test_request_phases_overlap_the_steps(measured: Tally) -> None:
    steps = {step.step: step for step in measured.steps.values()}
    assert set(steps) == {"sequence", "connect", "clear", "secret"} | PHASES
    assert {name for name, step in steps.items() if step.overlaps} == {"sequence"} | PHASES
    assert not any(step.failures for step in steps.values())
    assert steps["request"].count == steps["clear"].count + steps["secret"].count
    assert abs(steps["handshake"].count - steps["secret"].count) <= LANES
    for phase, step in (("handshake", "connect"), ("first byte", "request")):
        took = steps[phase].clocks["service"]
        # At the drains, a lane may have ended a phase whose step has not ended.
        assert 0 < took.sum < steps[step].clocks["service"].sum + LANES * took.max
    assert all(
        steps[phase].counters["bytes_in"] == steps[phase].counters["bytes_out"] == 0
        for phase in PHASES
    )


def test_counts_of_lanes_add_up_to_the_requests(measured: Tally) -> None:
    assert len(measured.lane_counts) == LANES
    assert sum(measured.lane_counts) == totals(measured, "request").count


def test_time_of_request_phases_is_not_counted_twice(measured: Tally) -> None:
    law = littles_law(measured.lane_s, measured.clock_s, measured.seconds)
    assert law is not None
    assert law.holds, law

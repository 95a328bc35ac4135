"""A real server that is stopped for a second, and the resulting histograms.

native/tester/load/tests compares every sample with a closed form, using a target that logs. Here
the whole server stops, as a stopped machine does, and the rate and the times of the stop bound the
distribution.
"""

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from ils_bench.sequences import text_of
from sitebench._engine import Engine, Histogram, Snapshot
from tests.support.frozen import PEOPLE, freeze, served, visitors
from tests.support.people import BASE, small_population

LANES = 4
RATE = 1_000.0
STALL_S = 1.0
LDAP = text_of("lookup").replace("per = 100", "per = 1_000_000")
HTTP = """
data.visitor.people = "seeded"
[[operation]]
name = "visit"
counts = "page"
step = [{ name = "page", get = "/?user={visitor.id}" }]
"""


def engine(kind: str, port: int, schedule: dict[str, Any]) -> tuple[Engine, str]:
    """Return an engine of one program, and its counted step."""
    target: dict[str, Any] = {"host": "127.0.0.1", "port": port}
    scenario = {"name": "p", "text": HTTP if kind == "site" else LDAP}
    config = {"target": target, "schedule": schedule, "scenarios": [scenario]}
    if kind == "site":
        target |= {"protocol": "http", "size": PEOPLE}
        return Engine(json.dumps(config), visitors()), "page"
    target |= {"base": BASE, "profile": "paper"}
    return Engine(json.dumps(config), small_population(PEOPLE)), "lookup"


def clock(snapshots: list[Snapshot], step: str, name: str) -> Histogram:
    """Return one clock of a step over all snapshots, which must have no failure."""
    merged = Histogram()
    for snapshot in snapshots:
        for each in snapshot.steps:
            assert each.failures == {}, each.step
            if each.step == step:
                merged.add(each.clocks[name])
    return merged


def longer(histogram: Histogram, ns: float) -> int:
    """Count samples in buckets beyond `ns`."""
    return sum(n for highest, n in histogram.buckets() if highest > ns)


def warm(running: Engine, step: str) -> Snapshot:
    """Drain until the lanes are running and nothing is overdue; return the last drain."""
    running.start_lanes("p", LANES)
    ended = 0
    while True:
        time.sleep(0.02)
        drained = running.drain()
        ended += sum(each.count for each in drained.steps if each.step == step)
        if ended >= 200 and drained.backlog < LANES:
            return drained


@pytest.mark.parametrize("kind", ["directory", "slapd", "site"])
def test_open_schedule_shows_the_whole_stall_of_a_stopped_server(kind: str, tmp_path: Path) -> None:
    with served(kind, tmp_path) as (pid, port):
        running, step = engine(kind, port, {"kind": "open", "rate": RATE})
        before = warm(running, step)
        stopped_ns, goes_on_ns = freeze(pid, STALL_S)
        snapshots = [running.drain()]
        while snapshots[-1].backlog > 0:
            time.sleep(0.005)
            snapshots.append(running.drain())
        snapshots.append(running.stop(5.0))
    latency = clock(snapshots, step, "latency")
    per_ns = RATE / 1e9
    # Arrivals are evenly spaced. An arrival due during the stop waited at least until the end of
    # the stop. An operation that lasted longer than that was due during the stop, or was
    # outstanding or overdue then.
    surely_ns, perhaps_ns = goes_on_ns - stopped_ns, snapshots[-1].t1_ns - before.t1_ns
    for tenth in range(1, 10):
        x = tenth / 10 * STALL_S * 1e9
        least = math.floor(per_ns * (surely_ns - x * 1.001)) - 1
        most = math.ceil(per_ns * (perhaps_ns - x * 0.999)) + 1 + LANES + before.backlog
        assert least <= longer(latency, x) <= most
    # A clock started at the sending would have measured one long answer per lane.
    assert longer(clock(snapshots, step, "service"), STALL_S * 0.5e9) == LANES


@pytest.mark.parametrize("kind", ["directory", "site"])
def test_closed_schedule_shows_a_stall_in_one_sample_per_lane(kind: str, tmp_path: Path) -> None:
    with served(kind, tmp_path) as (pid, port):
        running, step = engine(kind, port, {"kind": "closed"})
        warm(running, step)
        freeze(pid, STALL_S)
        snapshots = [running.drain()]
        while longer(clock(snapshots, step, "latency"), 0) < 2_000:
            time.sleep(0.02)
            snapshots.append(running.drain())
        snapshots.append(running.stop(5.0))
    latency = clock(snapshots, step, "latency")
    assert longer(latency, STALL_S * 0.5e9) == LANES
    assert latency.percentile(99) < STALL_S * 0.5e9
    assert clock(snapshots, step, "lag").count == 0

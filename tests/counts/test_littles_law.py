"""Little's law holds for all kinds of lanes, and is violated by a wrong clock or counter."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec import structs

from sitebench._engine import Directory, Histogram, PortableUsers, Snapshot, StepStats
from sitebench.counts.littles_law import TOLERANCE, LittlesLaw, littles_law
from sitebench.counts.source import Drain as PlainDrain
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally
from sitebench.locust.portable import LaneClock, PortableLanes
from tests.engine.test_freeze import engine
from tests.support.drains import Drain
from tests.support.frozen import PEOPLE
from tests.support.people import small_population


def test_both_sides_of_littles_law_are_numbers_of_lanes() -> None:
    law = littles_law(32.0, 32.5, 2.0)
    assert law is not None
    assert (law.lanes, law.from_clocks, law.holds) == (16.0, 16.25, True)
    assert law.off == pytest.approx(0.015625)
    assert msgspec.convert(msgspec.to_builtins(law), LittlesLaw) == law


def test_tally_without_lanes_or_window_has_no_check_of_littles_law() -> None:
    assert littles_law(0.0, 1.0, 1.0) is None
    assert littles_law(0.0, 0.0, 2.0) is None
    assert littles_law(1.0, 1.0, 0.0) is None


@pytest.mark.parametrize(("clock_s", "holds"), [(98.1, True), (97.9, False), (102.1, False)])
def test_littles_law_allows_deviations_of_two_percent_up_and_down(
    clock_s: float, holds: bool
) -> None:
    law = littles_law(100.0, clock_s, 1.0)
    assert law is not None
    assert law.holds is holds


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}", small_population(PEOPLE))
    yield serving
    serving.stop()


@pytest.fixture(params=[{"kind": "closed"}, {"kind": "open", "rate": 2_000.0}], ids=str)
def snapshots(directory: Directory, request: pytest.FixtureRequest) -> list[Snapshot]:
    """Return the drain at a window's beginning and the drains within the window."""
    running, step = engine("directory", directory.port, request.param)
    running.start_lanes("p", 8)
    time.sleep(0.1)
    drained = [running.drain()]

    def done() -> int:
        return sum(each.count for one in drained[1:] for each in one.steps if each.step == step)

    while done() < 1_000 or drained[-1].t1_ns - drained[0].t1_ns < 3e8:
        time.sleep(0.05)
        drained.append(running.drain())
    running.stop(5.0)
    return drained


def law_of(snapshots: list[Any]) -> LittlesLaw:
    tally = Tally.starting(snapshots[0])
    for each in snapshots[1:]:
        tally.add(each)
    law = littles_law(tally.lane_s, tally.clock_s, tally.seconds)
    assert law is not None
    return law


def test_littles_law_holds_for_engine_lanes(snapshots: list[Snapshot]) -> None:
    law = law_of(snapshots)
    assert law.holds, law
    assert law.lanes == pytest.approx(8.0, rel=0.01)
    # Only the rounding of histograms remains, far below the alarm's tolerance.
    assert abs(law.off) < TOLERANCE / 10


def rewritten(snapshot: Snapshot, change: Callable[[StepTotals], StepTotals]) -> PlainDrain:
    """Return a snapshot as plain values, with each step of the present window changed."""

    def copied(step: StepStats) -> StepTotals:
        made = StepTotals(step.program, step.step, overlaps=step.overlaps)
        made.add(step)
        return made

    plain = {each.name: getattr(snapshot, each.name) for each in structs.fields(PlainDrain)}
    return PlainDrain(**plain | {"steps": tuple(change(copied(each)) for each in snapshot.steps)})


def scaled(histogram: Histogram, factor: float) -> Histogram:
    """Return the records of a clock that runs faster."""
    made = Histogram()
    for ns, n in histogram.buckets():
        made.record(round(ns * factor), n)
    return made


def test_wrong_clock_violates_littles_law(snapshots: list[Snapshot]) -> None:
    def fast(step: StepTotals) -> StepTotals:
        step.clocks["service"] = scaled(step.clocks["service"], 1.1)
        step.counters["processing"] = round(step.counters["processing"] * 1.1)
        return step

    start, *window = snapshots
    assert law_of([start, *(rewritten(each, lambda step: step) for each in window)]).holds
    broken = [
        structs.replace(rewritten(each, fast), waiting_ns=round(each.waiting_ns * 1.1))
        for each in window
    ]
    law = law_of([start, *broken])
    assert not law.holds
    assert law.off > 0.05
    assert "counted twice" in law.evidence


def test_lost_drain_violates_littles_law(snapshots: list[Snapshot]) -> None:
    start, *window = snapshots
    # On a busy machine the last drain may contain no operation.
    fullest = max(window, key=lambda each: sum(step.count for step in each.steps))
    lost = structs.replace(rewritten(fullest, lambda step: step), steps=(), waiting_ns=0)
    assert not law_of([start, *(lost if each is fullest else each for each in window)]).holds


def test_operation_longer_than_the_window_counts_with_its_time_in_the_window() -> None:
    tally = Tally.starting(Drain(0, 10**9, underway_ns=3 * 10**8))
    tally.add(Drain(10**9, 2 * 10**9, lane_ns=10**9, underway_ns=13 * 10**8))
    assert tally.clock_s == tally.lane_s == 1.0


def test_littles_law_holds_for_portable_lanes() -> None:
    directory = {"host": "127.0.0.1", "port": 9, "base": "o=x"}
    asks = {"name": "p", "text": '[[operation]]\nsearch = "(cn=a)"\nbase = "o=x"'}
    users = PortableUsers(json.dumps({"target": directory, "scenarios": [asks]}))
    lanes = PortableLanes(None, users)
    lanes.start_lanes("p", 2)
    clocks = [LaneClock(lanes) for _ in range(2)]
    start = lanes.drain()
    drained: list[Any] = [start]
    for n in range(6):
        for clock in clocks:
            clock.begin()
            time.sleep(0.004)
            clock.note_answer()
            kind = "timeout" if n == 3 else None
            lanes.keep("p", "s", clock.end(kind, answered=kind is None, traffic=(1, 2)))
            clock.rest(0.003)
        drained.append(lanes.drain())
    totals = sum(record.count for each in drained for record in each.steps)
    censored = sum(record.clocks["censored"].count for each in drained for record in each.steps)
    assert (totals, censored) == (12, 2)
    law = law_of(drained)
    assert abs(law.off) < TOLERANCE / 10, law
    for clock in clocks:
        clock.stop()
        clock.stop()
    lanes.stop_lanes("p", 2)
    assert lanes.stop().underway_ns == 0

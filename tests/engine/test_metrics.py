"""Metrics are declared once, in the engine; each step reports them by these names."""

import json
from typing import Any

import pytest

from ils_bench.sequences import text_of
from sitebench._engine import Directory, Engine, Histogram, StepStats, metrics
from tests.support.people import BASE, small_population

PEOPLE = small_population(50)
SCHEDULES: dict[str, dict[str, Any]] = {"closed": {}, "open": {"rate": 500.0}}
CLOCKS = [name for kind, name, *_ in metrics() if kind == "clock"]
COUNTERS = [name for kind, name, *_ in metrics() if kind == "counter"]


@pytest.fixture(scope="module")
def step() -> dict[str, StepStats]:
    """Return the statistics of lookups, with a closed and an open schedule."""
    return {kind: lookups({"kind": kind, **more}) for kind, more in SCHEDULES.items()}


def lookups(schedule: dict[str, Any]) -> StepStats:
    directory = Directory("{}", PEOPLE)
    target = {"host": "127.0.0.1", "port": directory.port, "base": BASE, "profile": "paper"}
    scenario = {"name": "p", "text": text_of("lookup")}
    config = {"target": target, "scenarios": [scenario], "schedule": schedule}
    engine = Engine(json.dumps(config), PEOPLE)
    try:
        engine.start_lanes("p", 1)
        while True:
            for one in engine.drain().steps:
                if one.step == "lookup":
                    return one
    finally:
        engine.stop()
        directory.stop()


def test_each_metric_has_a_unit_and_a_description() -> None:
    assert [kind for kind, *_ in metrics()] == ["clock"] * len(CLOCKS) + ["counter"] * len(COUNTERS)
    assert all(
        unit in ("ns", "bytes", "operations") and meaning[-1] == "."
        for _, _, unit, meaning, _ in metrics()
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_step_lists_every_metric_in_order(step: dict[str, StepStats], schedule: str) -> None:
    assert list(step[schedule].clocks) == CLOCKS
    assert list(step[schedule].counters) == COUNTERS


def test_closed_schedule_has_one_object_for_latency_and_service_clock(
    step: dict[str, StepStats],
) -> None:
    clocks = step["closed"].clocks
    assert clocks["latency"] is clocks["service"]
    assert clocks["abandoned"] is clocks["censored"]
    assert clocks["lag"] == Histogram()
    assert clocks["service"].count + clocks["censored"].count == step["closed"].count
    assert len({id(clock) for clock in clocks.values()}) == len(CLOCKS) - 2


def test_open_schedule_has_separate_clock_objects(step: dict[str, StepStats]) -> None:
    clocks = step["open"].clocks
    assert len({id(clock) for clock in clocks.values()}) == len(CLOCKS)
    assert clocks["latency"].count == clocks["lag"].count == step["open"].count

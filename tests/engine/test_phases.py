"""Requests to a clear and to a secure port: what is within them, and what each lane did."""

import json
import time
from typing import Any

import pytest

from sitebench._engine import Engine, WebServer
from sitebench.counts.littles_law import littles_law
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally

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
    """A window through which all lanes ran."""
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


def test_a_request_has_its_phases_and_they_overlap_the_steps(measured: Tally) -> None:
    steps = {step.step: step for step in measured.steps.values()}
    assert set(steps) == {"sequence", "connect", "clear", "secret"} | PHASES
    assert {name for name, step in steps.items() if step.overlaps} == {"sequence"} | PHASES
    assert not any(step.failures for step in steps.values())
    assert steps["request"].count == steps["clear"].count + steps["secret"].count
    assert abs(steps["handshake"].count - steps["secret"].count) <= LANES
    assert 0 < steps["handshake"].clocks["service"].sum < steps["connect"].clocks["service"].sum
    assert 0 < steps["first byte"].clocks["service"].sum < steps["request"].clocks["service"].sum
    assert all(
        steps[phase].counters["bytes_in"] == steps[phase].counters["bytes_out"] == 0
        for phase in PHASES
    )


def test_each_lane_is_counted(measured: Tally) -> None:
    assert len(measured.lane_counts) == LANES
    assert sum(measured.lane_counts) == totals(measured, "request").count


def test_the_time_of_phases_is_not_counted_twice(measured: Tally) -> None:
    law = littles_law(measured.lane_s, measured.clock_s, measured.seconds)
    assert law is not None
    assert law.holds, law

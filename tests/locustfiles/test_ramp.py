"""Users still ramping are warm-up: nothing is measured before the last of them runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from sitebench.measure.point_process import run_point
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.locustfiles.conftest import LOCALES, PEOPLE, Counting
from tests.support.relay import delaying, relayed

SLOW = """
from ils_bench.locustfile import *
from locust import events

def slow(environment, **_):
    # One after the other, two seconds apart: a drain that is late still comes before the last.
    environment.parsed_options.spawn_rate = 0.5

events.init.add_listener(slow)
"""


def test_ramp_is_stored_and_not_measured(counting: Counting, tmp_path: Path) -> None:
    # Answers that take 20 ms: lanes at full speed would keep both cores busy all the time.
    with (
        relayed(counting.directory.port, delaying(lambda _: 0.02)) as port,
        RunStore(tmp_path / "run") as store,
    ):
        options = IlsOptions(
            entries=PEOPLE,
            target=f"ldap://127.0.0.1:{port}",
            locales=LOCALES,
            users=4,
            warmup=0.4,
            measure=1.0,
        )
        address = DirectoryAddress("127.0.0.1", port)
        target = OpenDirectory("ours", address, options.base)
        (tmp_path / "slow.py").write_text(SLOW)
        test = replace(POINTS.test(options, "lookup").at(target), locustfile=tmp_path / "slow.py")
        result = run_point(test, store)
        store.confirm(test.spec)
    with RunFile(tmp_path / "run") as run:
        (found,) = run.points()
        rows = run.timeline(found.id)
        (lookup,) = [step for step in run.steps(found.id) if step.step == "lookup"]
    phases = ("ramp", "warmup", "measure")
    lanes = {phase: [row.lanes for row in rows if row.phase == phase] for phase in phases}
    assert lanes["ramp"][0] < 4
    assert sum(row.count for row in rows if row.phase == "ramp") > 0
    assert set(lanes["warmup"]) == set(lanes["measure"]) == {4}
    measured = sum(r.count for r in rows if r.phase == "measure" and r.step == "lookup")
    assert lookup.clocks["latency"].count == measured
    # A rate is of what ended in the window, and a lane may have one under way at each edge.
    assert result.operations == pytest.approx(measured, abs=4)
    assert result.little is not None
    assert result.little.lanes == 4.0

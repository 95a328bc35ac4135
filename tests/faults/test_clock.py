"""A step of the wall clock during a run changes no measurement."""

from pathlib import Path

import ldap3
import pytest

from sitebench.runs.runfile import RunFile
from tests.faults.served import LOCALES
from tests.support.aftermath import Ground
from tests.support.cli import Ran
from tests.support.dynamic import refresh, there, ttl_s
from tests.support.people import BASE
from tests.support.stepped import WallClock
from tests.support.waiting import eventually, left_s

RATE, SECONDS, LATER_S = 200, 4, 7_200


@pytest.fixture
def clock(tmp_path: Path) -> WallClock:
    (tmp_path / "clock").mkdir()
    return WallClock(tmp_path / "clock")


@pytest.mark.parametrize(("suite", "step_s"), [("ils", LATER_S), ("ps", -LATER_S)])
def test_step_of_the_wall_clock_does_not_change_results(
    ground: Ground, clock: WallClock, suite: str, step_s: int
) -> None:
    operation = "lookup" if suite == "ils" else "page"
    where = (suite, "run", operation, "--entries", "300", "--locales", ",".join(LOCALES))
    load = ("--users", "4", "--threads", "1", "--warmup", "0s")
    evenly = ("--rate", str(RATE), "--arrivals", "even")
    kept = ("--measure", f"{SECONDS}s", "--json", "--out", str(ground.run))
    with ground.started(*where, *load, *evenly, *kept, **clock.environment) as process:
        assert eventually(lambda: "measure" in ground.phases())
        clock.set_ahead(step_s)
        out, err = process.communicate(timeout=left_s())
    point = Ran(process.returncode, out, err).point
    assert point["failures"] == 0
    # The steps are hours, far more than any delay of a busy machine.
    assert point["resources"]["seconds"] == pytest.approx(point["measure_s"], abs=2)
    # Every operation due in the window has ended in it or has joined its queue.
    queues = [sum(point[name].values()) for name in ("queue_start", "queue_end")]
    due = point["operations"] + queues[1] - queues[0]
    # Without a warm-up lanes start within the window: milliseconds late, not hours.
    assert due == pytest.approx(RATE * point["measure_s"], abs=0.1 * RATE)
    assert 0 < point["latency_us"]["max"] < SECONDS * 1e6
    with RunFile(ground.run) as run:
        (stored,) = run.points()
        rows = [row for row in run.timeline(stored.id) if row.phase == "measure"]
    assert all(0 < row.seconds < SECONDS for row in rows)
    # The step reached the processes: dates have changed, durations have not.
    lasted_s = (stored.finished or 0) - (stored.started or 0)
    assert lasted_s == pytest.approx(step_s, abs=600)


def test_step_of_the_wall_clock_does_not_change_the_time_to_live(
    ground: Ground, clock: WallClock
) -> None:
    serve = ("ils", "serve", "--port", "0", "--entries", "10", "--locales", ",".join(LOCALES))
    with ground.started(*serve, **clock.environment) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].split(",")[0]
        with ldap3.Connection(url) as connection:
            for name, life_s in (("Long", 600), ("Brief", 2)):
                dn = f"cn={name},{BASE}"
                connection.add(dn, ["inetOrgPerson", "dynamicObject"], {"sn": "x"})  # type: ignore[no-untyped-call]
                assert refresh(connection, dn, life_s)
            clock.set_ahead(LATER_S)
            assert 500 <= ttl_s(connection, f"cn=Long,{BASE}") <= 600
            clock.set_ahead(-LATER_S)
            assert eventually(lambda: not there(connection, f"cn=Brief,{BASE}"))
            assert 500 <= ttl_s(connection, f"cn=Long,{BASE}") <= 600
        process.terminate()
        process.communicate(timeout=left_s())

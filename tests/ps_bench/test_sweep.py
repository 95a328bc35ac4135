"""Sweeps of the site as users run them."""

from pathlib import Path

import psutil
import pytest

from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.ps_bench.conftest import LOCALES
from tests.support.aftermath import Ground
from tests.support.cli import in_process
from tests.support.waiting import eventually, left_s

LOAD = ("--users", "8", "--threads", "1", "--locales", ",".join(LOCALES))
SHORT = ("--warmup", "100ms", "--measure", "500ms")
RATE = ("--rate", "200")
"""A low rate for tests that do not depend on speed: at full speed a window takes both cores."""


def test_sweep_measures_every_size_and_is_resumed(tmp_path: Path) -> None:
    argv = ("ps", "sweep", "--sizes", "100,1k", "--out", "run", *LOAD, *RATE, *SHORT)
    ran = in_process(*argv, "--paper-tables", cwd=tmp_path).check(0)
    for words in ("Web pages requested/sec", "Average Connect Time", "Table 13", "exact in every"):
        assert words in ran.out
    with RunStore(tmp_path / "run", create=False) as store:
        assert [(r.spec.entries, r.failures) for r in store.results()] == [(100, 0), (1_000, 0)]
        assert store.manifest()["population"]["digest"]
    again = in_process(*argv, "--json", cwd=tmp_path)
    assert [point["resumed"] for point in again.objects] == [True, True]


def test_dead_site_is_named_and_measured_points_are_kept(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    window = ("--warmup", "0s", "--measure", "4s")
    argv = ("ps", "sweep", "--sizes", "100,200", *LOAD, "--rate", "20", *window)
    with ground.started(*argv, "--json", "--out", str(ground.run)) as sweep:
        assert eventually(lambda: ground.windows() == 2 or sweep.poll() is not None)
        finished = ground.done()
        children = psutil.Process(sweep.pid).children(recursive=True)
        (site,) = [each for each in children if "ps_bench.targets.embedded" in each.cmdline()]
        site.kill()
        _, said = sweep.communicate(timeout=left_s())
    assert sweep.returncode == 1
    what, remedy = said.strip().splitlines()
    assert what.startswith("sitebench: embedded at http://127.0.0.1:")
    assert "ended during the measurement" in what
    assert "points already measured are kept" in remedy
    with RunFile(ground.run) as run:
        assert [point.status for point in run.points()] == ["done", "failed"]
    assert ground.done() == finished
    # The next site removes the remains of a killed site.
    resumed = ground.ran("resume", str(ground.run))
    assert [point["resumed"] for point in resumed.objects] == [True, False]
    ground.assert_clean()


@pytest.mark.parametrize("operation", ["page", "create", "update", "image"])
def test_each_request_can_be_measured_alone(operation: str) -> None:
    point = in_process(
        *("ps", "run", operation, "--entries", "200", "--keepalive", "--json"),
        *(*LOAD, "--rate", "5k", *SHORT),  # Several hundredths of a second of CPU.
    ).point
    assert point["failures"] == 0
    assert point["ops_per_s"] > 0
    assert point["target"]["cpu_s"] > 0


def test_connections_are_per_request_or_per_user() -> None:
    each = ("ps", "run", "page", "--entries", "200", "--rate", "1k", "--json", *LOAD, *SHORT)
    apart, kept = in_process(*each, "--no-keepalive"), in_process(*each, "--keepalive")
    (first,), (second,) = apart.objects, kept.objects
    assert first["figures"]["connects_per_s"] == pytest.approx(first["ops_per_s"], rel=0.1)
    assert first["figures"]["connect_s"] > 0
    assert second["figures"]["connects_per_s"] == 0
    assert second["figures"]["connect_s"] is None


def test_open_schedule_of_a_site_keeps_its_rate() -> None:
    point = in_process(
        *("ps", "run", "--entries", "200", "--rate", "200", "--arrivals", "even", "--json", *LOAD),
        *("--warmup", "200ms", "--measure", "2s"),
    ).point
    # Operations due in the window have ended in it or have joined its queue. A user may be at the
    # images of a counted page.
    begin, end = point["queue_start"], point["queue_end"]
    due = point["operations"] + end["backlog"] - begin["backlog"]
    assert point["failures"] == 0
    asked = 200 * point["measure_s"]
    assert due - begin["in_flight"] - 4 < asked < due + end["in_flight"] + 4
    assert point["schedule"] == "open"
    assert point["arrivals"] == point["spec"]["settings"]["arrivals"] == "even"


@pytest.mark.timeout(300)
def test_mix_is_exact_except_for_decks_cut_by_the_window() -> None:
    for window in ("1s", "8s", "30s"):  # A busy machine needs longer for two decks.
        ran = in_process(
            *("ps", "run", "--entries", "500", "--rate", "500", "--json", *LOAD),
            *("--warmup", "200ms", "--measure", window),
        )
        found = ran.objects[0]["figures"]["mix"]["scenario"]
        total = sum(each["count"] for each in found.values())
        if total > 200:
            break
    assert total > 200
    # With one thread, a hundred is cut at each end, and each of eight users may be within an
    # operation.
    for each in found.values():
        assert abs(each["count"] - total * each["asked_percent"] / 100) <= 2 * 10 + 8


def test_think_times_lower_the_rate_of_a_user() -> None:
    ran = in_process("ps", "run", "--entries", "200", "--think", "50ms", "--json", *LOAD, *SHORT)
    # Eight users that think 50 ms: at most 160 a second.
    assert 0 < ran.objects[0]["ops_per_s"] < 200

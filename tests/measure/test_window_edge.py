"""A stall at a window's end: the delayed arrivals belong to the window, and none is lost."""

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from sitebench.errors import BadRunFile
from sitebench.runs.runfile import RunFile
from sitebench.system.network import free_port
from sitebench.targets.ownership import FLAG
from tests.support.cli import Ran, in_process
from tests.support.frozen import freeze, served
from tests.support.waiting import eventually
from tests.support.workers import forked_workers

RATE = 1_000
MEASURE_S = 2.0
STALL_S = 1.0
LANES = 8
T = TypeVar("T")


def began_ns(path: Path, phase: str = "measure") -> float | None:
    """Return the begin of a phase, once its first drain is stored."""
    with contextlib.suppress(BadRunFile), RunFile(path) as run:
        drains = [row for point in run.points() for row in run.timeline(point.id)]
        starts = [row.t_ns - row.seconds * 1e9 for row in drains if row.phase == phase]
        return min(starts, default=None)
    return None  # The file is being made.


def even_lookups(
    port: int, lanes: int, measure_s: float, warmup_s: float = 1.5
) -> tuple[object, ...]:
    """Return the command of lookups that are due at equal intervals."""
    return (
        *("ils", "run", "lookup", "--target", f"ldap://127.0.0.1:{port}", "--json", FLAG),
        *("--entries", 100, "--locales", "en_US", "--users", lanes, "--threads", 1),
        *("--rate", RATE, "--arrivals", "even"),
        *("--warmup", f"{warmup_s}s", "--measure", f"{measure_s}s"),
    )


def ran_beside(
    happen: Callable[[float], T], out: Path, *argv: object, phase: str = "measure"
) -> tuple[Ran, T]:
    """Measure in this process into a file, and run `happen` in another thread meanwhile.

    `happen` gets the begin of a phase in ns; if it never begins, the command's end ends the wait.
    """
    over = threading.Event()

    def wait() -> T:
        assert eventually(lambda: began_ns(out, phase) is not None or over.is_set())
        began = began_ns(out, phase)
        assert began is not None, f"the command ended before its phase {phase}"
        return happen(began)

    with ThreadPoolExecutor(1) as pool:
        happening = pool.submit(wait)
        try:
            ran = in_process(*argv, "--out", out)
        finally:
            over.set()
        print(ran.err)  # Shown where the test fails.
        return ran, happening.result()


def stalled(folder: Path, out: Path, workers: int) -> tuple[dict[str, Any], int, int]:
    """Measure a directory that stalls around the window's end.

    Return the result, and the times between which the directory stalled.
    """
    folder.mkdir()
    with served("directory", folder) as (pid, port):
        where = f"127.0.0.1:{free_port()}"
        made_by = forked_workers(folder, where) if workers else contextlib.nullcontext()
        by = ("--workers", workers, "--bind", where) if workers else ()
        argv = (*even_lookups(port, LANES, MEASURE_S, 0.2), *by)

        def stall(began: float) -> tuple[int, int]:
            over_s = began / 1e9 + MEASURE_S
            time.sleep(max(0.0, over_s - STALL_S / 2 - time.monotonic()))
            return freeze(pid, STALL_S)

        with made_by:
            ran, (stopped_ns, goes_on_ns) = ran_beside(stall, out, *argv)
    return ran.point, stopped_ns, goes_on_ns


@pytest.mark.timeout(300)
@pytest.mark.parametrize("workers", [0, 1])
def test_stall_at_the_end_of_the_window_is_in_latencies(tmp_path: Path, workers: int) -> None:
    for attempt in range(4):
        out = tmp_path / f"{attempt}.sitebench"
        found, stopped_ns, goes_on_ns = stalled(tmp_path / str(attempt), out, workers)
        with RunFile(out) as run:
            (point,) = run.points()
            rows = [row for row in run.timeline(point.id) if row.phase == "measure"]
            (lookup,) = [step for step in run.steps(point.id) if step.step == "lookup"]
        start_ns = min(row.t_ns - row.seconds * 1e9 for row in rows)
        end_ns = start_ns + found["measure_s"] * 1e9
        waited = (end_ns - stopped_ns) / 1e9
        # On a busy machine the stall may miss the edge, or the window may begin with a queue.
        queued = sum(found["queue_start"].values())
        if stopped_ns < end_ns < goes_on_ns and queued < waited * RATE / 2:
            break
    else:
        raise AssertionError("the stall was never over the edge of a window that began well")
    assert sum(row.count for row in rows if row.step == "lookup") == lookup.count
    # All arrivals of the window are present: none was left out as late.
    n, due = lookup.clocks["latency"].count, found["measure_s"] * RATE
    assert found["failures"] == lookup.clocks["censored"].count == 0
    assert n == pytest.approx(due, abs=3 + 2 * workers)
    # An arrival due at d waited at least until the end of the stall.
    for share in (0.1, 0.5, 0.9):
        x_ns = goes_on_ns - stopped_ns - share * (end_ns - stopped_ns)
        longer = sum(k for ns, k in lookup.clocks["latency"].buckets() if ns > x_ns * 0.999)
        assert longer >= share * waited * RATE - 3 - 2 * workers
    assert found["latency_us"]["max"] >= (goes_on_ns - stopped_ns) / 1e3 * 0.99
    assert found["latency_us"]["p90"] >= (goes_on_ns - end_ns) / 1e3 * 0.99
    queue = found["queue_end"]
    assert queue["backlog"] + queue["in_flight"] >= waited * RATE - 3 - 2 * workers
    assert queue["in_flight"] == LANES
    # Operations that ended in the window were due in it before the stall, or waited at its start.
    assert found["operations"] <= queued + due - waited * RATE + LANES + 3
    assert found["little"]["holds"]

"""Runs the command line, and stops or limits one of its processes once it makes load."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from sitebench.errors import SitebenchError
from sitebench.runs.runfile import RunFile
from sitebench.verdict.rules.thresholds import STALLED_SOME
from tests.measure.test_window_edge import began_ns
from tests.support.cli import SITEBENCH, Ran
from tests.support.waiting import eventually, left_s

GENERATOR = "sitebench.locust.runner"
DIRECTORY = "ils_bench.targets.embedded"
SITE = "ps_bench.targets.embedded"
SLAPD = "slapd"
"""Modules or programs that identify the processes of a run."""

Pids = dict[str, int]

WARMUPS_S = (1, 3, 9)


def measured(
    folder: Path,
    *argv: str,
    held: Callable[[Pids], object] = lambda pids: None,
    prefix: Sequence[str] = (),
    spared: str | None = None,
) -> dict[str, Any]:
    """Run a point; pass its processes to `held` once its lanes run. Return the point.

    Processes are stopped or limited within the warm-up: an earlier limit would lengthen the start
    of Locust to a minute. If that came too late, if a busy machine starved the side `spared`
    ("target" or "generator"), or if the hypervisor took cores of this machine, the result shows
    another fault: the point is measured again.
    """
    for attempt, warmup_s in enumerate(WARMUPS_S):
        run = folder / f"{attempt}.sitebench"
        whole = [*prefix, *SITEBENCH, *argv, "--warmup", f"{warmup_s}s", "--measure", "2s"]
        point, held_ns = _measured_once(run, [*whole, "--json", "--out", str(run)], held)
        late = held_ns > (began_ns(run) or 0)
        if not (late or _starved(point, spared) or _stolen(point)):
            return point
    raise AssertionError("this machine is too busy to hold one side back and not the other")


def _starved(point: dict[str, Any], who: str | None) -> bool:
    """Return whether a side had to wait for a core for more than a third of the window."""
    if who is None:
        return False
    return bool(point["resources"][who]["waited_s"] > point["measure_s"] / 3)


def _stolen(point: dict[str, Any]) -> bool:
    """Return whether the hypervisor gave a tenth of the cores to other guests.

    A target is then neither on a core nor reported as waiting for one.
    """
    machine = point["resources"]["machine"]
    cores = len(machine["busy_per_core"])
    return bool(machine.get("stolen_s", 0.0) > STALLED_SOME * cores * point["measure_s"])


def _measured_once(
    run: Path, argv: Sequence[str], held: Callable[[Pids], object]
) -> tuple[dict[str, Any], int]:
    """Return a point, and the time at which its processes were stopped or limited."""
    env = {**os.environ, "TMPDIR": str(run.parent)}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, text=True, env=env, **streams) as process:
        try:
            assert eventually(lambda: _makes_load(run) or process.poll() is not None)
            if process.poll() is None:
                held(_processes(process.pid))
            held_ns = time.monotonic_ns()
            out, err = process.communicate(timeout=left_s())
        finally:
            process.kill()
    return Ran(process.returncode, out, err).point, held_ns


def _makes_load(run: Path) -> bool:
    with contextlib.suppress(SitebenchError):
        file = RunFile(run)
        return any(file.timeline(point.id) for point in file.points())
    return False


def _processes(pid: int) -> Pids:
    """Return the child processes of a run by module or program name."""
    found: dict[str, int] = {}
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            argv = child.cmdline()
            module = argv[argv.index("-m") + 1] if "-m" in argv else child.name()
            found[module] = child.pid
    return found


def put_ahead(pid: int) -> None:
    """Raise a process's priority, so that only the intended process is starved."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(PermissionError):  # without root: on a quiet machine
            os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(1))


def pin(pid: int, cores: set[int]) -> None:
    """Pin every thread of a process to some cores."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


@contextlib.contextmanager
def burners(number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Prepare programs that each use a core once their input is closed."""
    # One session for each: the kernel divides a core by session first (sched_autogroup).
    argv = [sys.executable, "-c", "import sys; sys.stdin.read()\nwhile True: pass"]
    waiting = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True) for _ in range(number)
    ]
    try:
        yield waiting
    finally:
        for each in waiting:
            each.kill()
            each.communicate()


def ignite(burner: subprocess.Popen[bytes]) -> None:
    """Let a program use its core from now on."""
    assert burner.stdin is not None
    burner.stdin.close()


def grades(point: dict[str, Any]) -> dict[str, str]:
    """Return the grade of every resource of a point."""
    return {each["resource"]: each["grade"] for each in point["bottlenecks"]}

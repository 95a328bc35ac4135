"""Common parts of the benches of directory, site, TLS, limits and report."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from benches.ratios import Trial
from sitebench.measure.point_process import Runner
from sitebench.measure.test import Test
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from sitebench.system.native_errors import translated

if TYPE_CHECKING:
    from sitebench._engine import Engine, StepStats

LANES = 64
WARMUP_S = 0.5
_Server = TypeVar("_Server")


class Bench:
    """Several trials, with servers that stay open from their first use to the end."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.stack = contextlib.ExitStack()
        self._open: dict[Hashable, Any] = {}

    def opened(
        self, key: Hashable, opening: Callable[[], AbstractContextManager[_Server]]
    ) -> _Server:
        """Return the server of a key, which is opened when a trial first needs it."""
        if key not in self._open:
            self._open[key] = self.stack.enter_context(opening())
        server: _Server = self._open[key]
        return server

    def trials(self) -> list[Trial]:
        """Return every trial, in the order in which a repeat runs them."""
        raise NotImplementedError


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is removed with everything in it."""
    with TemporaryDirectory(prefix="sitebench-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def measured(test: Test) -> PointResult:
    """Measure one point as a sweep does, with a temporary run file."""
    with temporary_folder() as folder, RunStore(folder / "run") as store, Runner() as runner:
        store.plan([test.spec])
        return runner.run(test, store)


class Lanes(NamedTuple):
    """Operations of lanes in a window, and the CPU that the lanes used."""

    seconds: float
    cpu_ns: int
    steps: Sequence[StepStats]

    def rates(self, counted: Callable[[StepStats], bool]) -> dict[str, float]:
        """Return operations a second (steps that succeeded), and the CPU time of one operation."""
        steps = [step for step in self.steps if counted(step)]
        done = sum(step.count - sum(step.failures.values()) for step in steps)
        return {"ops_per_s": done / self.seconds, "cpu_us": self.cpu_ns / max(done, 1) / 1e3}


def run_counted(argv: Sequence[str], **more: Any) -> tuple[int, str, float]:
    """Run a program; return its exit code, its output, and the seconds of CPU that it used."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **more)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, used.ru_utime + used.ru_stime


def run_lanes(engine: Engine, program: str, lanes: int, seconds: float) -> Lanes:
    """Run lanes in this process, without Locust."""
    with translated():
        engine.start_lanes(program, lanes)
        time.sleep(WARMUP_S)
        before = engine.drain()
        time.sleep(seconds)
        after = engine.drain()
        engine.stop()
    cpu_ns = sum(after.cpu_ns) - sum(before.cpu_ns)
    return Lanes((after.t1_ns - after.t0_ns) / 1e9, cpu_ns, after.steps)

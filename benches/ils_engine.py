"""Lanes in this process, without Locust, also with the recorders and monitors of a point."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from benches.bench import LANES, Bench, measured, temporary_folder
from benches.ratios import Values
from ils_bench.calibrate import WARMUP_S, engine_alone, running_engine
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.opening import open_target
from ils_bench.targets.target import OpenDirectory
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import Changes
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from sitebench.runs.windows import Phase, PointFile, Windows
from sitebench.scenario.script import Script

TICK_S = 0.5
"""The interval at which a point drains its recorders, as in `sitebench.locust.role_local`."""
READINGS = 4


class DirectoryBench(Bench):
    """Trials of directories with a thread of load."""

    def options(self, entries: int = 10_000, **more: Any) -> IlsOptions:
        load = {"threads": 1, "users": LANES, "warmup": WARMUP_S, "measure": self.seconds}
        return IlsOptions(entries=entries, **{**load, **more})

    def target(self, options: IlsOptions) -> OpenDirectory:
        """Return the target of options, the same for equal options."""
        return self.opened(options, lambda: open_target(options, options.entries))

    def alone(self, options: IlsOptions, sequence: Script, lanes: int = LANES) -> Values:
        """Run lanes in this process, without Locust."""
        return engine_alone(options, self.target(options), sequence, lanes, self.seconds)

    def point(
        self, options: IlsOptions, target: OpenDirectory | None = None, operation: str = "lookup"
    ) -> PointResult:
        return measured(POINTS.test(options, operation).at(target or self.target(options)))


@contextlib.contextmanager
def _recording(options: IlsOptions, sequence: Script) -> Iterator[PointFile]:
    """Yield a point of a temporary run file."""
    with temporary_folder() as folder, RunStore(folder / "run") as store:
        spec = POINTS.point(options, sequence.name, [sequence])
        store.begin(spec)
        yield PointFile(store, store.point_id(spec.key))


@contextlib.contextmanager
def _watching(target: OpenDirectory) -> Iterator[Monitor]:
    monitor = Monitor(target.pid, (target.address.host, target.address.port))
    try:
        yield monitor
    finally:
        monitor.close()


def engine_watched(
    options: IlsOptions, target: OpenDirectory, sequence: Script, lanes: int, seconds: float
) -> dict[str, float]:
    """Return the rate of lanes that are drained, recorded and monitored like those of a point."""
    with (
        running_engine(options, target, sequence, lanes) as engine,
        _recording(options, sequence) as file,
        _watching(target) as monitor,
    ):
        windows = Windows(monitor, file)
        windows.enter_phase(engine.cut(), Phase.MEASURE)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, TICK_S))
            windows.absorb(engine.drain())
        windows.enter_phase(engine.cut(), Phase.AFTER)
        windows.use()
    measured = windows.tallies[Phase.MEASURE]
    counted = measured.merge_steps(list(sequence.counted_rows))
    return {"ops_per_s": (counted.count - counted.failed) / measured.seconds}


def sampling(options: IlsOptions, target: OpenDirectory, sequence: Script) -> dict[str, float]:
    """Return the CPU use of a process that only monitors and records, once a second."""
    with _recording(options, sequence) as file, _watching(target) as monitor:
        changes = Changes()
        began, spent = time.monotonic(), time.process_time()
        for n in range(READINGS):
            time.sleep(1.0)
            file.store.append_sample(file.point, n, changes.rows(monitor.sample()))
        took_s = time.monotonic() - began
        return {"cpu_s": (time.process_time() - spent) / took_s, "second": 1.0}

"""Lanes in this process, without Locust: alone, and watched and recorded as a point's are."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ils_bench.engine_config import engine_config
from ils_bench.options import IlsOptions
from ils_bench.points import point
from ils_bench.seeding.journal import FIRST_ADDED
from ils_bench.sequences import Sequence
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenTarget
from seeders.people import generate
from sitebench._engine import Engine
from sitebench.calibrate.cpu import cpu_ns
from sitebench.counts.worker_slot import Place
from sitebench.monitor import Changes, Monitor
from sitebench.runs.store import RunStore
from sitebench.runs.windows import Phase, PointFile, Windows
from sitebench.system.native_errors import translated

WARMUP_S = 0.5
TICK_S = 0.5
"""How often a point drains its recorders, as `sitebench.locust.bridge` does."""
READINGS = 4


@contextlib.contextmanager
def _running(
    options: IlsOptions, target: OpenTarget, sequence: Sequence, lanes: int
) -> Iterator[Engine]:
    """Yield an engine whose lanes are warm."""
    population = generate(spec_of(options, options.entries)).population
    config = engine_config(
        options,
        target.address,
        [sequence],
        place=Place(),
        first_added=FIRST_ADDED,
        trust=target.trust,
    )
    with translated():
        engine = Engine(config, population)
        engine.start_lanes(sequence.name, lanes)
        try:
            time.sleep(WARMUP_S)
            yield engine
        finally:
            engine.stop()


def engine_alone(
    options: IlsOptions, target: OpenTarget, sequence: Sequence, lanes: int, seconds: float
) -> dict[str, float]:
    """Return the rate of lanes that nobody looks at, and what one operation cost both sides."""
    assert target.pid is not None, "a target of our own has a process"
    with _running(options, target, sequence, lanes) as engine:
        before, target_ns = engine.drain(), cpu_ns(target.pid)
        time.sleep(seconds)
        after, target_ns = engine.drain(), cpu_ns(target.pid) - target_ns
    step = next(s for s in after.steps if s.step == sequence.counts)
    done = step.count - sum(step.failures.values())
    took = (after.t1_ns - after.t0_ns) / 1e9
    engine_ns = sum(after.cpu_ns) - sum(before.cpu_ns)
    return {
        "ops_per_s": done / took,
        "cpu_us": engine_ns / max(done, 1) / 1e3,
        "target_cpu_us": target_ns / max(done, 1) / 1e3,
    }


@contextlib.contextmanager
def _recording(options: IlsOptions, sequence: Sequence) -> Iterator[PointFile]:
    """Yield a point of a run file that is thrown away."""
    with (
        tempfile.TemporaryDirectory(prefix="sitebench-bench-") as folder,
        RunStore(Path(folder) / "run") as store,
    ):
        spec = point(options, sequence.name)
        store.begin(spec)
        yield PointFile(store, store.point_id(spec.key))


@contextlib.contextmanager
def _watching(target: OpenTarget) -> Iterator[Monitor]:
    monitor = Monitor(target.pid, (target.address.host, target.address.port))
    try:
        yield monitor
    finally:
        monitor.close()


def engine_watched(
    options: IlsOptions, target: OpenTarget, sequence: Sequence, lanes: int, seconds: float
) -> dict[str, float]:
    """Return the rate of lanes that are drained, recorded and watched as a point's are."""
    with (
        _running(options, target, sequence, lanes) as engine,
        _recording(options, sequence) as file,
        _watching(target) as monitor,
    ):
        windows = Windows(monitor, file)
        windows.cross(engine.drain(), Phase.MEASURE)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, TICK_S))
            windows.absorb(engine.drain())
        windows.cross(engine.drain(), Phase.AFTER)
        windows.use()
    measured = windows.tallies[Phase.MEASURE]
    counted = measured.counted([(sequence.name, sequence.counts)])
    return {"ops_per_s": (counted.count - counted.failed) / measured.seconds}


def sampling(options: IlsOptions, target: OpenTarget, sequence: Sequence) -> dict[str, float]:
    """Return the CPU of a process that only watches, once a second, and writes it down."""
    with _recording(options, sequence) as file, _watching(target) as monitor:
        changes = Changes()
        began, spent = time.monotonic(), time.process_time()
        for n in range(READINGS):
            time.sleep(1.0)
            file.store.append_sample(file.point, n, changes.rows(monitor.sample()))
        took_s = time.monotonic() - began
        return {"cpu_s": (time.process_time() - spent) / took_s, "second": 1.0}

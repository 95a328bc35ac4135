"""A large run file for the report's time limit: 40 points, an hour of timelines.

Written through the run store, with histograms as wide as real ones (a drain of a busy lane has some
two thousand buckets) and the samples of a machine with 8 cores. The file says that its figures are
invented.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sitebench._engine import Histogram
from sitebench.counts.metrics import BYTES_IN, BYTES_OUT, LATENCY, SERVICE, WRONG
from sitebench.counts.source import Drain, StepTotals
from sitebench.counts.tally import Tally
from sitebench.measure.summarise import summarise
from sitebench.monitor.use import MachineUse, ProcessUse, Use
from sitebench.runs.point import PointSpec
from sitebench.runs.store import RunStore

POINTS, SECONDS = 40, 3_600.0
DRAIN_S, DRAIN_NS = 0.5, 500_000_000
PER_DRAIN = 32_000
WARMUP_SHARE = 0.1
SIZES = (1_000, 10_000, 100_000, 1_000_000)
OPERATIONS = ("connect", "add", "lookup")
CORES = 8
_BUCKETS = 2_000
_SHAPES = 12


def step(
    program: str, name: str, service: Histogram, failures: Mapping[str, int] | None = None
) -> StepTotals:
    """Return one step of a closed schedule: a request has 104 bytes, its answer 1,283."""
    made = StepTotals(program, name, failures=Counter(failures))
    made.clocks[WRONG].record(round(service.mean), made.failed)
    made.count = count = service.count + made.failed
    made.counters |= {BYTES_OUT: 104 * count, BYTES_IN: 1_283 * count}
    made.clocks |= {SERVICE: service, LATENCY: service}
    return made


def drained(t0_ns: int, steps: Sequence[StepTotals], cpu_ns: int) -> Drain:
    """Return the results of 64 lanes between two drains."""
    return Drain(t0_ns, t0_ns + DRAIN_NS, steps, 64, (cpu_ns,), 0, 0, 0)


def specs(points: int, seconds: float) -> list[PointSpec]:
    """Return the specs of the points: sizes twice, and a sweep of loads."""

    def spec(operation: str, entries: int, users: int, repeat: int = 0) -> PointSpec:
        warmup_s = seconds * WARMUP_SHARE
        measure_s = seconds - warmup_s
        return PointSpec(
            "ils", operation, entries, "made up", users, None, warmup_s, measure_s, repeat=repeat
        )

    by_size = [
        spec(name, size, 64, repeat) for repeat in range(2) for size in SIZES for name in OPERATIONS
    ][:points]
    loads = range(points - len(by_size))
    return by_size + [spec("lookup", 10_000, 2 + 2 * n) for n in loads]


def write(path: Path, points: int = POINTS, seconds: float = SECONDS) -> None:
    """Write the file; `seconds` is the total of all points."""
    shapes = [_shape(random.Random(n)) for n in range(_SHAPES)]
    with RunStore(path) as store:
        store.set_manifest({"command": ["sitebench", "ils", "sweep"], "made_up": True})
        for n, spec in enumerate(specs(points, seconds / points)):
            _point(store, spec, shapes, n)


def _shape(chance: random.Random) -> Histogram:
    """Return a drain's latencies: log-normal around 120 us, with an additional tail."""
    made, median, spread = Histogram(), chance.uniform(90e3, 160e3), chance.uniform(0.35, 0.55)
    for _ in range(_BUCKETS):
        made.record(round(median * math.exp(chance.gauss(0.0, spread))), PER_DRAIN // _BUCKETS)
    made.record(round(chance.uniform(2e6, 9e6)), 3)
    return made


def _point(store: RunStore, spec: PointSpec, shapes: list[Histogram], n: int) -> None:
    store.begin(spec)
    point = store.point_id(spec.key)
    start = n * 10**12
    drains = max(round((spec.warmup_s + spec.measure_s) / DRAIN_S), 2)
    warm = max(round(spec.warmup_s / DRAIN_S), 1)
    tallies = {"warmup": Tally(), "measure": Tally()}
    for at in range(drains):
        phase = "warmup" if at < warm else "measure"
        drain = _drain(spec, start + at * DRAIN_NS, shapes, n + at)
        store.append(point, phase, drain)
        tallies[phase].add(drain)
        if at % 2 == 0:
            store.append_sample(point, drain.t1_ns, _samples(at, drain.t1_ns - start))
    counts = [(spec.operation, spec.operation)]
    measured = tallies["measure"]
    result = summarise(spec, measured, counts, _use(measured.seconds), target_cores=1, native=True)
    store.complete(point, tallies, result)
    store.confirm(spec)


def _drain(spec: PointSpec, t0_ns: int, shapes: list[Histogram], n: int) -> Drain:
    name = spec.operation
    steps = [step(name, name, shapes[n % _SHAPES])]
    steps += [
        step(name, other, shapes[(n + k) % _SHAPES])
        for k, other in enumerate(("sequence", "dial", "bind", "unbind"))
    ]
    return drained(t0_ns, steps, DRAIN_NS // 2)


def _samples(at: int, since_ns: int) -> Iterator[tuple[str, str, float]]:
    """Yield the samples that a monitor writes in a second on a machine with 8 cores."""
    seconds = since_ns / 1e9
    for who, share in (("target", 0.97), ("generator", 0.6)):
        yield who, "cpu_s", seconds * share
        yield who, "resident_bytes", 5e7 + at * 4_096
        for name in ("minor_faults", "voluntary_switches", "waited_s", "written_bytes"):
            yield who, name, seconds * 7 + at
    for core in range(CORES):
        yield "machine", f"core_busy_s.{core}", seconds * (0.2 + core / 10)
    for kind in ("cpu.some", "io.some", "io.full", "memory.some", "memory.full"):
        yield "machine", f"pressure_s.{kind}", seconds * 0.05
    for name in ("disk_read_bytes.vda", "disk_written_bytes.vda", "disk_busy_s.vda"):
        yield "machine", name, seconds * 0.1 + at
    for device in ("lo", "eth0"):
        yield "machine", f"interface_in_bytes.{device}", seconds * 9e7 + at
        yield "machine", f"interface_out_bytes.{device}", seconds * 9e7 + at
    for name in ("busy_s", "user_s", "system_s", "context_switches", "faults", "segments_out"):
        yield "machine", name, seconds * 3 + at
    yield "machine", "runnable", float(2 + at % 3)
    yield "machine", "available_bytes", 2.4e10 - at * 1e5


def _use(seconds: float) -> Use:
    machine = MachineUse((0.9,) + (0.3,) * (CORES - 1), 2.0, available_bytes=24_000_000_000)
    target = ProcessUse(seconds * 0.97, 50_000_000)
    generator = ProcessUse(seconds * 0.6, 40_000_000)
    return Use(
        seconds=seconds, target=target, generator=generator, machine=machine, target_is_local=True
    )

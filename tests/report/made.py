"""A run file with all kinds of content of a report, written through the run store."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benches.long_run import DRAIN_NS, drained, step
from sitebench._engine import Histogram
from sitebench.counts.source import Drain
from sitebench.counts.tally import Tally
from sitebench.measure.summarise import summarise
from sitebench.monitor.use import MachineUse, ProcessUse, Use
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore

PEAK = {
    "suite": "ils",
    "operation": "lookup",
    "entries": 1_000,
    "target": "embedded",
    "client": "native",
    "objective": None,
    "best": None,
    "rate": 20_000.0,
    "interval": None,
    "knee": {"load": 16.0, "rate": 20_000.0},
    "said": "at most 20,000/s, with 64 clients",
}
WARMUP, MEASURED = 4, 8
"""Drains of half a second."""


def spec(operation: str = "lookup", entries: int = 1_000, **other: Any) -> PointSpec:
    asked = PointSpec("ils", operation, entries, "embedded", 16, None, 2.0, 4.0)
    return replace(asked, **other)


def took(median_ns: int, count: int = 10_000) -> Histogram:
    """Return latencies from half the median to 1.5 times the median."""
    made = Histogram()
    for n in range(100):
        made.record(round(median_ns * (0.5 + n / 100)), count // 100)
    return made


def drains(asked: PointSpec, clock: Histogram, failures: dict[str, int]) -> list[Drain]:
    """Return the records of a point's lanes: a tenth as many sequences as operations."""
    name = asked.operation
    counted = step(name, name, clock, failures)
    counted.examples = {kind: f"look up <{kind}>" for kind in failures}
    passes = step(name, "sequence", took(10**6, clock.count // 10))
    return [
        drained(n * DRAIN_NS, (counted, passes), n * DRAIN_NS // 2)
        for n in range(WARMUP + MEASURED)
    ]


def measured(
    store: RunStore,
    asked: PointSpec,
    *,
    median_ns: int = 100_000,
    generator_share: float = 0.5,
    target_share: float = 0.95,
    failures: dict[str, int] | None = None,
) -> PointResult:
    """Write one finished point and return its result."""
    store.begin(asked)
    point = store.point_id(asked.key)
    tallies = {"warmup": Tally(), "measure": Tally()}
    for n, drain in enumerate(drains(asked, took(median_ns), failures or {})):
        phase = "warmup" if n < WARMUP else "measure"
        busy = replace(drain, cpu_ns=(round(drain.t1_ns * generator_share),))
        if n == WARMUP:
            began_ns = round(drain.t0_ns * generator_share)
            tallies[phase] = Tally.starting(drained(drain.t0_ns - DRAIN_NS, (), began_ns))
        store.append(point, phase, busy)
        tallies[phase].add(busy)
        store.append_sample(point, drain.t1_ns, samples(n))
    window = tallies["measure"]
    machine = MachineUse((0.9, 0.6), 2.0, {"cpu.some": 0.1}, 2 * 10**9, 4 * 10**9)
    target = ProcessUse(window.seconds * target_share, 5 * 10**7, waited_s=0.0)
    generator = ProcessUse(window.seconds * generator_share, 4 * 10**7, waited_s=0.0)
    use = Use(
        seconds=window.seconds,
        target=target,
        generator=generator,
        machine=machine,
        target_is_local=True,
    )
    counts = [(asked.operation, asked.operation)]
    result = summarise(asked, window, counts, use, target_cores=1, native=True)
    store.complete(point, tallies, result)
    store.confirm(asked)
    return result


def write_points(path: Path, *specs: PointSpec, **manifest: Any) -> Path:
    """Write a run file with these finished points."""
    with RunStore(path) as store:
        for point in specs:
            measured(store, point)
        store.set_manifest(manifest)
    return path


def samples(n: int) -> list[tuple[str, str, float]]:
    return [
        ("target", "cpu_s", n * 0.45),
        ("generator", "cpu_s", n * 0.25),
        ("machine", "core_busy_s.0", n * 0.5),
        ("machine", "core_busy_s.1", n * 0.2),
        ("machine", "runnable", 2.0),
        ("machine", "available_bytes", 2e9),
    ]


def write(path: Path) -> Path:
    """Write sizes twice, loads, a point limited by the generator, failures, and a failed point."""
    with RunStore(path) as store:
        store.set_manifest(
            {
                "command": ["sitebench", "ils", "sweep", "--base", "<script>alert(1)</script>"],
                "seed": 1997,
                "cpu": {"model": "A <b>processor</b>", "usable": 2},
                "peaks": [PEAK],
                "objective": "p99<1ms,max<1us",
            }
        )
        for repeat in range(2):
            for size in (1_000, 10_000):
                measured(store, spec(entries=size, repeat=repeat), median_ns=100_000 + size)
        for users in (2, 64):
            measured(store, spec(users=users), median_ns=20_000 * users)
        measured(store, spec("add"), generator_share=1.0, target_share=0.1)
        measured(store, spec("connect"), failures={"timeout": 7, "wrong-answer": 2})
        missing = spec("connect", 10_000)
        store.begin(missing)
        died = {"kind": "TargetDied", "message": "it <i>died</i> | so", "remedy": "look at it"}
        store.fail(missing.key, died)
    return path


def search(path: Path) -> Path:
    """Write a search for the highest rate that meets an objective: probes, breaks and holds."""
    with RunStore(path) as store:
        for rate in (500.0, 2_750.0, 8_000.0):
            measured(store, spec(rate=rate), generator_share=1.0)
        best = spec(rate=2_620.0, measure_s=12.0)
        for repeat in range(3):
            measured(store, replace(best, repeat=repeat))
        found = {
            "objective": "p99<50ms",
            "best": best.key,
            "rate": 2_620.0,
            "knee": None,
            "seen": {"held": 3, "held_of": 3, "broke_at": 2_750.0, "broke": 2, "broke_of": 2},
            "said": "lookup at 1k: sustains 2,620/s with p99<50ms: held 3 of 3 times for 12s, "
            "and broke 2 of 2 times at 2,750/s (p99 was 71 ms).",
        }
        store.set_manifest({"command": [], "peaks": [PEAK | found]})
    return path

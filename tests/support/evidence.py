"""Invented windows for the rules of the verdict."""

from typing import Any, TypeVar

from msgspec.structs import replace

from sitebench.counts import metrics
from sitebench.counts.durations import Durations, clocks
from sitebench.monitor.use import MachineUse, ProcessUse, Use
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.window import Window

_W = TypeVar("_W", bound=Window)

MACHINE = MachineUse(
    busy_per_core=(0.5, 0.4),
    run_queue=1.0,
    pressure={"cpu.some": 0.0, "io.some": 0.0, "io.full": 0.0, "memory.some": 0.0},
    available_bytes=4_000_000_000,
    total_bytes=8_000_000_000,
    swapped_in=0,
    swapped_out=0,
    major_faults=0,
    context_switches=10_000,
    segments_out=10_000,
    retransmits=0,
)
TARGET = ProcessUse(
    cpu_s=4.0,
    rss=50_000_000,
    major_faults=0,
    read_bytes=0,
    written_bytes=0,
    waited_s=0.0,
    busiest_thread_s=4.0,
    system_s=1.0,
)


def evidence(**other: Any) -> Evidence:
    """Return ten seconds in which no resource was exhausted; `other` replaces any field."""
    use = Use(
        seconds=10.0,
        target=TARGET,
        generator=ProcessUse(3.0, 1),
        machine=MACHINE,
        target_is_local=True,
        interface="lo",
    )
    quiet = Evidence(
        seconds=10.0,
        operations=100_000,
        failures_by_kind={},
        generator_cpu_s=(3.0, 2.0),
        use=use,
        target_cores=1,
        users=64,
        counters={"bytes_in": 1_283_000, "bytes_out": 104_000},
        clocks=clocks(service=durations(600.0), latency=durations(600.0), lag=durations(0.0)),
    )
    return replace(quiet, **other)


def changed(seen: _W, **other: Any) -> _W:
    """Change any field of a window, or clocks by their names; other clocks stay."""
    times = {str(name): other.pop(name) for name in metrics.CLOCKS if name in other}
    return replace(seen, clocks={**seen.clocks, **times}, **other)


def with_target(seen: Evidence, **other: Any) -> Evidence:
    assert seen.use.target is not None
    return replace(seen, use=replace(seen.use, target=replace(seen.use.target, **other)))


def with_generator(seen: Evidence, **other: Any) -> Evidence:
    return replace(seen, use=replace(seen.use, generator=replace(seen.use.generator, **other)))


def with_machine(seen: Evidence, **other: Any) -> Evidence:
    return replace(seen, use=replace(seen.use, machine=replace(seen.use.machine, **other)))


def with_use(seen: Evidence, **other: Any) -> Evidence:
    return replace(seen, use=replace(seen.use, **other))


def durations(mean_us: float, n: int = 100_000) -> Durations:
    """Return the summary of `n` operations of equal duration."""
    marks = dict.fromkeys(("p50", "p90", "p99"), mean_us if n >= 10_000 else None)
    return Durations(**marks, max=mean_us, mean=mean_us, n=n)

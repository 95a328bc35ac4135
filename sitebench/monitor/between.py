"""The use between two samples, by the table of figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from sitebench.monitor.figures import FIGURES
from sitebench.monitor.sample import (
    CORE_TIMES,
    DiskSample,
    InterfaceSample,
    MachineSample,
    NetworkSample,
    ProcessSample,
    Sample,
)
from sitebench.monitor.use import BehindUse, DiskUse, Gap, InterfaceUse, MachineUse, ProcessUse, Use

_HANGING_S = 5.0
"""In a window of this length, every source that answers gets more than one request."""

_USE_NAMES = {
    "resident_bytes": "rss",
    "peak_bytes": "peak_rss",
    "swapped_in_pages": "swapped_in",
    "swapped_out_pages": "swapped_out",
    "in_bytes": "bytes_in",
    "out_bytes": "bytes_out",
    "in_packets": "packets_in",
    "out_packets": "packets_out",
}
"""Names in a `Use` and in `--json` of figures that have other names in samples."""


def _figure_differences(start: Any, end: Any, prefix: str = "") -> dict[str, Any]:
    """Return the growth of counters between two samples of a kind, and the last value of gauges."""
    differences = {}
    for name in end.__struct_fields__:
        figure, last = FIGURES.get(prefix + name), getattr(end, name)
        if figure is None or isinstance(last, Mapping):
            continue
        if figure.counter and last is not None:
            first = getattr(start, name)
            last = None if first is None else last - first
        differences[_USE_NAMES.get(name, name)] = last
    return differences


def use_between(start: Sample, end: Sample, seconds: float) -> Use:
    """Return the use between two samples; memory is its value at the end, as in the paper."""
    machine = _machine_between(start.machine, end.machine)
    target = None
    if start.target is not None and end.target is not None:
        target = _process_between(start.target, end.target)
    first, last = start.round_trips, end.round_trips
    return Use(
        seconds=seconds,
        target=target,
        generator=_process_between(start.generator, end.generator),
        machine=machine,
        target_machine=_target_machine(start, end, machine),
        target_is_local=end.target is not None,
        directory=_directory(start.directory, end.directory),
        gaps=_gaps(start, end, seconds),
        round_trip_s=last.typical_since(first) if first and last else None,
        idle_round_trip_s=last.least_s if first and last else None,
        interface=end.interface,
        behind=_behind_use(start, end),
    )


def _behind_use(start: Sample, end: Sample) -> tuple[BehindUse, ...]:
    """Return the use of the programs behind the target, from `start` or since their discovery."""
    earlier_cpu_s = {program.pid: program.cpu_s for program in start.behind}
    return tuple(
        BehindUse(program.name, program.cpu_s - earlier_cpu_s.get(program.pid, program.found_cpu_s))
        for program in end.behind
    )


def _process_between(start: ProcessSample, end: ProcessSample) -> ProcessUse:
    looked = end.looked - start.looked
    return ProcessUse(
        **_figure_differences(start, end),
        quota_cores=end.quota_cores,
        allowed_cores=end.allowed_cores,
        disk_wait_share=(end.stalled - start.stalled) / looked if looked else None,
        busiest_thread_s=max(
            (ran_s - start.ran_s.get(tid, 0.0) for tid, ran_s in end.ran_s.items()), default=None
        ),
    )


def _machine_between(start: MachineSample, end: MachineSample) -> MachineUse:
    """Return a machine's use over the time between its samples."""
    seconds = max(end.at_s - start.at_s, 1e-9)
    readings = end.readings - start.readings
    figures = _figure_differences(start, end) | _network(start.network, end.network)
    figures |= {name: end.spent_s(name) - start.spent_s(name) for name in CORE_TIMES}
    # These gauges show one instant only; `run_queue` is a mean over the window.
    del figures["runnable"], figures["blocked"]
    return MachineUse(
        **figures,
        busy_per_core=tuple(
            share(last_core.busy_s - first_core.busy_s, seconds)
            for first_core, last_core in zip(start.cores, end.cores, strict=False)
        ),
        run_queue=(end.runnable_sum - start.runnable_sum) / readings if readings else None,
        pressure={
            name: share(stalled_s - start.pressure_s[name], seconds)
            for name, stalled_s in end.pressure_s.items()
            if name in start.pressure_s
        },
        total_bytes=end.total_bytes,
        disks=_disks(start, end, seconds),
    )


def share(part_s: float, seconds: float) -> float:
    """Return a part of a time as a share, at least 0 and at most 1.

    The kernel counts in ticks: a core that was busy all the time can have a tick too many, and
    stolen time sometimes decreases.
    """
    return min(1.0, max(0.0, part_s / seconds))


def _disks(start: MachineSample, end: MachineSample, seconds: float) -> tuple[DiskUse, ...]:
    """Return the use of the disks; a disk that `start` lacks was first used in the window."""
    disks = []
    for name, last in end.disks.items():
        first = start.disks.get(name, DiskSample(0, 0, 0.0, 0))
        figures = _figure_differences(first, last, "disk_")
        busy_share = share(figures.pop("busy_s"), seconds)
        disks.append(DiskUse(name, busy_share=busy_share, **figures))
    return tuple(disks)


def _network(start: NetworkSample, end: NetworkSample) -> dict[str, Any]:
    interfaces = []
    for name, last in end.interfaces.items():
        first = start.interfaces.get(name, InterfaceSample(0, 0, 0, 0, 0))
        figures = _figure_differences(first, last, "interface_")
        interfaces.append(InterfaceUse(name, speed_bits_s=end.speeds.get(name), **figures))
    return {
        **_figure_differences(start, end),
        "interfaces": tuple(interfaces),
        "sockets": dict(end.sockets),
    }


def _target_machine(start: Sample, end: Sample, machine: MachineUse) -> MachineUse | None:
    if start.target_machine is not None and end.target_machine is not None:
        if end.target_machine.at_s > start.target_machine.at_s:
            return _machine_between(start.target_machine, end.target_machine)
    elif start.target_network is not None and end.target_network is not None:
        return replace(machine, **_network(start.target_network, end.target_network))
    return None


def _directory(
    start: Mapping[str, float] | None, end: Mapping[str, float] | None
) -> Mapping[str, float] | None:
    if start is None or end is None:
        return None
    return {
        name: value - start.get(name, 0.0) if name.endswith("_total") else value
        for name, value in end.items()
    }


def _gaps(start: Sample, end: Sample, seconds: float) -> tuple[Gap, ...]:
    """Return the sources with missing answers, and sources that hang and so get no new request."""
    earlier_answers = {answers.source: answers for answers in start.answers}
    gaps = []
    for answers in end.answers:
        earlier = earlier_answers.get(answers.source)
        requests = answers.asked - (earlier.asked if earlier else 0)
        missing = answers.missing - (earlier.missing if earlier else 0)
        if missing or (not requests and seconds >= _HANGING_S):
            gaps.append(Gap(answers.source, requests, missing, answers.reason))
    return tuple(gaps)

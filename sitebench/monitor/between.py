"""From two samples to what was used between them; nothing is read here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from sitebench.monitor.sample import MachineSample, NetworkSample, ProcessSample, Sample
from sitebench.monitor.use import DiskUse, Gap, InterfaceUse, MachineUse, ProcessUse, Use

HANGING_S = 5.0
"""In a window as long, whoever answers is asked several times."""


def use_between(start: Sample, end: Sample, seconds: float) -> Use:
    """Return what was used between two samples; memory is the end's, as the paper has it."""
    machine = machine_between(start.machine, end.machine)
    target = None
    if start.target is not None and end.target is not None:
        target = process_between(start.target, end.target)
    round_trip_s, idle_round_trip_s = _round_trips(start, end)
    return Use(
        seconds=seconds,
        target=target,
        generator=process_between(start.generator, end.generator),
        machine=machine,
        target_machine=_target_machine(start, end, machine),
        target_is_local=end.target is not None,
        directory=_directory(start.directory, end.directory),
        gaps=_gaps(start, end, seconds),
        round_trip_s=round_trip_s,
        idle_round_trip_s=idle_round_trip_s,
    )


def process_between(start: ProcessSample, end: ProcessSample) -> ProcessUse:
    """Return what a process used; a part of it that began within the window counts whole."""
    looked = end.looked - start.looked
    return ProcessUse(
        cpu_s=end.cpu_s - start.cpu_s,
        rss=end.rss,
        peak_rss=end.peak_rss,
        threads=end.threads,
        minor_faults=_less(end.minor_faults, start.minor_faults),
        major_faults=_less(end.major_faults, start.major_faults),
        read_bytes=_less(end.read_bytes, start.read_bytes),
        written_bytes=_less(end.written_bytes, start.written_bytes),
        voluntary_switches=_less(end.voluntary_switches, start.voluntary_switches),
        involuntary_switches=_less(end.involuntary_switches, start.involuntary_switches),
        waited_s=_less_s(end.waited_s, start.waited_s),
        throttled_s=_less_s(end.throttled_s, start.throttled_s),
        quota_cores=end.quota_cores,
        disk_wait_share=(end.stalled - start.stalled) / looked if looked else None,
        busiest_thread_s=max(
            (ran_s - start.ran_s.get(tid, 0.0) for tid, ran_s in end.ran_s.items()), default=None
        ),
        system_s=end.system_s - start.system_s,
        descriptors=end.descriptors,
    )


def machine_between(start: MachineSample, end: MachineSample) -> MachineUse:
    """Return what a machine used, over its own time between the samples."""
    seconds = max(end.at_s - start.at_s, 1e-9)
    readings = end.readings - start.readings
    network = _network(start.network, end.network)
    return MachineUse(
        busy_per_core=_busy(start, end, seconds),
        run_queue=(end.runnable_sum - start.runnable_sum) / readings if readings else None,
        pressure={
            name: _share(stalled_s - start.pressure_s[name], seconds)
            for name, stalled_s in end.pressure_s.items()
            if name in start.pressure_s
        },
        available_bytes=end.available_bytes,
        total_bytes=end.total_bytes,
        swapped_in=_less(end.swapped_in, start.swapped_in),
        swapped_out=_less(end.swapped_out, start.swapped_out),
        faults=_less(end.faults, start.faults),
        major_faults=_less(end.major_faults, start.major_faults),
        context_switches=_less(end.context_switches, start.context_switches),
        user_s=_spent(start, end, "user_s"),
        system_s=_spent(start, end, "system_s"),
        iowait_s=_spent(start, end, "iowait_s"),
        irq_s=_spent(start, end, "irq_s"),
        stolen_s=_spent(start, end, "stolen_s"),
        disks=_disks(start, end, seconds),
        **network,
    )


def _busy(start: MachineSample, end: MachineSample, seconds: float) -> tuple[float, ...]:
    """Return each core's busy share of the window.

    The kernel counts in ticks of its own while the window is the clock's: a core that was busy
    throughout may have a tick more.
    """
    pairs = zip(start.cores, end.cores, strict=False)
    return tuple(_share(after.busy_s - before.busy_s, seconds) for before, after in pairs)


def _share(part_s: float, seconds: float) -> float:
    return min(1.0, max(0.0, part_s / seconds))


def _spent(start: MachineSample, end: MachineSample, name: str) -> float:
    spent = [sum(getattr(core, name) for core in sample.cores) for sample in (start, end)]
    return float(spent[1] - spent[0])


def _disks(start: MachineSample, end: MachineSample, seconds: float) -> tuple[DiskUse, ...]:
    """Return what each disk did; one that is new did all of it within the window."""
    found = []
    for name, after in end.disks.items():
        before = start.disks.get(name)
        found.append(
            DiskUse(
                name,
                after.read_bytes - (before.read_bytes if before else 0),
                after.written_bytes - (before.written_bytes if before else 0),
                _share(after.busy_s - (before.busy_s if before else 0.0), seconds),
                after.in_flight,
            )
        )
    return tuple(found)


def _network(start: NetworkSample, end: NetworkSample) -> dict[str, Any]:
    return {
        "interfaces": _interfaces(start, end),
        "segments_out": _less(end.segments_out, start.segments_out),
        "retransmits": _less(end.retransmits, start.retransmits),
        "listen_overflows": _less(end.listen_overflows, start.listen_overflows),
        "listen_drops": _less(end.listen_drops, start.listen_drops),
        "sockets": dict(end.sockets),
    }


def _interfaces(start: NetworkSample, end: NetworkSample) -> tuple[InterfaceUse, ...]:
    found = []
    for name, after in end.interfaces.items():
        before = start.interfaces.get(name)
        counted = {
            each: getattr(after, each) - (getattr(before, each) if before else 0)
            for each in ("bytes_in", "bytes_out", "packets_in", "packets_out", "drops")
        }
        found.append(InterfaceUse(name, **counted, speed_bits_s=end.speeds.get(name)))
    return tuple(found)


def _target_machine(start: Sample, end: Sample, machine: MachineUse) -> MachineUse | None:
    if start.target_machine is not None and end.target_machine is not None:
        if end.target_machine.at_s > start.target_machine.at_s:
            return machine_between(start.target_machine, end.target_machine)
    elif start.target_network is not None and end.target_network is not None:
        return dataclasses.replace(machine, **_network(start.target_network, end.target_network))
    return None


def _directory(
    start: Mapping[str, float] | None, end: Mapping[str, float] | None
) -> Mapping[str, float] | None:
    if start is None or end is None:
        return None
    return {
        what: value - start.get(what, 0.0) if what.endswith("_total") else value
        for what, value in end.items()
    }


def _round_trips(start: Sample, end: Sample) -> tuple[float | None, float | None]:
    if start.round_trips is None or end.round_trips is None:
        return None, None
    return end.round_trips.mean_since(start.round_trips), end.round_trips.least_s


def _gaps(start: Sample, end: Sample, seconds: float) -> tuple[Gap, ...]:
    """Return who was silent; one that hangs is not even asked again."""
    asked_before = {each.source: each for each in start.answers}
    gaps = []
    for after in end.answers:
        before = asked_before.get(after.source)
        asked = after.asked - (before.asked if before else 0)
        missing = after.missing - (before.missing if before else 0)
        if missing or (not asked and seconds >= HANGING_S):
            gaps.append(Gap(after.source, asked, missing, after.reason))
    return tuple(gaps)


def _less(end: int | None, start: int | None) -> int | None:
    return None if end is None or start is None else end - start


def _less_s(end: float | None, start: float | None) -> float | None:
    return None if end is None or start is None else end - start

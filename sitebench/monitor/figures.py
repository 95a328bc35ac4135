"""The table of figures: the meaning of each name in the run file's samples, and its rate over time.

A field of a sample has the name of its figure, in samples of a disk or an interface without the
prefix. After a name there can be a dot and an instance (`core_busy_s.0`). A figure that the target
reports is a counter if its name ends in `_total`.

The run file leaves out a value that did not change. At an instant at which a source has any value,
a figure of this source without a value is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace


class Figure(msgspec.Struct, frozen=True):
    """The meaning of a value; `rate_unit` is the unit of a counter's growth per second."""

    title: str
    unit: str
    counter: bool
    rate_unit: str


def _counter(title: str, unit: str, rate_unit: str | None = None) -> Figure:
    return Figure(title, unit, True, rate_unit or f"{unit}/s")


def _gauge(title: str, unit: str) -> Figure:
    return Figure(title, unit, False, unit)


FIGURES: Mapping[str, Figure] = {
    # Figures of a process, which is the target or the load generator.
    "cpu_s": _counter("CPU", "s", "cores"),
    "thread_cpu_s": _counter("CPU of thread", "s", "cores"),
    "resident_bytes": _gauge("Resident memory", "bytes"),
    "peak_bytes": _gauge("Highest resident memory", "bytes"),
    "threads": _gauge("Threads", "threads"),
    "descriptors": _gauge("Open descriptors", "descriptors"),
    "minor_faults": _counter("Minor page faults", "faults"),
    "read_bytes": _counter("Read from disks", "bytes"),
    "written_bytes": _counter("Written to disks", "bytes"),
    "voluntary_switches": _counter("Voluntary context switches", "switches"),
    "involuntary_switches": _counter("Involuntary context switches", "switches"),
    "waited_s": _counter("Waited for a core", "s", "threads"),
    "throttled_s": _counter("Throttled by a CPU quota", "s", "cores"),
    "io_stalled_s": _counter("Control group waited for disks", "s", "share"),
    "round_trip_s": _gauge("TCP handshake", "s"),
    # Figures of a machine.
    "available_bytes": _gauge("Available memory", "bytes"),
    "busy_s": _counter("Busy cores", "s", "cores"),
    "core_busy_s": _counter("Core", "s", "share"),
    "user_s": _counter("User time", "s", "cores"),
    "system_s": _counter("System time", "s", "cores"),
    "iowait_s": _counter("Waiting for disks", "s", "cores"),
    "irq_s": _counter("Interrupts", "s", "cores"),
    "stolen_s": _counter("Stolen by the hypervisor", "s", "cores"),
    "runnable": _gauge("Run queue", "tasks"),
    "blocked": _gauge("Blocked on disks", "tasks"),
    "pressure_s": _counter("Pressure", "s", "share"),
    "swapped_in_pages": _counter("Swapped in", "pages"),
    "swapped_out_pages": _counter("Swapped out", "pages"),
    "faults": _counter("Page faults", "faults"),
    "major_faults": _counter("Major page faults", "faults"),
    "context_switches": _counter("Context switches", "switches"),
    "disk_read_bytes": _counter("Disk reads", "bytes"),
    "disk_written_bytes": _counter("Disk writes", "bytes"),
    "disk_busy_s": _counter("Disk busy", "s", "share"),
    "disk_in_flight": _gauge("Disk requests in flight", "requests"),
    "interface_in_bytes": _counter("Received", "bytes"),
    "interface_out_bytes": _counter("Sent", "bytes"),
    "interface_in_packets": _counter("Packets received", "packets"),
    "interface_out_packets": _counter("Packets sent", "packets"),
    "interface_drops": _counter("Packets dropped", "packets"),
    "segments_out": _counter("TCP segments sent", "segments"),
    "retransmits": _counter("TCP segments retransmitted", "segments"),
    "listen_overflows": _counter("Accept queue overflows", "connections"),
    "listen_drops": _counter("Connections dropped while listening", "connections"),
    "sockets": _gauge("TCP sockets", "sockets"),
}


SHORTEST_NS = 100_000_000
"""Shortest interval of a rate, because the kernel counts CPU time in ticks of 10 ms."""


def describe(name: str) -> Figure:
    """Return the figure of a name; an unknown name, of another version, gets a plain figure."""
    stem, _, instance = name.partition(".")
    figure = FIGURES.get(stem)
    if figure is None:
        title = name.removesuffix("_total").replace("_", " ")
        return _counter(title, "") if name.endswith("_total") else _gauge(title, "")
    return replace(figure, title=f"{figure.title} {instance}") if instance else figure


def rates(
    samples: Iterable[tuple[int, int, str, str, float]],
) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return values over time by source and figure; for a counter, its growth per second.

    `samples` are rows of the run file, of one point and in order of time. Where a counter
    decreased, because its process was restarted, it has no rate.
    """
    instants: dict[str, list[int]] = {}
    values: dict[tuple[str, str], dict[int, float]] = {}
    for _, t_ns, source, name, value in samples:
        source_instants = instants.setdefault(source, [])
        if not source_instants or source_instants[-1] != t_ns:
            source_instants.append(t_ns)
        values.setdefault((source, name), {})[t_ns] = value
    rates_by_figure = {}
    for (source, name), values_by_instant in values.items():
        filled = _fill_gaps(instants[source], values_by_instant)
        rates_by_figure[source, name] = _growth(filled) if describe(name).counter else filled
    return rates_by_figure


def _fill_gaps(instants: list[int], values: Mapping[int, float]) -> list[tuple[int, float]]:
    filled: list[tuple[int, float]] = []
    for t_ns in instants:
        if t_ns in values:
            filled.append((t_ns, values[t_ns]))
        elif filled:
            filled.append((t_ns, filled[-1][1]))
    return filled


def _growth(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    growth: list[tuple[int, float]] = []
    start_ns, start = points[0]
    for t_ns, value in points[1:]:
        if value >= start and t_ns - start_ns < SHORTEST_NS:
            continue
        if value >= start:
            growth.append((t_ns, (value - start) / (t_ns - start_ns) * 1e9))
        start_ns, start = t_ns, value
    return growth

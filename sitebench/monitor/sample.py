"""A sample: every counter at one instant, and its rows in the run file.

Counters are cumulative, so a window's use is the difference of the samples at its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from sitebench.monitor.figures import FIGURES
from sitebench.monitor.handshake import RoundTrips

Row = tuple[str, str, float]
"""A source, a figure's name, and its value."""


def _rows(source: str, sample: Any, prefix: str = "", suffix: str = "") -> Iterator[Row]:
    """Yield the fields that are figures, unless their value is unknown."""
    for name in sample.__struct_fields__:
        value = getattr(sample, name)
        if prefix + name in FIGURES and isinstance(value, int | float):
            yield source, prefix + name + suffix, value


class ProcessFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of samples and uses: counters since the process began, or within a window."""

    threads: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    waited_s: float | None = None
    """Time in which threads were runnable without a core."""
    throttled_s: float | None = None
    """Time, summed over the cores, in which a CPU quota throttled the control group."""
    quota_cores: float | None = None
    descriptors: int | None = None
    io_stalled_s: float | None = None
    """Time in which all work of the target's own control group waited for disks."""
    allowed_cores: tuple[int, ...] | None = None


class ProcessSample(ProcessFigures, frozen=True):
    """Figures of a process, or of a target with its descendants, since the process began."""

    cpu_s: float
    system_s: float
    resident_bytes: int
    peak_bytes: int | None = None
    thread_cpu_s: Mapping[str, float] = {}
    looked: int = 0
    stalled: float = 0.0
    """Sum over `looked` readings of the share of busy threads that waited for a disk."""
    ran_s: Mapping[int, float] = {}
    """Time on a core by thread id; not in the run file."""

    def rows(self, source: str) -> Iterator[Row]:
        yield from _rows(source, self)
        for name, cpu_s in self.thread_cpu_s.items():
            yield source, f"thread_cpu_s.{name}", cpu_s


class BehindSample(msgspec.Struct, frozen=True):
    pid: int
    name: str
    cpu_s: float
    found_cpu_s: float
    """The program's CPU time at its discovery."""


class CoreSample(msgspec.Struct, frozen=True):
    """A core's time since boot, by kind of use."""

    user_s: float
    system_s: float
    iowait_s: float
    irq_s: float
    stolen_s: float
    idle_s: float

    @property
    def busy_s(self) -> float:
        """Time neither idle nor waiting for a disk."""
        return self.user_s + self.system_s + self.irq_s + self.stolen_s


CORE_TIMES = ("user_s", "system_s", "iowait_s", "irq_s", "stolen_s")


class DiskSample(msgspec.Struct, frozen=True):
    """Counters of a whole disk since boot."""

    read_bytes: int
    written_bytes: int
    busy_s: float
    in_flight: int


class InterfaceSample(msgspec.Struct, frozen=True):
    """Counters of a network interface since it was created."""

    in_bytes: int
    out_bytes: int
    in_packets: int
    out_packets: int
    drops: int


class NetworkSample(msgspec.Struct, frozen=True):
    """A network namespace: its interfaces, its TCP counters, and its TCP sockets by state."""

    interfaces: Mapping[str, InterfaceSample] = {}
    segments_out: int | None = None
    retransmits: int | None = None
    listen_overflows: int | None = None
    listen_drops: int | None = None
    sockets: Mapping[str, int] = {}
    speeds: Mapping[str, int] = {}
    """Bits per second by interface."""

    def rows(self, source: str) -> Iterator[Row]:
        for name, interface in self.interfaces.items():
            yield from _rows(source, interface, "interface_", f".{name}")
        yield from _rows(source, self)
        for state, n in self.sockets.items():
            yield source, f"sockets.{state}", n


class MachineSample(msgspec.Struct, frozen=True):
    """A machine at `at_s` of the load generator's monotonic clock.

    `runnable_sum` adds up the run queue over `readings`, for the mean of a window.
    """

    at_s: float
    cores: tuple[CoreSample, ...]
    available_bytes: int
    total_bytes: int | None = None
    runnable: int | None = None
    blocked: int | None = None
    runnable_sum: int = 0
    readings: int = 0
    pressure_s: Mapping[str, float] = {}
    swapped_in_pages: int | None = None
    swapped_out_pages: int | None = None
    faults: int | None = None
    major_faults: int | None = None
    context_switches: int | None = None
    disks: Mapping[str, DiskSample] = {}
    network: NetworkSample = msgspec.field(default_factory=NetworkSample)

    def rows(self, source: str) -> Iterator[Row]:
        yield from _rows(source, self)
        yield source, "busy_s", sum(core.busy_s for core in self.cores)
        for name in CORE_TIMES:
            yield source, name, self.spent_s(name)
        for n, core in enumerate(self.cores):
            yield source, f"core_busy_s.{n}", core.busy_s
        for name, stalled_s in self.pressure_s.items():
            yield source, f"pressure_s.{name}", stalled_s
        for name, disk in self.disks.items():
            yield from _rows(source, disk, "disk_", f".{name}")
        yield from self.network.rows(source)

    def spent_s(self, name: str) -> float:
        """Return the sum over all cores of a time in `CORE_TIMES`."""
        return float(sum(getattr(core, name) for core in self.cores))


class Answers(msgspec.Struct, frozen=True):
    """Requests to a slow source, missing answers, and the reason of the last missing answer."""

    source: str
    asked: int
    missing: int
    reason: str = ""


class Sample(msgspec.Struct, frozen=True):
    """All sources at an instant; `target` is None if it is remote or has ended."""

    target: ProcessSample | None
    generator: ProcessSample
    machine: MachineSample
    target_machine: MachineSample | None = None
    target_network: NetworkSample | None = None
    directory: Mapping[str, float] | None = None
    answers: tuple[Answers, ...] = ()
    round_trips: RoundTrips | None = None
    interface: str | None = None
    behind: tuple[BehindSample, ...] = ()

    def rows(self) -> Iterator[Row]:
        if self.target is not None:
            yield from self.target.rows("target")
        yield from self.generator.rows("generator")
        yield from self.machine.rows("machine")
        if self.round_trips is not None and self.round_trips.last_s is not None:
            yield "generator", "round_trip_s", self.round_trips.last_s
        if self.target_machine is not None:
            yield from self.target_machine.rows("target-machine")
        elif self.target_network is not None:
            yield from self.target_network.rows("target-machine")
        for name, value in (self.directory or {}).items():
            yield "directory", name, value


class Changes:
    """Leaves unchanged values out of a point's rows.

    The first row of a source is always written, to show that the source was read.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], float] = {}
        self._received: dict[str, object] = {}

    def rows(self, sample: Sample) -> list[Row]:
        latest = {"target-machine": sample.target_machine, "directory": sample.directory}
        earlier, self._received = self._received, dict(latest)
        # Sources without an answer since the last sample.
        silent = {
            source
            for source, now in latest.items()
            if now is not None and now is earlier.get(source)
        }
        return self.changed_rows(row for row in sample.rows() if row[0] not in silent)

    def changed_rows(self, rows: Iterable[Row]) -> list[Row]:
        changed: list[Row] = []
        sources: set[str] = set()
        for source, name, value in rows:
            if source not in sources or self._last.get((source, name)) != value:
                changed.append((source, name, value))
            sources.add(source)
            self._last[source, name] = value
        return changed

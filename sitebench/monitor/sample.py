"""A sample: every counter at one instant, and the rows that the run file keeps of it.

Counters are cumulative, so a window's use is the difference of the samples at its bounds,
whatever lies between, and a second that was missed costs detail, never a wrong sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sitebench.monitor.handshake import RoundTrips

Row = tuple[str, str, float]
"""Who, what, and how much."""


@dataclass(frozen=True)
class ProcessSample:
    """A process, or a target's whole family, since it began."""

    user_s: float
    system_s: float
    rss: int
    peak_rss: int | None = None
    threads: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    waited_s: float | None = None
    throttled_s: float | None = None
    quota_cores: float | None = None
    descriptors: int | None = None
    thread_cpu_s: Mapping[str, float] = field(default_factory=dict)
    looked: int = 0
    stalled: int = 0
    """Instants at which the threads were looked at, and those at which one waited for a disk."""
    ran_s: Mapping[int, float] = field(default_factory=dict)
    """Each thread's time on a core, by its number: for the busiest one, not for the run file."""

    @property
    def cpu_s(self) -> float:
        """User and system time."""
        return self.user_s + self.system_s

    def rows(self, who: str) -> Iterator[Row]:
        """Yield the rows of this process."""
        yield who, "cpu_s", self.cpu_s
        optional: dict[str, float | None] = {
            "system_s": self.system_s,
            "resident_bytes": self.rss,
            "peak_bytes": self.peak_rss,
            "threads": self.threads,
            "descriptors": self.descriptors,
            "minor_faults": self.minor_faults,
            "major_faults": self.major_faults,
            "read_bytes": self.read_bytes,
            "written_bytes": self.written_bytes,
            "voluntary_switches": self.voluntary_switches,
            "involuntary_switches": self.involuntary_switches,
            "waited_s": self.waited_s,
            "throttled_s": self.throttled_s,
        }
        yield from _given(who, optional)
        for name, cpu_s in self.thread_cpu_s.items():
            yield who, f"thread_cpu_s.{name}", cpu_s


@dataclass(frozen=True)
class CoreSample:
    """One core's time since boot, by what it was spent on."""

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


@dataclass(frozen=True)
class DiskSample:
    """One whole disk since boot."""

    read_bytes: int
    written_bytes: int
    busy_s: float
    in_flight: int


@dataclass(frozen=True)
class InterfaceSample:
    """One network interface since it came up."""

    bytes_in: int
    bytes_out: int
    packets_in: int
    packets_out: int
    drops: int


@dataclass(frozen=True)
class NetworkSample:
    """One network namespace: its interfaces, its TCP, and its TCP sockets now."""

    interfaces: Mapping[str, InterfaceSample] = field(default_factory=dict)
    segments_out: int | None = None
    retransmits: int | None = None
    listen_overflows: int | None = None
    listen_drops: int | None = None
    sockets: Mapping[str, int] = field(default_factory=dict)
    speeds: Mapping[str, int] = field(default_factory=dict)
    """Bits per second, of the interfaces that have a speed."""

    def rows(self, who: str) -> Iterator[Row]:
        """Yield the rows of this namespace."""
        for name, each in self.interfaces.items():
            yield who, f"interface_in_bytes.{name}", each.bytes_in
            yield who, f"interface_out_bytes.{name}", each.bytes_out
            yield who, f"interface_in_packets.{name}", each.packets_in
            yield who, f"interface_out_packets.{name}", each.packets_out
            yield who, f"interface_drops.{name}", each.drops
        optional: dict[str, float | None] = {
            "segments_out": self.segments_out,
            "retransmits": self.retransmits,
            "listen_overflows": self.listen_overflows,
            "listen_drops": self.listen_drops,
        }
        yield from _given(who, optional)
        for state, n in self.sockets.items():
            yield who, f"sockets.{state}", n


@dataclass(frozen=True)
class MachineSample:
    """A machine at `at_s` of the monotonic clock that reads it.

    `runnable_sum` adds up the run queue of every reading so far and `readings` counts them, so
    that a window's mean follows from its bounds as everything else does.
    """

    at_s: float
    cores: tuple[CoreSample, ...]
    available_bytes: int
    total_bytes: int | None = None
    runnable: int | None = None
    blocked: int | None = None
    runnable_sum: int = 0
    readings: int = 0
    pressure_s: Mapping[str, float] = field(default_factory=dict)
    swapped_in: int | None = None
    swapped_out: int | None = None
    faults: int | None = None
    major_faults: int | None = None
    context_switches: int | None = None
    disks: Mapping[str, DiskSample] = field(default_factory=dict)
    network: NetworkSample = field(default_factory=NetworkSample)

    def rows(self, who: str) -> Iterator[Row]:
        """Yield the rows of this machine."""
        yield who, "available_bytes", self.available_bytes
        yield who, "busy_s", sum(core.busy_s for core in self.cores)
        for name in ("user_s", "system_s", "iowait_s", "irq_s", "stolen_s"):
            yield who, name, sum(getattr(core, name) for core in self.cores)
        for n, core in enumerate(self.cores):
            yield who, f"core_busy_s.{n}", core.busy_s
        optional: dict[str, float | None] = {
            "runnable": self.runnable,
            "blocked": self.blocked,
            "swapped_in_pages": self.swapped_in,
            "swapped_out_pages": self.swapped_out,
            "faults": self.faults,
            "major_faults": self.major_faults,
            "context_switches": self.context_switches,
        }
        yield from _given(who, optional)
        for name, stalled_s in self.pressure_s.items():
            yield who, f"pressure_s.{name}", stalled_s
        for name, disk in self.disks.items():
            yield who, f"disk_read_bytes.{name}", disk.read_bytes
            yield who, f"disk_written_bytes.{name}", disk.written_bytes
            yield who, f"disk_busy_s.{name}", disk.busy_s
            yield who, f"disk_in_flight.{name}", disk.in_flight
        yield from self.network.rows(who)


@dataclass(frozen=True)
class Answers:
    """How often a source beside this machine's own files was asked, and what came of it."""

    source: str
    asked: int
    missing: int
    reason: str = ""


@dataclass(frozen=True)
class Sample:
    """Everything at one instant; the target is None when it is remote, or gone."""

    target: ProcessSample | None
    generator: ProcessSample
    machine: MachineSample
    target_machine: MachineSample | None = None
    target_network: NetworkSample | None = None
    directory: Mapping[str, float] | None = None
    answers: tuple[Answers, ...] = ()
    round_trips: RoundTrips | None = None

    @property
    def available(self) -> int:
        """Available memory of the machine that makes the load."""
        return self.machine.available_bytes

    def rows(self) -> Iterator[Row]:
        """Yield (who, what, value), the shape in which the run file keeps samples."""
        if self.target is not None:
            yield from self.target.rows("target")
        yield from self.generator.rows("generator")
        yield from self.machine.rows("machine")
        if self.round_trips is not None:
            yield from _given("generator", {"round_trip_s": self.round_trips.last_s})
        if self.target_machine is not None:
            yield from self.target_machine.rows("target-machine")
        elif self.target_network is not None:
            yield from self.target_network.rows("target-machine")
        for what, value in (self.directory or {}).items():
            yield "directory", what, value


class Changes:
    """Leaves out of a point's rows what has not changed since the row before.

    The first row of each `who` is always there: it says that it was looked at.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], float] = {}
        self._heard: dict[str, object] = {}

    def rows(self, sample: Sample) -> list[Row]:
        """Return the rows of a sample that say something new."""
        silent = self._silent(sample)
        return self.of(row for row in sample.rows() if row[0] not in silent)

    def of(self, rows: Iterable[Row]) -> list[Row]:
        """Return those rows of one instant that say something new."""
        kept: list[Row] = []
        seen: set[str] = set()
        for who, what, value in rows:
            if who not in seen or self._last.get((who, what)) != value:
                kept.append((who, what, value))
            seen.add(who)
            self._last[who, what] = value
        return kept

    def _silent(self, sample: Sample) -> set[str]:
        """Return who did not answer since the last sample: what was said then is not news."""
        said = {"target-machine": sample.target_machine, "directory": sample.directory}
        before, self._heard = self._heard, dict(said)
        return {who for who, now in said.items() if now is not None and now is before.get(who)}


def _given(who: str, values: Mapping[str, float | None]) -> Iterator[Row]:
    for what, value in values.items():
        if value is not None:
            yield who, what, value

"""The use within a window: differences of two samples, with units in the names.

A figure that a machine does not report is None or absent, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class ProcessUse(msgspec.Struct, frozen=True):
    """The use of one process, of a target with its descendants.

    `rss` is resident memory at the end, `peak_rss` its highest since the process began. `waited_s`
    is the time for which its threads were runnable without a core, `throttled_s` that for which a
    CPU quota throttled its control group (summed over the cores), `quota_cores` that quota at the
    end. `busiest_thread_s` is the CPU of the busiest thread, `disk_wait_share` the share of its
    threads' time with work to do in which they waited for a disk.
    """

    cpu_s: float
    rss: int | None = None
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
    busiest_thread_s: float | None = None
    disk_wait_share: float | None = None
    system_s: float | None = None
    descriptors: int | None = None
    io_stalled_s: float | None = None
    """Time in which all work of the target's own control group waited for disks."""
    allowed_cores: tuple[int, ...] | None = None
    """The cores that its processes may run on, at the end."""


class DiskUse(msgspec.Struct, frozen=True):
    """The use of one disk; `busy_share` is the part of the window with a request in flight."""

    name: str
    read_bytes: int
    written_bytes: int
    busy_share: float
    in_flight: int


class InterfaceUse(msgspec.Struct, frozen=True):
    """The use of one network interface; a virtual one has no speed."""

    name: str
    bytes_in: int
    bytes_out: int
    packets_in: int
    packets_out: int
    drops: int
    speed_bits_s: int | None = None


class MachineUse(msgspec.Struct, frozen=True):
    """The use of a whole machine.

    `busy_per_core` and `pressure` are shares of the window, 0 to 1. A core is busy when it is
    neither idle nor waiting for a disk; time stolen by the hypervisor counts, and is in `stolen_s`
    too. `run_queue` is the mean number of runnable tasks, without the reader itself. `sockets` are
    those of TCP, by state, at the end.
    """

    busy_per_core: tuple[float, ...] = ()
    run_queue: float | None = None
    pressure: Mapping[str, float] = {}
    available_bytes: int = 0
    total_bytes: int | None = None
    swapped_in: int | None = None
    swapped_out: int | None = None
    faults: int | None = None
    major_faults: int | None = None
    context_switches: int | None = None
    user_s: float | None = None
    system_s: float | None = None
    iowait_s: float | None = None
    irq_s: float | None = None
    stolen_s: float | None = None
    disks: tuple[DiskUse, ...] = ()
    interfaces: tuple[InterfaceUse, ...] = ()
    segments_out: int | None = None
    retransmits: int | None = None
    listen_overflows: int | None = None
    listen_drops: int | None = None
    sockets: Mapping[str, int] = {}

    @property
    def busy_cores(self) -> float:
        return sum(self.busy_per_core)


class Gap(msgspec.Struct, frozen=True):
    """A source that did not always answer."""

    source: str
    asked: int
    missing: int
    reason: str


class BehindUse(msgspec.Struct, frozen=True):
    """A program behind the target, and the CPU that it used."""

    name: str
    cpu_s: float


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """The use within a window, of target, generator and their machines.

    `machine` is the generator's. `target_machine` is None if the target is on the same, or on one
    that is not monitored; a target in another network namespace has one, with that network.
    `directory` has the target's own counters: names that end in `_total` are counts of the window,
    others values at its end. `round_trip_s` is the median of the TCP handshakes within the window,
    `idle_round_trip_s` the shortest of all, also before the load. `interface` is that of this
    machine through which the target is reached.
    """

    seconds: float
    target: ProcessUse | None = None
    generator: ProcessUse
    machine: MachineUse
    target_machine: MachineUse | None = None
    target_is_local: bool = False
    directory: Mapping[str, int | float] | None = None
    gaps: tuple[Gap, ...] = ()
    round_trip_s: float | None = None
    idle_round_trip_s: float | None = None
    interface: str | None = None
    behind: tuple[BehindUse, ...] = ()
    """The programs behind the target: in none of its figures."""

    @property
    def target_cpu_s(self) -> float | None:
        return None if self.target is None else self.target.cpu_s

    @property
    def target_rss(self) -> int | None:
        return None if self.target is None else self.target.rss

    @property
    def target_cpu_percent(self) -> float | None:
        """The target's CPU over the window; 100 is one core."""
        if self.target is None or not self.seconds:
            return None
        return self.target.cpu_s / self.seconds * 100.0

    @property
    def available(self) -> int:
        """Available memory at the end on the target's machine, as the papers report it."""
        return (self.target_machine or self.machine).available_bytes

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON types, without unknown figures."""
        figures: dict[str, Any] = _without_none(msgspec.to_builtins(self))
        return figures


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(element) for element in value]
    return value

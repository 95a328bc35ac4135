"""The use within a window: differences of two samples.

A figure that a machine does not report is None or absent, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sitebench.monitor.sample import ProcessFigures


class ProcessUse(ProcessFigures, frozen=True):
    """The use of a process, or of a target with descendants; memory is its value at the end."""

    cpu_s: float
    rss: int | None = None
    peak_rss: int | None = None
    """The largest resident memory since the process began."""
    busiest_thread_s: float | None = None
    disk_wait_share: float | None = None
    """The share of the threads' busy time in which they waited for a disk."""
    system_s: float | None = None


class DiskUse(msgspec.Struct, frozen=True):
    """The use of a disk; `busy_share` is the part of the window with a request in flight."""

    name: str
    read_bytes: int
    written_bytes: int
    busy_share: float
    in_flight: int


class InterfaceUse(msgspec.Struct, frozen=True):
    """The use of a network interface; a virtual interface has no speed."""

    name: str
    bytes_in: int
    bytes_out: int
    packets_in: int
    packets_out: int
    drops: int
    speed_bits_s: int | None = None


class MachineUse(msgspec.Struct, frozen=True):
    """The use of a whole machine.

    `busy_per_core` and `pressure` are shares of the window, 0 to 1. A core is busy if it is neither
    idle nor waiting for a disk; the hypervisor's `stolen_s` counts as busy. `run_queue` is the mean
    number of runnable tasks, without the reader itself. `sockets` counts TCP sockets by state at
    the end.
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
    name: str
    cpu_s: float


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """The use within a window, of target, generator and their machines.

    `machine` is the generator's machine. `target_machine` is None if the target runs on the same
    machine and network, or on a machine that is not monitored. `directory` has the counters that
    the target reports: names that end in `_total` count within the window, other values are from
    its end. `round_trip_s` is the median of the TCP handshakes in the window, `idle_round_trip_s`
    the shortest handshake of the test. `interface` is this machine's interface to the target.
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
    """The programs behind the target; the target's figures exclude them."""

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
        """Available memory of the target's machine at the end, as the papers report."""
        return (self.target_machine or self.machine).available_bytes

    def to_json(self) -> dict[str, Any]:
        """Return JSON types, without unknown figures."""
        figures: dict[str, Any] = _without_none(msgspec.to_builtins(self))
        return figures


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(element) for element in value]
    return value

"""Reads this machine from /proc, and any process's network namespace from /proc/PID/net."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from sitebench.monitor import files, sockets, texts
from sitebench.monitor.sample import InterfaceSample, MachineSample, NetworkSample

MEMORY = ("MemTotal", "MemAvailable")
PAGING = ("pswpin", "pswpout", "pgfault", "pgmajfault")
PRESSURES = ("cpu", "io", "memory")
TCP = ("OutSegs", "RetransSegs")
TCP_EXTENDED = ("ListenOverflows", "ListenDrops")


class NetworkReader:
    """One network namespace, by a process that lives in it."""

    def __init__(self, pid: int | None = None) -> None:
        self._place = "/proc/self/net" if pid is None else f"/proc/{pid}/net"
        self._own = pid is None
        self._speeds: dict[str, int] = {}
        self._known: set[str] = set()

    def read(self, *, thorough: bool = False) -> NetworkSample:
        """Return the counters now; `thorough` also counts sockets by state, of this namespace."""
        interfaces = texts.interfaces(self._file("dev"))
        tcp = texts.protocol(self._file("snmp"), "Tcp", TCP)
        extended = texts.protocol(self._file("netstat"), "TcpExt", TCP_EXTENDED)
        open_sockets = texts.sockets(self._file("sockstat"), self._file("sockstat6"))
        if thorough and self._own:
            open_sockets |= sockets.by_state()
        return NetworkSample(
            interfaces,
            tcp.get("OutSegs"),
            tcp.get("RetransSegs"),
            extended.get("ListenOverflows"),
            extended.get("ListenDrops"),
            open_sockets,
            self._speed_of(interfaces),
        )

    def _file(self, name: str) -> str:
        return files.read(f"{self._place}/{name}") or ""

    def _speed_of(self, interfaces: Mapping[str, InterfaceSample]) -> Mapping[str, int]:
        """Return what a real card says of its link; what is not a device makes its speed up."""
        if self._own:
            for name in interfaces.keys() - self._known:
                self._known.add(name)
                place = f"/sys/class/net/{name}"
                megabits = (files.read(f"{place}/speed") or "").strip()
                if os.path.exists(f"{place}/device") and megabits.isdigit():  # noqa: PTH110
                    self._speeds[name] = int(megabits) * 1_000_000
        return self._speeds


class MachineReader:
    """This machine."""

    def __init__(self) -> None:
        self._network = NetworkReader()
        self._runnable_sum = 0
        self._readings = 0

    def read(self, *, thorough: bool = False) -> MachineSample:
        """Return every counter now."""
        at_s = time.monotonic()
        stat = texts.stat(files.read("/proc/stat") or "")
        memory = texts.keyed(files.read("/proc/meminfo") or "", MEMORY)
        paging = texts.keyed(files.read("/proc/vmstat") or "", PAGING)
        # This reader runs while it reads: it is not part of the queue (vmstat does so too).
        runnable = None if stat.runnable is None else max(0, stat.runnable - 1)
        if runnable is not None:
            self._runnable_sum += runnable
            self._readings += 1
        return MachineSample(
            at_s=at_s,
            cores=stat.cores,
            available_bytes=memory.get("MemAvailable", 0),
            total_bytes=memory.get("MemTotal"),
            runnable=runnable,
            blocked=stat.blocked,
            runnable_sum=self._runnable_sum,
            readings=self._readings,
            pressure_s=_pressure(),
            swapped_in=paging.get("pswpin"),
            swapped_out=paging.get("pswpout"),
            faults=paging.get("pgfault"),
            major_faults=paging.get("pgmajfault"),
            context_switches=stat.context_switches,
            disks=texts.disks(files.read("/proc/diskstats") or "", files.names("/sys/block")),
            network=self._network.read(thorough=thorough),
        )


def _pressure() -> dict[str, float]:
    """Return stalled seconds; a machine's processes never all wait for a core ("cpu.full")."""
    found = {}
    for resource in PRESSURES:
        for kind, stalled_s in texts.pressure(
            files.read(f"/proc/pressure/{resource}") or ""
        ).items():
            if (resource, kind) != ("cpu", "full"):
                found[f"{resource}.{kind}"] = stalled_s
    return found


def network_namespace(pid: int | str) -> str | None:
    """Return the identity of a process's network namespace, or None where we may not know."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115
    except OSError:
        return None

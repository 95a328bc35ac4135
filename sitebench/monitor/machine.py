"""Readers of this machine (/proc) and of a process's network namespace (/proc/PID/net)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Mapping

from sitebench.monitor import texts
from sitebench.monitor.sample import InterfaceSample, MachineSample, NetworkSample
from sitebench.monitor.sock_diag import tcp_sockets
from sitebench.system.secret import without_secrets

_MEMORY = ("MemTotal", "MemAvailable")
_PRESSURES = ("cpu", "io", "memory")


class NetworkReader:
    def __init__(self, pid: int | None = None) -> None:
        self._place = "/proc/self/net" if pid is None else f"/proc/{pid}/net"
        self._is_own = pid is None
        self._speeds: dict[str, int] = {}
        self._examined: set[str] = set()

    def read(self, *, thorough: bool = False) -> NetworkSample:
        """Return the counters now; if `thorough`, also this namespace's sockets by state."""
        interfaces = texts.interfaces(self._file("dev"))
        tcp = texts.protocol(self._file("snmp"), "Tcp")
        tcp |= texts.protocol(self._file("netstat"), "TcpExt")
        open_sockets = texts.sockets(self._file("sockstat"), self._file("sockstat6"))
        if thorough and self._is_own:
            open_sockets |= sockets_by_state()
        return NetworkSample(
            interfaces, sockets=open_sockets, speeds=self._speed_of(interfaces), **tcp
        )

    def _file(self, name: str) -> str:
        return texts.read(f"{self._place}/{name}") or ""

    def _speed_of(self, interfaces: Mapping[str, InterfaceSample]) -> Mapping[str, int]:
        """Return the speeds of real cards, and of virtual interfaces that a token bucket limits.

        The speed that a virtual interface itself reports has no meaning.
        """
        if self._is_own:
            for name in interfaces.keys() - self._examined:
                self._examined.add(name)
                place = f"/sys/class/net/{name}"
                megabits = (texts.read(f"{place}/speed") or "").strip()
                if os.path.exists(f"{place}/device"):  # noqa: PTH110
                    if megabits.isdigit():
                        self._speeds[name] = int(megabits) * 1_000_000
                elif (limited := _token_bucket(name)) is not None:
                    self._speeds[name] = limited
        return self._speeds


def _token_bucket(interface: str) -> int | None:
    """Return the bits/s of an interface's token bucket; None without a token bucket."""
    tc = shutil.which("tc", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
    if tc is None or interface == "lo":
        return None
    argv = [tc, "-j", "qdisc", "show", "dev", interface]
    environment = without_secrets(os.environ)
    process = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    with contextlib.suppress(ValueError, KeyError, TypeError):
        qdiscs = json.loads(process.stdout)
        return 8 * min(int(qdisc["options"]["rate"]) for qdisc in qdiscs if qdisc["kind"] == "tbf")
    return None


class MachineReader:
    def __init__(self) -> None:
        self._network = NetworkReader()
        self._runnable_sum = 0
        self._readings = 0

    def read(self, *, thorough: bool = False) -> MachineSample:
        at_s = time.monotonic()
        stat = texts.stat(texts.read("/proc/stat") or "")
        memory = texts.named_numbers(texts.read("/proc/meminfo") or "", _MEMORY)
        paging = texts.named_numbers(texts.read("/proc/vmstat") or "", texts.PAGING.values())
        # The reader itself is running while it reads, so it is subtracted (vmstat does so too).
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
            context_switches=stat.context_switches,
            **{figure: paging.get(name) for figure, name in texts.PAGING.items()},
            disks=texts.disks(texts.read("/proc/diskstats") or "", texts.names("/sys/block")),
            network=self._network.read(thorough=thorough),
        )


def _pressure() -> dict[str, float]:
    """Return stalled seconds without "cpu.full", because some task always runs on a core."""
    stalled_by_resource = {}
    for resource in _PRESSURES:
        text = texts.read(f"/proc/pressure/{resource}") or ""
        for kind, stalled_s in texts.pressure(text).items():
            if (resource, kind) != ("cpu", "full"):
                stalled_by_resource[f"{resource}.{kind}"] = stalled_s
    return stalled_by_resource


def network_namespace(pid: int | str) -> str | None:
    """Return the identity of a process's network namespace; None without permission to read it."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115
    except OSError:
        return None


_STATES = (
    *("established", "syn_sent", "syn_received", "fin_wait_1", "fin_wait_2", "time_wait"),
    *("close", "close_wait", "last_ack", "listen", "closing", "new_syn_received"),
)
"""States of TCP sockets in the order of enum tcp_state (include/net/tcp_states.h), from 1 on."""


def sockets_by_state() -> dict[str, int]:
    """Return the number of this namespace's TCP sockets in each state but TIME_WAIT, if known."""
    try:
        counts = Counter(sock.state for sock in tcp_sockets())
    except OSError:
        return {}
    names = dict(enumerate(_STATES, 1))
    return {names.get(state, "unknown"): n for state, n in counts.items()}

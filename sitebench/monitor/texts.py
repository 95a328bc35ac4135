"""Files under /proc: `read` and `names` open them, the other functions parse their text.

Meanings and units are in proc(5), and in the kernel's iostats.rst, psi.rst and sched-stats.rst. A
line or column that an old kernel lacks is None or absent; unknown lines and columns are ignored.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from sitebench.monitor.sample import CoreSample, DiskSample, InterfaceSample

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PAGING = {
    "swapped_in_pages": "pswpin",
    "swapped_out_pages": "pswpout",
    "faults": "pgfault",
    "major_faults": "pgmajfault",
}
"""Figures of a machine with their names in /proc/vmstat; node_exporter has the same names."""
TCP = {
    "segments_out": "Tcp_OutSegs",
    "retransmits": "Tcp_RetransSegs",
    "listen_overflows": "TcpExt_ListenOverflows",
    "listen_drops": "TcpExt_ListenDrops",
}
"""Figures of a network; for each its protocol and column in /proc/net/snmp or /proc/net/netstat."""
SOCKETS = {"inuse": "in_use", "orphan": "orphan", "tw": "time_wait"}
"""States of sockets, by their names in /proc/net/sockstat."""
_SECTOR = 512
"""Bytes of a sector in /proc/diskstats, whatever the disk."""


def read(path: str) -> str | None:
    """Return a file's text; None if the file or permission to read it is missing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = []
        # A short read is not the end: the kernel returns lists a page at a time.
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
        return b"".join(parts).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def names(path: str) -> list[str]:
    """Return the names in a folder; none if it does not exist."""
    try:
        return os.listdir(path)  # noqa: PTH208 (a call a second, and Path costs five times more)
    except OSError:
        return []


class _Stat(msgspec.Struct, frozen=True):
    cores: tuple[CoreSample, ...]
    context_switches: int | None
    runnable: int | None
    blocked: int | None


def stat(text: str) -> _Stat:
    """Read /proc/stat; guest time is a part of user time."""
    cores: list[CoreSample] = []
    counts: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name.startswith("cpu") and name != "cpu":
            ticks = [int(field) for field in rest.split()[:8]]
            cores.append(core([n * TICK_S for n in ticks] + [0.0] * (8 - len(ticks))))
        elif name in ("ctxt", "procs_running", "procs_blocked"):
            counts[name] = int(rest)
    return _Stat(
        tuple(cores), counts.get("ctxt"), counts.get("procs_running"), counts.get("procs_blocked")
    )


def core(times_s: Iterable[float]) -> CoreSample:
    """Return the sample of a core from its times, in the order of /proc/stat."""
    user, nice, system, idle, iowait, irq, softirq, stolen = times_s
    return CoreSample(user + nice, system, iowait, irq + softirq, stolen, idle)


def named_numbers(text: str, names: Collection[str]) -> dict[str, int]:
    """Read lines of a name and a number: `pgfault 7` or `VmHWM:	7 kB`."""
    numbers = {}
    for line in text.splitlines():
        name, value, *unit = [*line.split(None, 2), "", ""]
        name = name.removesuffix(":")
        if name in names:
            numbers[name] = int(value) * (1024 if unit[0] == "kB" else 1)
    return numbers


def pressure(text: str) -> dict[str, float]:
    """Read /proc/pressure/*: seconds stalled since boot, for `some` and `full`."""
    stalled_s = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        for part in rest.split():
            name, _, value = part.partition("=")
            if name == "total":
                stalled_s[kind] = int(value) / 1e6
    return stalled_s


def disks(text: str, whole: Collection[str]) -> dict[str, DiskSample]:
    """Read /proc/diskstats: the disks of `whole` (no partitions) that have been used."""
    disks = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 14 or fields[2] not in whole:
            continue
        reads, writes = int(fields[3]), int(fields[7])
        if reads == writes == 0:
            continue
        disks[fields[2]] = DiskSample(
            int(fields[5]) * _SECTOR,
            int(fields[9]) * _SECTOR,
            int(fields[12]) / 1e3,
            int(fields[11]),
        )
    return disks


def interfaces(text: str) -> dict[str, InterfaceSample]:
    """Read /proc/net/dev: interfaces that have carried traffic."""
    interfaces = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        if not colon or len(fields) < 16:
            continue
        n = [int(field) for field in fields]
        if n[1] or n[9]:
            interfaces[name.strip()] = InterfaceSample(n[0], n[8], n[1], n[9], n[3] + n[11])
    return interfaces


def protocol(text: str, name: str) -> dict[str, int]:
    """Read a protocol's figures from its two lines, one of names and one of values."""
    prefix = f"{name}: "
    lines = [line for line in text.splitlines() if line.startswith(prefix)]
    if len(lines) != 2:
        return {}
    pairs = zip(lines[0].split()[1:], lines[1].split()[1:], strict=False)
    values = {f"{name}_{column}": value for column, value in pairs}
    return {figure: int(values[key]) for figure, key in TCP.items() if key in values}


def sockets(text: str, text6: str = "") -> dict[str, int]:
    """Read the numbers of TCP sockets in /proc/net/sockstat and sockstat6 (without TIME_WAIT)."""
    counts: dict[str, int] = {}
    for line in [*text.splitlines(), *text6.splitlines()]:
        kind, _, rest = line.partition(": ")
        if kind in ("TCP", "TCP6"):
            words = rest.split()
            for name, value in zip(words[::2], words[1::2], strict=False):
                if name in SOCKETS:
                    counts[SOCKETS[name]] = counts.get(SOCKETS[name], 0) + int(value)
    return counts


class ProcessStat(msgspec.Struct, frozen=True):
    """Fields of /proc/PID/stat, in order; `waited_...` fields have the use of awaited children."""

    state: str
    parent: int
    minor_faults: int
    waited_minor_faults: int
    major_faults: int
    waited_major_faults: int
    user_s: float
    system_s: float
    waited_user_s: float
    waited_system_s: float
    threads: int
    started: int
    rss: int


def process_stat(text: str) -> ProcessStat:
    """Read /proc/PID/stat; the name in parentheses can have any character."""
    f = text[text.rindex(")") + 2 :].split()
    values: list[Any] = [f[0], int(f[1]), *map(int, f[7:11])]
    values += (int(ticks) * TICK_S for ticks in f[11:15])
    values += (int(f[17]), int(f[19]), int(f[21]) * PAGE)
    return ProcessStat(*values)


def ignores_children(status: str) -> bool:
    for line in status.splitlines():
        if line.startswith("SigIgn:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGCHLD - 1) & 1)
    return False


def schedstat(text: str) -> tuple[float, float] | None:
    """Read /proc/PID/task/TID/schedstat: seconds on a core, and runnable without a core."""
    fields = text.split()
    return (int(fields[0]) / 1e9, int(fields[1]) / 1e9) if len(fields) >= 3 else None


def throttled_s(text: str) -> float | None:
    """Read the throttled time in a control group's cpu.stat; version 1 counts nanoseconds."""
    times = named_numbers(text, ("throttled_usec", "throttled_time"))
    if "throttled_usec" in times:
        return times["throttled_usec"] / 1e6
    return times["throttled_time"] / 1e9 if "throttled_time" in times else None


def quota_cores(limit: str | None, quota: str | None, period: str | None) -> float | None:
    """Read cpu.max, or two files of version 1, as a number of cores; None without a quota."""
    allowed, period_us = limit.split() if limit else (quota or "-1", period or "0")
    if allowed == "max" or int(allowed) <= 0 or int(period_us) <= 0:
        return None
    return int(allowed) / int(period_us)


class CpuHierarchy(msgspec.Struct, frozen=True):
    """A mounted hierarchy of control groups that limits the CPU."""

    version: int
    root: str
    mount: str


def cpu_hierarchies(mountinfo: str) -> list[CpuHierarchy]:
    """Read /proc/self/mountinfo. Version 1 comes first: if it is mounted, it has the quota."""
    hierarchies = []
    for line in mountinfo.splitlines():
        mount_text, _, type_text = line.partition(" - ")
        place, kind = mount_text.split(), type_text.split()
        if len(place) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup" and "cpu" in kind[2].split(","):
            hierarchies.append(CpuHierarchy(1, place[3], place[4]))
        elif kind[0] == "cgroup2":
            hierarchies.append(CpuHierarchy(2, place[3], place[4]))
    return sorted(hierarchies, key=lambda hierarchy: hierarchy.version)


def control_group(text: str, version: int) -> str | None:
    """Read /proc/PID/cgroup: the path within the hierarchy that limits the CPU."""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (version == 1 and "cpu" in controllers.split(",")) or (version == 2 and number == "0"):
            return path
    return None


def switches(status: Mapping[str, int]) -> tuple[int, int] | None:
    if not status.keys() >= SWITCHES:
        return None
    return status["voluntary_ctxt_switches"], status["nonvoluntary_ctxt_switches"]


SWITCHES = {"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"}
STATUS = SWITCHES | {"VmHWM"}

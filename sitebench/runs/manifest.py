"""The manifest of a run file: the facts needed to repeat the measurement (method, rule 12)."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import resource
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput
from sitebench.runs.point import METHOD
from sitebench.suite import suites
from sitebench.system.machine import usable_cores

COMPARED = "compared"
"""Fact of an interleaved run: id, side, value, command, seed, repeats, restart."""

ONCE = "measured_once"
"""Fact with the reason why the same command must not measure again."""

SYSCTLS = (
    *("net/ipv4/ip_local_port_range", "net/ipv4/tcp_tw_reuse", "net/ipv4/tcp_fin_timeout"),
    *("net/ipv4/tcp_max_tw_buckets", "net/ipv4/tcp_max_syn_backlog"),
    *("net/ipv4/tcp_congestion_control", "net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem"),
    *("net/ipv4/tcp_notsent_lowat", "net/core/somaxconn", "net/core/netdev_max_backlog"),
    *("net/core/busy_poll", "net/core/default_qdisc", "kernel/sched_autogroup_enabled"),
    *("kernel/numa_balancing", "vm/swappiness", "vm/overcommit_memory", "vm/dirty_ratio"),
    "vm/dirty_background_ratio",
)
"""Kernel settings that affect the speed of a server or of its clients."""

_PACKAGES = ("sitebench", "locust", "gevent", "faker", "psutil")

_CPU = Path("/sys/devices/system/cpu")
_CONTAINERS = {Path("/.dockerenv"): "docker", Path("/run/.containerenv"): "podman"}


def collect(argv: Sequence[str], facts: Mapping[str, Any] | None = None) -> dict[str, Any]:
    from sitebench.monitor import memory

    return {
        "command": ["sitebench", *argv],
        "started": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "method": METHOD,
        "cpu": cpu(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "system": (_field("/etc/os-release", "PRETTY_NAME", "=") or "").strip('"') or None,
        "virtualisation": _virtualisation(),
        "memory_bytes": memory.machine_bytes(),
        "limits": {
            "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
            "processes": resource.getrlimit(resource.RLIMIT_NPROC),
            "locked_memory": resource.getrlimit(resource.RLIMIT_MEMLOCK),
            "group_cores": _group_cores(),
            "group_memory_bytes": memory.group_bytes(),
        },
        "sysctls": {name.replace("/", "."): _read(Path("/proc/sys") / name) for name in SYSCTLS},
        "huge_pages": _choice(_read(Path("/sys/kernel/mm/transparent_hugepage/enabled"))),
        "clock": _read(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        **(facts or {}),
    }


def resume_facts(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a resumed run: present facts, and under `earlier` the facts that differ.

    Some points were measured with the earlier facts, such as another kernel or version.
    """
    facts: dict[str, Any] = json.loads(json.dumps(now))
    if not earlier:
        return facts
    if "command" in earlier and (method := method_of(earlier)) != METHOD:
        raise BadInput(
            f"its points were measured by version {method} of the method, and this sitebench has "
            f"version {METHOD}",
            "measure again, into another file (--out)",
        )
    changed = {key: earlier[key] for key in facts if key in earlier and earlier[key] != facts[key]}
    return facts | {"earlier": [*earlier.get("earlier", []), changed]}


def method_of(manifest: Mapping[str, Any]) -> int:
    return int(manifest.get("method", 1))


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}
    for name in (*_PACKAGES, *(name for suite in suites() for name in suite.packages)):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def cpu() -> dict[str, Any]:
    """Return the processor, its cores, the cores usable by this process, and its clock settings.

    A fact that the machine does not report is None, such as the frequency of a virtual machine.
    """
    stopped = _switch(_CPU / "intel_pstate/no_turbo")
    longest = _read(_CPU / "cpu0/cpufreq/cpuinfo_max_freq")
    return {
        "model": _field("/proc/cpuinfo", "model name", ":") or platform.processor(),
        "cores": os.cpu_count(),
        "usable": usable_cores(),
        "siblings": _switch(_CPU / "smt/active"),
        "governor": _read(_CPU / "cpu0/cpufreq/scaling_governor"),
        "turbo": _switch(_CPU / "cpufreq/boost") if stopped is None else not stopped,
        "most_mhz": None if longest is None else int(longest) / 1e3,
        "mitigations": _mitigations(),
    }


def _virtualisation() -> dict[str, Any]:
    flags = (_field("/proc/cpuinfo", "flags", ":") or "").split()
    container = next((name for mark, name in _CONTAINERS.items() if mark.exists()), None)
    return {
        "hypervisor": "hypervisor" in flags if flags else None,
        "product": _read(Path("/sys/class/dmi/id/product_name")),
        "container": container,
    }


def _mitigations() -> dict[str, str]:
    """Return the kernel's mitigations of vulnerabilities that affect this processor."""
    folder = _CPU / "vulnerabilities"
    mitigations = {p.name: _read(p) for p in sorted(folder.iterdir())} if folder.is_dir() else {}
    return {name: text for name, text in mitigations.items() if text and text != "Not affected"}


def _field(path: str, name: str, sign: str) -> str | None:
    """Return the value after a name and a sign, in the first line that has them."""
    for line in (_read(Path(path)) or "").splitlines():
        key, _, value = line.partition(sign)
        if key.strip() == name:
            return value.strip()
    return None


def _group_cores() -> float | None:
    """Return the CPU quota of the control group in cores; None without a quota."""
    from sitebench.monitor.throttle import Throttle

    throttle = Throttle(os.getpid())
    throttle.read()
    return throttle.quota_cores()


def _choice(text: str | None) -> str | None:
    """Return the choice that the kernel puts in brackets: `always [madvise] never`."""
    return None if text is None else text.partition("[")[2].partition("]")[0] or text


def _switch(path: Path) -> bool | None:
    text = _read(path)
    return None if text is None else text not in ("0", "N")


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None

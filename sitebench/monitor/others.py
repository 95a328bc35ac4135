"""The CPU use of other programs, before the first point is measured.

Before the first point the target is idle, so all CPU time that this process does not use is used by
other programs. A quiet machine is recognised after a quarter of a second, and a busy machine after
a second.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping

import msgspec

from sitebench.errors import printable
from sitebench.monitor import texts
from sitebench.system.machine import cpu_ns
from sitebench.units import plural

_WAITS_S = (0.25, 0.75)
_SHOWS = 0.10
"""Share of the cores that other programs can use without a warning."""
_NAMED = 3
_LEAST_NAMED = 0.05
"""Least use, in cores, of a program that is named."""


class Others(msgspec.Struct, frozen=True):
    """Other programs' use of the cores that sitebench may use, and the busiest programs."""

    busy_cores: float
    cores: int
    busiest: tuple[tuple[str, float], ...] = ()

    @property
    def disturb(self) -> bool:
        """Whether these programs use so much CPU that measured figures change."""
        return self.busy_cores >= _SHOWS * self.cores

    def __str__(self) -> str:
        programs = ", ".join(f"{printable(name)} {n:.1f}" for name, n in self.busiest)
        cores = plural(self.cores, "core")
        return (
            f"Other programs use {self.busy_cores:.1f} of this machine's {cores}"
            f"{f' ({programs})' if programs else ''}: rates will be too low, and latencies too "
            "high. End them first, or measure on another machine."
        )


def other_programs() -> Others:
    """Return the CPU use of other programs now; measures for up to a second."""
    start = _Reading.now()
    for wait_s in _WAITS_S:
        time.sleep(wait_s)
        use = _Reading.now().other_use_since(start)
        if not use.disturb:
            break
    return use


class _Reading(msgspec.Struct, frozen=True):
    """CPU seconds so far: of each core, of this process, and of every other process."""

    at_s: float
    cores_s: tuple[float, ...]
    own_s: float
    processes_s: Mapping[int, float]

    @classmethod
    def now(cls) -> _Reading:
        cores = texts.stat(texts.read("/proc/stat") or "").cores
        allowed = os.sched_getaffinity(0)
        # Stolen time is used by another virtual machine, not by programs here.
        busy = tuple(core.busy_s - core.stolen_s for n, core in enumerate(cores) if n in allowed)
        return cls(time.monotonic(), busy, time.process_time(), dict(_processes()))

    def other_use_since(self, start: _Reading) -> Others:
        seconds = self.at_s - start.at_s
        busy_s = sum(self.cores_s) - sum(start.cores_s) - (self.own_s - start.own_s)
        took = {
            pid: (cpu_s - start.processes_s.get(pid, 0.0)) / seconds
            for pid, cpu_s in self.processes_s.items()
        }
        busiest_pids = sorted(took, key=lambda pid: took[pid], reverse=True)[:_NAMED]
        busiest = ((_name(pid), took[pid]) for pid in busiest_pids if took[pid] >= _LEAST_NAMED)
        return Others(max(0.0, busy_s / seconds), len(self.cores_s), tuple(busiest))


def _processes() -> Iterator[tuple[int, float]]:
    for name in texts.names("/proc"):
        if name.isdigit() and (pid := int(name)) != os.getpid():
            with contextlib.suppress(OSError):  # The process may have ended.
                yield pid, cpu_ns(pid) / 1e9


def _name(pid: int) -> str:
    return (texts.read(f"/proc/{pid}/comm") or f"process {pid}").strip()

"""This machine's identity and its cores."""

from __future__ import annotations

import os
import time
from pathlib import Path

from sitebench.errors import BadInput
from sitebench.units import plural

MOST_THREADS = 4
"""More are given with --threads only: the target needs the other cores."""

_SCHEDULED = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers: time on a core, in user mode or the kernel."""


def this_machine() -> str:
    """Return an identifier of this machine; containers and network namespaces share it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0))


def engine_threads(threads: int | None) -> int:
    """Return the engine's threads: the number given, or half of the cores.

    With more threads than cores the engine would be the limit, and seem to be the target's.
    """
    if threads is not None and threads > (cores := usable_cores()):
        raise BadInput(
            f"{threads} threads are more than the {plural(cores, 'core')} that sitebench may use",
            f"--threads {cores} is the most",
        )
    return threads or min(MOST_THREADS, max(1, usable_cores() // 2))


def cpu_ns(pid: int) -> int:
    """Return a process's CPU time, by the clock of clock_getcpuclockid(3).

    /proc counts in ticks of 10 ms, which are too coarse for a short measurement.
    """
    return time.clock_gettime_ns(~pid << 3 | _SCHEDULED)

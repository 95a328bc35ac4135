"""This machine: which one it is, and its cores."""

from __future__ import annotations

import os
import time
from pathlib import Path

from sitebench.errors import BadInput
from sitebench.units import plural

MOST_THREADS = 4
"""Beyond four threads of its own, a machine has better use for its cores: the target."""

_SCHEDULED = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers: on a core, in its own code or the kernel's."""


def this_machine() -> str:
    """Return an identifier of this machine; containers and network namespaces share it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def engine_threads(threads: int | None) -> int:
    """Return the engine's threads: as asked, or half of the cores.

    More threads than cores take the target's time, and its rate for the target's limit.
    """
    if threads is not None and threads > (cores := usable_cores()):
        raise BadInput(
            f"{threads} threads are more than the {plural(cores, 'core')} that sitebench may use",
            f"--threads {cores} is the most",
        )
    return threads or min(MOST_THREADS, max(1, usable_cores() // 2))


def cpu_ns(pid: int) -> int:
    """Return the CPU that a process's threads have used, as clock_getcpuclockid(3) finds its clock.

    /proc counts in ticks of 10 ms, of which a short measurement has too few.
    """
    return time.clock_gettime_ns(~pid << 3 | _SCHEDULED)

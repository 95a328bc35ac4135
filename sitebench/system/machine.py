"""This machine's identity and its cores."""

from __future__ import annotations

import os
import time
from pathlib import Path

from sitebench.errors import BadInput
from sitebench.units import plural

MOST_THREADS = 4
"""The most engine threads without --threads, because the target needs cores too."""

_SCHEDULED = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers: time on a core, user and system."""


def this_machine() -> str:
    """Return an identifier of this machine, which its containers share."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def usable_cores() -> int:
    return len(os.sched_getaffinity(0))


def engine_threads(threads: int | None) -> int:
    """Return the number of engine threads: half of the cores by default.

    With more threads than cores the engine would be the limit.
    """
    if threads is not None and threads > (cores := usable_cores()):
        raise BadInput(
            f"{threads} threads are more than the {plural(cores, 'core')} that sitebench may use",
            f"--threads {cores} is the most",
        )
    return threads or min(MOST_THREADS, max(1, usable_cores() // 2))


def cpu_ns(pid: int) -> int:
    """Return a process's CPU time from its CPU clock; /proc counts in ticks of 10 ms only."""
    return time.clock_gettime_ns(~pid << 3 | _SCHEDULED)

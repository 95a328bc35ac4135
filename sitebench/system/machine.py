"""This machine: which one it is, and its cores."""

from __future__ import annotations

import os
from pathlib import Path

_MOST_THREADS = 4
"""Beyond four threads of its own, a machine has better use for its cores: the target."""


def this_machine() -> str:
    """Return an identifier of this machine; containers and network namespaces share it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def engine_threads(asked: int | None) -> int:
    """Return the engine's threads: as asked, or half of the cores."""
    return asked or min(_MOST_THREADS, max(1, usable_cores() // 2))

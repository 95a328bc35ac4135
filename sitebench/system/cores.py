"""The cores that this process may use, and how many threads make the load."""

from __future__ import annotations

import os

MOST_THREADS = 4
"""Beyond four threads of its own, a machine has better use for its cores: the target."""


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def engine_threads(asked: int | None) -> int:
    """Return the engine's threads: as asked, or half of the cores."""
    return asked or min(MOST_THREADS, max(1, usable_cores() // 2))

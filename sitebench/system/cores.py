"""How many threads make the load."""

from __future__ import annotations

from sitebench.runs.manifest import usable_cores

MOST_THREADS = 4
"""Beyond four threads of its own, a machine has better use for its cores: the target."""


def engine_threads(asked: int | None) -> int:
    """Return the engine's threads: as asked, or half of the cores."""
    return asked or min(MOST_THREADS, max(1, usable_cores() // 2))

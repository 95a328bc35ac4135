"""How much memory there is for this process."""

from __future__ import annotations

import os
from pathlib import Path

from sitebench.monitor.throttle import ancestry


def machine_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def group_bytes() -> int | None:
    """Return how much the control groups around this process allow it, None for all."""
    paths = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            paths += [f"/sys/fs/cgroup{group}/memory.max" for group in ancestry(path, "/")]
        elif "memory" in controllers.split(","):
            limit = "memory.limit_in_bytes"
            paths += [f"/sys/fs/cgroup/memory{group}/{limit}" for group in ancestry(path, "/")]
    limits = [int(text) for path in paths if (text := _read(path).strip()).isdigit()]
    # Version 1 writes "no limit" as a number larger than all memory.
    return min((limit for limit in limits if limit < machine_bytes()), default=None)


def usable_bytes() -> int:
    return group_bytes() or machine_bytes()


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""

"""Memory limits of this process."""

from __future__ import annotations

import os

from sitebench.monitor import texts
from sitebench.monitor.throttle import ancestry


def machine_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def group_bytes() -> int | None:
    """Return the least memory limit of the control groups around this process, if any."""
    paths = []
    for line in (texts.read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            paths += [f"/sys/fs/cgroup{group}/memory.max" for group in ancestry(path, "/")]
        elif "memory" in controllers.split(","):
            limit = "memory.limit_in_bytes"
            paths += [f"/sys/fs/cgroup/memory{group}/{limit}" for group in ancestry(path, "/")]
    contents = ((texts.read(path) or "").strip() for path in paths)
    limits = [int(text) for text in contents if text.isdigit()]
    # Version 1 writes "no limit" as a number larger than all memory.
    return min((limit for limit in limits if limit < machine_bytes()), default=None)


def usable_bytes() -> int:
    return group_bytes() or machine_bytes()

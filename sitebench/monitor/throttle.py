"""A process's control groups: the time for which CPU quotas throttled it, and its I/O pressure."""

from __future__ import annotations

from functools import lru_cache

from sitebench.monitor import texts


class Throttle:
    """The time for which a process was throttled, even if it moved to another control group."""

    def __init__(self, pid: int) -> None:
        self._groups = f"/proc/{pid}/cgroup"
        self._text = ""
        self._stats: list[str] = []
        self._last = 0.0
        self._sum = 0.0

    def quota_cores(self) -> float | None:
        """Return the cores of the tightest quota at the last `read`; None without a quota."""
        files = ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us")
        groups = [stat.removesuffix("cpu.stat") for stat in self._stats]
        quotas = [
            texts.quota_cores(*(texts.read(group + file) for file in files)) for group in groups
        ]
        return min((quota for quota in quotas if quota is not None), default=None)

    def read(self) -> float | None:
        """Return seconds of throttling since the first reading; None if unknown."""
        text = texts.read(self._groups)
        if text is None:
            return None
        moved = text != self._text
        if moved:
            self._text, self._stats = text, _stats(text)
        group_times = [texts.throttled_s(texts.read(path) or "") for path in self._stats]
        known_times = [seconds for seconds in group_times if seconds is not None]
        if not known_times:
            return None
        now = sum(known_times)
        if not moved:
            self._sum += max(0.0, now - self._last)
        self._last = now
        return self._sum


def _stats(groups: str) -> list[str]:
    """Return the cpu.stat of a process's control group and of each of its ancestors."""
    for mounted in _hierarchies():
        if (path := texts.control_group(groups, mounted.version)) is not None:
            return [f"{mounted.mount}{group}/cpu.stat" for group in ancestry(path, mounted.root)]
    return []


def io_stalled_s(pid: int) -> float | None:
    """Return how long all work of a process's own control group waited for disks."""
    own_group, group = (
        texts.control_group(texts.read(f"/proc/{process}/cgroup") or "", 2)
        for process in ("self", pid)
    )
    if group in (None, "/", own_group):
        return None
    for hierarchy in _hierarchies():
        if hierarchy.version == 2 and (groups := ancestry(group, hierarchy.root)):
            text = texts.read(f"{hierarchy.mount}{groups[0]}/io.pressure") or ""
            return texts.pressure(text).get("full")
    return None


def ancestry(path: str, root: str) -> list[str]:
    """Return a group's path and its ancestors' below the mount, innermost first.

    In a container the mount can show the part of the hierarchy below `root` alone, while `path` is
    a path of the whole hierarchy. A group outside the mount cannot be read, and has no ancestry.
    """
    if root != "/" and (path == root or path.startswith(root + "/")):
        path = path[len(root) :]
    if path.startswith("/.."):
        return []
    parts = [part for part in path.split("/") if part]
    return ["/" + "/".join(parts[:n]) if n else "" for n in range(len(parts), -1, -1)]


@lru_cache(maxsize=1)
def _hierarchies() -> tuple[texts.CpuHierarchy, ...]:
    return tuple(texts.cpu_hierarchies(texts.read("/proc/self/mountinfo") or ""))

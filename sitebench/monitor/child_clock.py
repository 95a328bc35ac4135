"""CPU time of children for which nobody waits, counted by the kernel's performance events.

If a process ignores SIGCHLD, the kernel adds the CPU time of its children to no process (wait(2),
notes). A task clock that children inherit counts this time: perf_event_open(2). docs/monitor.md
names the servers that ignore SIGCHLD, and systems that refuse a clock.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct

from sitebench.monitor import texts

_SYSCALL = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
# The first version of perf_event_attr, of 64 bytes: a software event (the task clock), inherited.
_TASK_CLOCK = struct.pack("<IIQQQQQQQ", 1, 64, 1, 0, 0, 0, 1 << 1, 0, 0)
_CLOSE_ON_EXEC = 8


class ChildClock:
    """CPU time of a process and of all children that it starts from now on."""

    def __init__(self, pid: int) -> None:
        """Begin to count; raises OSError if the kernel refuses."""
        self._descriptors: list[int] = []
        for tid in texts.names(f"/proc/{pid}/task"):
            self._descriptors.append(_open(int(tid)))

    def read_s(self) -> float:
        read = (os.read(descriptor, 8) for descriptor in self._descriptors)
        return sum(int.from_bytes(ticks, "little") for ticks in read) / 1e9

    def __del__(self) -> None:
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _open(tid: int) -> int:
    if _SYSCALL is None:
        raise OSError("perf_event_open has another number on this machine")
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.syscall(_SYSCALL, _TASK_CLOCK, tid, -1, -1, _CLOSE_ON_EXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return descriptor

"""Reads a process, or a process with all its descendants, from /proc.

If a parent waits for an ended child (wait(2)), the kernel adds the child's CPU, faults and disk
traffic to the parent's, so the sum stays complete. If no parent waits, a child's use since the last
sample is lost, except for its CPU time, which a `ChildClock` counts.

Context switches and waits for a core are read thread by thread, in some 30 us each; with more than
`_THREADS` threads they are left out. A thread's state takes 10 us.
"""

from __future__ import annotations

import contextlib
import operator
import os
import time
from collections.abc import Mapping
from functools import reduce

import msgspec
import psutil

from sitebench.monitor import texts
from sitebench.monitor.child_clock import ChildClock
from sitebench.monitor.sample import ProcessSample
from sitebench.monitor.throttle import Throttle, io_stalled_s

_THREADS = 128
_LOOK_THREADS = 256
"""Number of threads whose states are read at a time; further threads are read in turn."""
_LOOK_BUDGET = 0.01
"""Share of a core that the reading of states may take; many threads are read less often."""
_CPU, _SYSTEM, _MINOR, _MAJOR, _READ, _WRITTEN = range(6)
_DEAD = ("Z", "X")


class Rising:
    """Sums over processes, which do not fall when a process ends."""

    def __init__(self) -> None:
        self._last: tuple[float, ...] = ()
        self._ended: tuple[float, ...] = ()

    def update(self, now: tuple[float, ...]) -> tuple[float, ...]:
        ended = self._ended or (0.0,) * len(now)
        last = self._last or now
        self._ended = tuple(
            total + max(0, earlier - later)
            for total, earlier, later in zip(ended, last, now, strict=True)
        )
        self._last = now
        return tuple(map(operator.add, now, self._ended))


class _Threads:
    """Sums over threads, including ended threads."""

    def __init__(self) -> None:
        self._last: Mapping[int, _Thread] = {}
        self._ended = _Thread("", 0, 0)

    def update(self, now: Mapping[int, _Thread]) -> _Thread:
        ended = (thread for tid, thread in self._last.items() if tid not in now)
        self._ended = reduce(_Thread.plus, ended, self._ended)
        self._last = now
        return reduce(_Thread.plus, now.values(), self._ended)


class _Thread(msgspec.Struct, frozen=True):
    """A thread: its context switches, its time on a core, and its wait for a core."""

    name: str
    voluntary: int
    involuntary: int
    ran_s: float | None = 0.0
    waited_s: float | None = 0.0

    def plus(self, other: _Thread) -> _Thread:
        """Add switches and waits; an unknown wait makes the sum unknown."""
        waits = (self.waited_s, other.waited_s)
        waited_s = None if None in waits else sum(filter(None, waits))
        voluntary = self.voluntary + other.voluntary
        return _Thread("", voluntary, self.involuntary + other.involuntary, None, waited_s)


class _Family(msgspec.Struct):
    """Sums over the processes of a target in one reading."""

    sums: list[float] = msgspec.field(default_factory=lambda: [0.0] * 6)
    rss: int = 0
    threads: int = 0
    peak: int = 0
    descriptors: int = 0
    disks_known: bool = True
    by_thread: dict[int, _Thread] = {}
    places: list[str] = []
    pids: set[int] = set()
    allowed: set[int] = set()


class _Clocked(msgspec.Struct, frozen=True):
    """A process that does not wait for its children."""

    started: int
    before_s: float
    """CPU time of the process before the clock was started."""
    children: frozenset[tuple[int, int]]
    """Earlier children (PID and start), which the clock does not count."""
    clock: ChildClock | None
    """None if the kernel refuses a clock."""


class Stalls(msgspec.Struct):
    """The share of the target's busy time in which it waited for a disk, by its threads' states.

    docs/verdict.md ("Waiting for a disk") compares this share with other figures.
    """

    places: tuple[str, ...] = ()
    looked: int = 0
    stalled: float = 0.0
    _from: int = 0
    _not_before: float = 0.0

    def look(self) -> Stalls:
        """Read the states of the threads, as often as `_LOOK_BUDGET` allows."""
        began = time.monotonic()
        if not self.places or began < self._not_before:
            return self
        turn = self.places[self._from : self._from + _LOOK_THREADS]
        self._from += _LOOK_THREADS
        if self._from >= len(self.places):
            self._from = 0
        stats = [texts.read(place) or "" for place in turn]
        states = [stat[stat.rfind(")") + 2 :][:1] for stat in stats]
        waiting, running = states.count("D"), states.count("R")
        self.looked += 1
        self.stalled += waiting / (waiting + running) if waiting else 0.0
        now = time.monotonic()
        self._not_before = began + (now - began) / _LOOK_BUDGET
        return self


class ProcessReader:
    """Reads a process, or with `family` a target with its descendants."""

    def __init__(self, pid: int, *, family: bool) -> None:
        self.pid = pid
        self.pids = frozenset((pid,))
        self._with_children = family
        self._rising = Rising()
        self._threads = _Threads()
        self._throttle = Throttle(pid)
        self._clocked: dict[int, _Clocked] = {}
        self.stalls = Stalls()
        root = _stat(pid)
        self._started = None if root is None else root.started

    def read(self) -> ProcessSample | None:
        """Return every counter now; None if the process has ended."""
        root = _stat(self.pid)
        if root is None or root.state in _DEAD or root.started != self._started:
            return None
        family = _Family()
        self._add_with_children(self.pid, root, family)
        self._clocked = {pid: clock for pid, clock in self._clocked.items() if pid in family.pids}
        return self._sample(family)

    def _add_with_children(
        self,
        pid: int,
        stat: texts.ProcessStat,
        family: _Family,
        *,
        is_counted: bool = False,
    ) -> None:
        """Add a process and its descendants; `is_counted` if a clock counts its CPU time."""
        status = texts.read(f"/proc/{pid}/status") or ""
        self._add(pid, stat, status, family)
        if not self._with_children:
            family.sums[_CPU] += stat.user_s + stat.system_s
            return
        not_counted: frozenset[tuple[int, int]] = frozenset()
        if not is_counted:
            clocked = self._clock(pid, stat, status)
            if clocked is None or clocked.clock is None:
                family.sums[_CPU] += _cpu_s(stat)
            else:
                family.sums[_CPU] += clocked.before_s + clocked.clock.read_s()
                is_counted, not_counted = True, clocked.children
        for child, of_child in _children(pid):
            counted = is_counted and (child, of_child.started) not in not_counted
            self._add_with_children(child, of_child, family, is_counted=counted)

    def _clock(self, pid: int, stat: texts.ProcessStat, status: str) -> _Clocked | None:
        """Return the clock of a process that ignores the end of its children."""
        clocked = self._clocked.get(pid)
        if clocked is not None and clocked.started == stat.started:
            return clocked
        if not texts.ignores_children(status):
            return None
        children = frozenset((child, of_child.started) for child, of_child in _children(pid))
        clock = None
        with contextlib.suppress(OSError):
            clock = ChildClock(pid)
        self._clocked[pid] = _Clocked(stat.started, _cpu_s(stat), children, clock)
        return self._clocked[pid]

    def _sample(self, family: _Family) -> ProcessSample:
        cpu, system, minor, major, read, written = self._rising.update(tuple(family.sums))
        detailed = family.threads <= _THREADS
        self.stalls.places = tuple(family.places)
        self.pids = frozenset(family.pids)
        threads = self._threads.update(family.by_thread) if detailed else None
        return ProcessSample(
            cpu_s=cpu,
            system_s=system,
            resident_bytes=family.rss,
            peak_bytes=family.peak or None,
            threads=family.threads,
            minor_faults=int(minor),
            major_faults=int(major),
            read_bytes=int(read) if family.disks_known else None,
            written_bytes=int(written) if family.disks_known else None,
            voluntary_switches=threads.voluntary if threads else None,
            involuntary_switches=threads.involuntary if threads else None,
            waited_s=threads.waited_s if threads else None,
            throttled_s=self._throttle.read(),
            quota_cores=self._throttle.quota_cores(),
            descriptors=family.descriptors or None,
            io_stalled_s=io_stalled_s(self.pid) if self._with_children else None,
            allowed_cores=tuple(sorted(family.allowed)) or None,
            looked=self.stalls.looked,
            stalled=self.stalls.stalled,
            thread_cpu_s={} if self._with_children else _by_name(family.by_thread),
            ran_s={
                tid: thread.ran_s
                for tid, thread in family.by_thread.items()
                if thread.ran_s is not None
            },
        )

    def _add(self, pid: int, stat: texts.ProcessStat, status: str, family: _Family) -> None:
        """Add all figures of a process but its CPU time."""
        family.pids.add(pid)
        family.sums[_SYSTEM] += stat.system_s
        family.sums[_MINOR] += stat.minor_faults
        family.sums[_MAJOR] += stat.major_faults
        if self._with_children:
            family.sums[_SYSTEM] += stat.waited_system_s
            family.sums[_MINOR] += stat.waited_minor_faults
            family.sums[_MAJOR] += stat.waited_major_faults
        if stat.state in _DEAD:
            return
        family.rss += stat.rss
        family.threads += stat.threads
        with contextlib.suppress(OSError):
            family.allowed |= os.sched_getaffinity(pid)
            # Since Linux 6.2 this size is the number of open descriptors. (Path would be slower.)
            family.descriptors += os.stat(f"/proc/{pid}/fd").st_size  # noqa: PTH116
        if (text := texts.read(f"/proc/{pid}/io")) is None:
            family.disks_known = False  # another user's process
        else:
            io_bytes = texts.named_numbers(text, ("read_bytes", "write_bytes"))
            family.sums[_READ] += io_bytes.get("read_bytes", 0)
            family.sums[_WRITTEN] += io_bytes.get("write_bytes", 0)
        numbers = texts.named_numbers(status, texts.STATUS)
        family.peak += numbers.get("VmHWM", 0)
        tids = [int(name) for name in texts.names(f"/proc/{pid}/task")]
        family.places += (f"/proc/{pid}/task/{tid}/stat" for tid in tids)
        if family.threads > _THREADS:
            return
        for tid in tids:
            if (thread := _thread(pid, tid, numbers if tid == pid else None)) is not None:
                family.by_thread[tid] = thread


def _thread(pid: int, tid: int, status: Mapping[str, int] | None) -> _Thread | None:
    place = f"/proc/{pid}/task/{tid}"
    if status is None:
        status = texts.named_numbers(texts.read(f"{place}/status") or "", texts.SWITCHES)
    switches = texts.switches(status)
    if switches is None:
        return None
    name = (texts.read(f"{place}/comm") or "").strip()
    ran_s, waited_s = texts.schedstat(texts.read(f"{place}/schedstat") or "") or (None, None)
    return _Thread(name, *switches, ran_s, waited_s)


def _by_name(threads: Mapping[int, _Thread]) -> dict[str, float]:
    """Return CPU time by thread name; equal names get numbers."""
    cpu_by_name: dict[str, float] = {}
    for tid in sorted(threads):
        thread = threads[tid]
        if thread.ran_s is not None:
            name = thread.name
            while name in cpu_by_name:
                stem, _, n = name.partition("#")
                name = f"{stem}#{int(n or 1) + 1}"
            cpu_by_name[name] = thread.ran_s
    return cpu_by_name


def _stat(pid: int) -> texts.ProcessStat | None:
    text = texts.read(f"/proc/{pid}/stat")
    return texts.process_stat(text) if text else None


def _cpu_s(stat: texts.ProcessStat) -> float:
    """Return the CPU time of a process and of the ended children that it waited for."""
    return stat.user_s + stat.system_s + stat.waited_user_s + stat.waited_system_s


def _children(pid: int) -> list[tuple[int, texts.ProcessStat]]:
    return [(pid, stat) for pid in _child_pids(pid) if (stat := _stat(pid)) is not None]


def _child_pids(pid: int) -> list[int]:
    """Return the children of a process, from the lists of the process's threads."""
    children: list[int] = []
    for tid in texts.names(f"/proc/{pid}/task"):
        text = texts.read(f"/proc/{pid}/task/{tid}/children")
        if text is None:  # a kernel without CONFIG_PROC_CHILDREN
            with contextlib.suppress(psutil.Error):
                return [child.pid for child in psutil.Process(pid).children()]
            return []
        children += map(int, text.split())
    return children

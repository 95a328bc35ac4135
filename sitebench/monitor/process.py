"""Reads a process, or a whole family of them, from /proc.

A target is its process, all threads, and all descendants: their sum. Of a child that ended and
was waited for, the kernel adds CPU, faults and disk traffic to its parent's, so that the family's
sum stays whole. Where nobody waits for children, what one used since the last sample goes with
it; the sum then stays where it was and never goes back.

The kernel counts context switches and waiting for a core per thread only. Reading a thread takes
some 30 us; a family of more than `THREADS` threads goes without these two.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import psutil

from sitebench.monitor import files, texts
from sitebench.monitor.sample import ProcessSample
from sitebench.monitor.throttle import Throttle

THREADS = 128
LOOKED_AT = 32
"""Threads whose state is looked at ten times a second: 10 us each."""
CPU, SYSTEM, MINOR, MAJOR, READ, WRITTEN = range(6)
DEAD = ("Z", "X")


class Rising:
    """Sums that may lose a part when it ends, made to stay where they were then."""

    def __init__(self) -> None:
        self._last: tuple[float, ...] = ()
        self._lost: tuple[float, ...] = ()

    def of(self, now: tuple[float, ...]) -> tuple[float, ...]:
        """Return the sums, none less than it was."""
        lost = self._lost or (0.0,) * len(now)
        last = self._last or now
        self._lost = tuple(
            gone + max(0, before - after)
            for gone, before, after in zip(lost, last, now, strict=True)
        )
        self._last = now
        return tuple(after + gone for after, gone in zip(now, self._lost, strict=True))


class Threads:
    """What the kernel counts per thread, added up; threads that ended stay in the sum."""

    def __init__(self) -> None:
        self._last: dict[int, Thread] = {}
        self._ended = Thread("", 0, 0)

    def of(self, now: Mapping[int, Thread]) -> Thread:
        """Return the sum over the threads there are and those there were."""
        for tid, was in self._last.items():
            if tid not in now:
                self._ended = self._ended.plus(was)
        self._last = dict(now)
        total = self._ended
        for each in now.values():
            total = total.plus(each)
        return total


@dataclass(frozen=True)
class Thread:
    """One thread: its context switches, and its time on a core and waiting for one."""

    name: str
    voluntary: int
    involuntary: int
    ran_s: float | None = 0.0
    waited_s: float | None = 0.0

    def plus(self, other: Thread) -> Thread:
        """Add two threads; what is unknown of one is unknown of both."""
        return Thread(
            "",
            self.voluntary + other.voluntary,
            self.involuntary + other.involuntary,
            _plus(self.ran_s, other.ran_s),
            _plus(self.waited_s, other.waited_s),
        )


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


@dataclass
class _Family:
    """What one pass over the processes found."""

    sums: list[float] = field(default_factory=lambda: [0.0] * 6)
    rss: int = 0
    threads: int = 0
    peak: int = 0
    descriptors: int = 0
    disks_known: bool = True
    by_thread: dict[int, Thread] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)


@dataclass
class Stalls:
    """At how many of the instants looked at one of a family's threads waited for a disk.

    Pressure (PSI) is the machine's and thins out where other cores are busy; what the kernel
    counts per thread (delay accounting) is off unless asked for. So it is looked at, ten times a
    second: state D, which a thread is in that waits for a page, a commit or a journal.
    """

    places: tuple[str, ...] = ()
    looked: int = 0
    stalled: int = 0

    def look(self) -> Stalls:
        """Look once more."""
        self.looked += 1
        self.stalled += any(_waits_for_disk(place) for place in self.places)
        return self


def _waits_for_disk(place: str) -> bool:
    text = files.read(place) or ""
    return text[text.rfind(")") + 2 :].startswith("D")


class ProcessReader:
    """Reads one process, with its descendants when it is a target's."""

    def __init__(self, pid: int, *, family: bool) -> None:
        self.pid = pid
        self._with_children = family
        self._rising = Rising()
        self._threads = Threads()
        self._throttle = Throttle(pid)
        self.stalls = Stalls()
        root = _stat(pid)
        self._started = None if root is None else root.started

    def read(self) -> ProcessSample | None:
        """Return every counter now, or None when the process is gone."""
        root = _stat(self.pid)
        if root is None or root.state in DEAD or root.started != self._started:
            return None
        family = _Family()
        self._add(self.pid, root, family)
        if self._with_children:
            for pid in _descendants(self.pid):
                if (stat := _stat(pid)) is not None:
                    self._add(pid, stat, family)
        return self._sample(family)

    def _sample(self, family: _Family) -> ProcessSample:
        cpu, system, minor, major, read, written = self._rising.of(tuple(family.sums))
        detailed = family.threads <= THREADS
        self.stalls.places = tuple(family.places[:LOOKED_AT])
        threads = self._threads.of(family.by_thread) if detailed else None
        return ProcessSample(
            user_s=cpu - system,
            system_s=system,
            rss=family.rss,
            peak_rss=family.peak or None,
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
            looked=self.stalls.looked,
            stalled=self.stalls.stalled,
            thread_cpu_s={} if self._with_children else _by_name(family.by_thread),
            ran_s={
                tid: thread.ran_s
                for tid, thread in family.by_thread.items()
                if thread.ran_s is not None
            },
        )

    def _add(self, pid: int, stat: texts.ProcessStat, family: _Family) -> None:
        waited = self._with_children
        family.sums[CPU] += stat.user_s + stat.system_s
        family.sums[SYSTEM] += stat.system_s
        family.sums[MINOR] += stat.minor_faults
        family.sums[MAJOR] += stat.major_faults
        if waited:
            family.sums[CPU] += stat.waited_user_s + stat.waited_system_s
            family.sums[SYSTEM] += stat.waited_system_s
            family.sums[MINOR] += stat.waited_minor_faults
            family.sums[MAJOR] += stat.waited_major_faults
        if stat.state in DEAD:
            return
        family.rss += stat.rss
        family.threads += stat.threads
        family.descriptors += _open_descriptors(pid)
        self._add_disks(pid, family)
        self._add_threads(pid, family)

    def _add_disks(self, pid: int, family: _Family) -> None:
        text = files.read(f"/proc/{pid}/io")
        if text is None:  # another user's process
            family.disks_known = False
            return
        found = texts.keyed(text, ("read_bytes", "write_bytes"))
        family.sums[READ] += found.get("read_bytes", 0)
        family.sums[WRITTEN] += found.get("write_bytes", 0)

    def _add_threads(self, pid: int, family: _Family) -> None:
        status = texts.keyed(files.read(f"/proc/{pid}/status") or "", texts.STATUS)
        family.peak += status.get("VmHWM", 0)
        if family.threads > THREADS:
            return
        for tid in map(int, files.names(f"/proc/{pid}/task")):
            if (thread := _thread(pid, tid, status if tid == pid else None)) is not None:
                family.by_thread[tid] = thread
                family.places.append(f"/proc/{pid}/task/{tid}/stat")


def _thread(pid: int, tid: int, status: Mapping[str, int] | None) -> Thread | None:
    place = f"/proc/{pid}/task/{tid}"
    if status is None:
        status = texts.keyed(files.read(f"{place}/status") or "", texts.SWITCHES)
    switches = texts.switches(status)
    if switches is None:
        return None
    scheduled = texts.schedstat(files.read(f"{place}/schedstat") or "")
    name = (files.read(f"{place}/comm") or "").strip()
    if scheduled is None:
        return Thread(name, *switches, None, None)
    return Thread(name, *switches, scheduled.ran_s, scheduled.waited_s)


def _by_name(threads: Mapping[int, Thread]) -> dict[str, float]:
    """Return CPU by the name that each thread was given; equal names get numbers."""
    found: dict[str, float] = {}
    for tid in sorted(threads):
        thread = threads[tid]
        if thread.ran_s is not None:
            name = thread.name
            while name in found:
                stem, _, n = name.partition("#")
                name = f"{stem}#{int(n or 1) + 1}"
            found[name] = thread.ran_s
    return found


def _stat(pid: int) -> texts.ProcessStat | None:
    text = files.read(f"/proc/{pid}/stat")
    return texts.process_stat(text) if text else None


def _descendants(pid: int) -> list[int]:
    """Return every process below this one, by what each thread says it forked."""
    found: list[int] = []
    for tid in files.names(f"/proc/{pid}/task"):
        text = files.read(f"/proc/{pid}/task/{tid}/children")
        if text is None:  # a kernel without CONFIG_PROC_CHILDREN
            return _descendants_by_parents(pid)
        for child in map(int, text.split()):
            found += [child, *_descendants(child)]
    return found


def _descendants_by_parents(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def _open_descriptors(pid: int) -> int:
    """Return how many descriptors are open, which Linux tells in one call since 6.2."""
    try:
        return os.stat(f"/proc/{pid}/fd").st_size  # noqa: PTH116 (as in files.names)
    except OSError:
        return 0

"""Disk: how long work waited for it, and how busy the busiest one was.

Utilisation proves little of a disk that serves many requests at once, and the I/O limit of a
control group delays requests before the disk counts them. Threads of the target that wait for I/O
show both. If they cannot be read, the machine's pressure (PSI) says how long any process waited;
it understates where other cores are busy.
"""

from __future__ import annotations

from sitebench.monitor import DiskUse
from sitebench.units import format_bytes
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, STALLED_SOME, USED_UP
from sitebench.verdict.rules.wording import share


def disk(window: Evidence) -> Finding:
    """Return whether the target waits for disks."""
    machine = window.target_machine
    stalled = _stalled_share(window)
    if machine is None or (stalled is None and not machine.disks):
        return _found(Grade.UNKNOWN, "no data about the disks of the target's machine")
    traffic = _traffic(window)
    busiest = max(machine.disks, key=lambda each: each.busy_share, default=None)
    text = "; ".join(filter(None, (_target(window), _stalled(window), _busy(busiest))))
    if traffic is not None and not traffic:
        return _found(Grade.NO, text)
    grade = max(_by_stall(stalled), _by_business(busiest, stalled), key=_ORDER.index)
    return _found(grade, text)


_ORDER = (Grade.NO, Grade.POSSIBLE, Grade.PRIMARY)


def _stalled_share(window: Evidence) -> float | None:
    """Return how long the target waited for disks, or else how long any process did."""
    target = window.use.target
    if target is not None and target.disk_wait_share is not None:
        return target.disk_wait_share
    return window.pressure("io.some")


def _by_stall(stalled: float | None) -> Grade:
    if stalled is None or stalled < STALLED_SOME:
        return Grade.NO
    return Grade.PRIMARY if stalled >= STALLED_MOST else Grade.POSSIBLE


def _by_business(busiest: DiskUse | None, stalled: float | None) -> Grade:
    """Grade a busy disk; if no process waits for it, it only serves many requests at once."""
    if busiest is None or busiest.busy_share < BUSY:
        return Grade.NO
    if busiest.busy_share >= USED_UP and (stalled is None or stalled >= STALLED_SOME):
        return Grade.PRIMARY
    return Grade.POSSIBLE if stalled is None or stalled >= STALLED_SOME else Grade.NO


def _traffic(window: Evidence) -> int | None:
    """Return the bytes that the target itself read and wrote; None if that is not known."""
    target = window.use.target
    if target is None or target.read_bytes is None or target.written_bytes is None:
        return None
    return target.read_bytes + target.written_bytes


def _target(window: Evidence) -> str:
    target = window.use.target
    if target is None or target.read_bytes is None or target.written_bytes is None:
        return ""
    if not target.read_bytes + target.written_bytes:
        return "the target read and wrote nothing"
    read, written = (
        format_bytes(n / window.seconds) for n in (target.read_bytes, target.written_bytes)
    )
    return f"the target read {read}/s and wrote {written}/s"


def _busy(busiest: DiskUse | None) -> str:
    return f"{busiest.name} was busy {share(busiest.busy_share)} of the time" if busiest else ""


def _stalled(window: Evidence) -> str:
    target, some = window.use.target, window.pressure("io.some")
    parts = []
    if target is not None and target.disk_wait_share is not None:
        parts.append(f"waited for a disk {share(target.disk_wait_share)} of the time")
    if some is not None:
        parts.append(f"{share(some)} of the time tasks on the machine waited for disks")
    return "; ".join(parts)


def _found(grade: Grade, text: str) -> Finding:
    return Finding(Resource.DISK, grade, text)

"""Disk: how long work stood still for it, and how busy the busiest one was.

Busy alone proves little of a disk that does many things at once, and a limit of a control group
holds requests back before the disk counts them. A target's threads that stand still show both.
Where they cannot be looked at, the machine's pressure (PSI) tells of standing still, of whichever
process; it thins out where other cores are busy.
"""

from __future__ import annotations

from sitebench.monitor import DiskUse
from sitebench.units import format_bytes
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, STALLED_SOME, USED_UP
from sitebench.verdict.rules.wording import share


def disk(seen: Evidence) -> Finding:
    """Return whether the target waits for disks."""
    machine = seen.target_machine
    stalled = _stalled_share(seen)
    if machine is None or (stalled is None and not machine.disks):
        return _found(Grade.UNKNOWN, "nothing tells of disks where the target is")
    traffic = _traffic(seen)
    busiest = max(machine.disks, key=lambda each: each.busy_share, default=None)
    said = "; ".join(filter(None, (_target(seen), _stalled(seen), _busy(busiest))))
    if traffic is not None and not traffic:
        return _found(Grade.NO, said)
    grade = max(_by_stall(stalled), _by_business(busiest, stalled), key=_ORDER.index)
    return _found(grade, said)


_ORDER = (Grade.NO, Grade.POSSIBLE, Grade.PRIMARY)


def _stalled_share(seen: Evidence) -> float | None:
    """Return how long the target stood still for disks, or else how long its machine did."""
    target = seen.use.target
    if target is not None and target.disk_wait_share is not None:
        return target.disk_wait_share
    return seen.pressure("io.some")


def _by_stall(stalled: float | None) -> Grade:
    if stalled is None or stalled < STALLED_SOME:
        return Grade.NO
    return Grade.PRIMARY if stalled >= STALLED_MOST else Grade.POSSIBLE


def _by_business(busiest: DiskUse | None, stalled: float | None) -> Grade:
    """Grade a busy disk; without anyone waiting for it, it only does much at once."""
    if busiest is None or busiest.busy_share < BUSY:
        return Grade.NO
    if busiest.busy_share >= USED_UP and (stalled is None or stalled >= STALLED_SOME):
        return Grade.PRIMARY
    return Grade.POSSIBLE if stalled is None or stalled >= STALLED_SOME else Grade.NO


def _traffic(seen: Evidence) -> int | None:
    """Return the bytes that the target itself read and wrote; None where nothing tells."""
    target = seen.use.target
    if target is None or target.read_bytes is None or target.written_bytes is None:
        return None
    return target.read_bytes + target.written_bytes


def _target(seen: Evidence) -> str:
    target = seen.use.target
    if target is None or target.read_bytes is None or target.written_bytes is None:
        return ""
    if not target.read_bytes + target.written_bytes:
        return "the target read and wrote nothing"
    read, written = (
        format_bytes(n / seen.seconds) for n in (target.read_bytes, target.written_bytes)
    )
    return f"the target read {read}/s and wrote {written}/s"


def _busy(busiest: DiskUse | None) -> str:
    return f"{busiest.name} was busy {share(busiest.busy_share)} of the time" if busiest else ""


def _stalled(seen: Evidence) -> str:
    target, some = seen.use.target, seen.pressure("io.some")
    parts = []
    if target is not None and target.disk_wait_share is not None:
        parts.append(f"waited for a disk {share(target.disk_wait_share)} of the time")
    if some is not None:
        parts.append(f"{share(some)} of all work on the machine stood still for disks")
    return "; ".join(parts)


def _found(grade: Grade, said: str) -> Finding:
    return Finding(Resource.DISK, grade, said)

"""Disk: waits for a disk, and the busiest disk's utilisation (docs/verdict.md, "The rules")."""

from __future__ import annotations

from functools import partial

from sitebench.monitor.use import ProcessUse
from sitebench.units import format_bytes
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource, grade, worst_of
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, STALLED_SOME, USED_UP
from sitebench.verdict.rules.wording import share

_finding = partial(Finding, Resource.DISK)


def disk(window: Evidence) -> Finding:
    machine, target = window.target_machine, window.use.target
    waited = None if target is None else _waiting_share(target, window.seconds)
    pressure = window.pressure("io.some")
    stalled = pressure if waited is None else waited
    if machine is None or (stalled is None and not machine.disks):
        return _finding(Grade.UNKNOWN, "no data about the disks of the target's machine")
    traffic = None if target is None else _traffic(target, window.seconds)
    busiest = max(machine.disks, key=lambda disk: disk.busy_share, default=None)
    parts = [] if traffic is None else [traffic]
    if waited is not None:
        parts.append(f"waited for a disk {share(waited)} of the time")
    if pressure is not None:
        parts.append(f"{share(pressure)} of the time tasks on the machine waited for disks")
    if busiest is not None:
        parts.append(f"{busiest.name} was busy {share(busiest.busy_share)} of the time")
    # A busy disk for which nothing waits serves many requests at once, and has capacity left.
    serves_many = stalled is not None and stalled < STALLED_SOME
    busy_share = 0.0 if busiest is None or serves_many else busiest.busy_share
    by_waits = grade(stalled or 0.0, STALLED_SOME, STALLED_MOST)
    worst = worst_of((by_waits, grade(busy_share, BUSY, USED_UP)))
    if traffic == _NO_TRAFFIC and (waited or 0.0) < STALLED_SOME:
        worst = Grade.NO  # Other programs waited for the disks, not the target.
    return _finding(worst, "; ".join(parts))


_NO_TRAFFIC = "the target read and wrote nothing"


def _waiting_share(target: ProcessUse, seconds: float) -> float | None:
    """Return the share of time with waits: of the threads or of the control group, the larger."""
    group = None if target.io_stalled_s is None else min(1.0, target.io_stalled_s / seconds)
    shares = (target.disk_wait_share, group)
    return max((part for part in shares if part is not None), default=None)


def _traffic(target: ProcessUse, seconds: float) -> str | None:
    read, written = target.read_bytes, target.written_bytes
    if read is None or written is None:
        return None
    if not read + written:
        return _NO_TRAFFIC
    rates = [f"{format_bytes(n / seconds)}/s" for n in (read, written)]
    return f"the target read {rates[0]} and wrote {rates[1]}"

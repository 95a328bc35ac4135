"""Software: what is left when the machine has everything to give and the target takes it not.

A single busy thread among several cores; connections or requests that it turns away; or waiting
for something that is no resource of the machine: locks, timers, a pool that is too small.
"""

from __future__ import annotations

from collections.abc import Sequence

from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.operating_system import kernel_share
from sitebench.verdict.rules.thresholds import USED_UP
from sitebench.verdict.rules.wording import cores, share

TURNED_AWAY = (
    *("connect-refused", "connect-timeout"),
    *("result:busy", "result:unavailable", "status:429", "status:503"),
)
"""Failures by which a server says, or shows, that it takes no more."""

SEVERAL_CORES = 1.5
"""With this many cores or more, a thread that fills one leaves room that it cannot use."""


def software(seen: Evidence, others: Sequence[Finding], *, pressed: bool) -> Finding:
    """Return whether the target's own program holds it back, given the other findings."""
    if away := sum(seen.failures.get(kind, 0) for kind in TURNED_AWAY):
        return _found(Grade.POSSIBLE, f"the target turned {away:,} away")
    if (busiest := _one_thread(seen)) is not None:
        said = (
            f"one of the target's threads was on a core {share(busiest)} of the time, and has "
            f"{cores(seen.ceiling)} to use"
        )
        return _found(Grade.PRIMARY, said)
    if not pressed:
        return _found(Grade.UNKNOWN, "the load did not try what the target can do")
    return _by_the_others(seen, others)


def _by_the_others(seen: Evidence, others: Sequence[Finding]) -> Finding:
    """Conclude from what the target does, or does not, use up."""
    used_up = [each.resource for each in others if each.grade == Grade.PRIMARY]
    if Resource.CPU in used_up:
        return _code(seen)
    if used_up:
        return _found(Grade.NO, f"it waits for what is used up: {', '.join(used_up)}")
    if any(each.grade == Grade.UNKNOWN for each in others):
        return _found(Grade.UNKNOWN, "not everything that it may wait for can be watched")
    return _found(
        Grade.POSSIBLE,
        "nothing of the machine is used up: it waits for locks, timers or pools of its own, or "
        "there are too few users to use it up",
    )


def _one_thread(seen: Evidence) -> float | None:
    """Return the busiest thread's share where it is full and there are more cores to use."""
    target = seen.use.target
    if target is None or target.busiest_thread_s is None or seen.ceiling < SEVERAL_CORES:
        return None
    if seen.crowded:
        return None
    busiest = target.busiest_thread_s / seen.seconds
    return busiest if busiest >= USED_UP else None


def _code(seen: Evidence) -> Finding:
    """Say how much of a used up CPU is the program's own work."""
    kernel = kernel_share(seen)
    if kernel is None:
        return _found(Grade.UNKNOWN, "its own share of the CPU is not known")
    own = f"{share(1 - kernel)} of the target's CPU is its own code"
    return _found(Grade.POSSIBLE if kernel < USED_UP else Grade.NO, own)


def _found(grade: Grade, said: str) -> Finding:
    return Finding(Resource.SOFTWARE, grade, said)
